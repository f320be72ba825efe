/** Case files: JSON that says what to ask a node, and what to expect. docs/CONFORMANCE.md describes the format. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { operatingError } from '#ground/base/errors.ts'
import { type Static, Type } from '#ground/schema/typebox.ts'
import { conformanceErrors } from './errors.ts'
import { readJsonFolder } from './json-folder.ts'
import { optionalField } from './optional-field.ts'
import { type CaseNeed, caseNeeds, caseReleases, type Release } from './words.ts'

const closed = { additionalProperties: false } as const
const Text = Type.String({ minLength: 1 })
const Texts = Type.Record(Type.String(), Type.Unknown())

const Expectation = Type.Object(
  {
    status: optionalField(Type.Unknown(), 'status of the answer: a number, a list of alternatives, or a matcher'),
    headers: optionalField(Texts, 'headers of the answer, names in lower case'),
    json: optionalField(Type.Unknown(), 'body as JSON'),
    text: optionalField(Type.Unknown(), 'body as text'),
    bytes: optionalField(Type.Unknown(), 'body as base64url'),
    value: optionalField(Type.Unknown(), 'value of a make step'),
    event: optionalField(
      Type.Object({ name: Type.Unknown(), data: Type.Optional(Type.Unknown()) }, closed),
      'event of a stream',
    ),
  },
  closed,
)
/** Expected parts of an answer or an event. */
export type Expectation = Static<typeof Expectation>

const MakeKind = Type.Union([
  Type.Literal('command'),
  Type.Literal('solution'),
  Type.Literal('unsolved'),
  Type.Literal('slice'),
  Type.Literal('repeat'),
])

const CaseStep = Type.Object(
  {
    call: optionalField(Type.String({ pattern: '^(GET|HEAD|POST|PUT|DELETE|OPTIONS)$' }), 'method of a request'),
    path: optionalField(Type.String({ pattern: '^(/|\\$)' }), 'path of the request'),
    query: optionalField(Texts, 'parameters of the request'),
    headers: optionalField(Texts, 'headers of the request; null leaves a header out'),
    body: optionalField(Type.Unknown(), 'body as JSON'),
    bodyText: optionalField(Type.String(), 'body as text'),
    bodyBytes: optionalField(Type.String(), 'body as base64url'),
    start: optionalField(Text, 'sends the request in the background, under this name'),
    stream: optionalField(Text, 'opens an event stream under this name'),
    await: optionalField(Text, 'judges the answer of a request in the background'),
    event: optionalField(Text, 'waits for an event of this stream that fits'),
    mine: optionalField(Texts, 'makes blocks: chain -> count'),
    make: optionalField(MakeKind, 'makes a value'),
    with: optionalField(Texts, 'parts of the value to make'),
    until: optionalField(Type.Boolean(), 'repeats the request until its answer fits'),
    skip: optionalField(
      Type.Object({ when: Expectation, reason: Text }, closed),
      'skips the case where the answer fits this',
    ),
    expect: optionalField(Expectation, 'the expected answer'),
    save: optionalField(Type.Record(Type.String(), Type.String()), 'variable -> path of a part of the answer'),
  },
  closed,
)
/** One step of a case: a call, a wait, blocks, or a value that the runner makes. */
export type CaseStep = Static<typeof CaseStep>

const Case = Type.Object(
  {
    name: Text,
    needs: Type.Array(Type.Union(caseNeeds.map((need) => Type.Literal(need))), { minItems: 1 }),
    releases: Type.Optional(
      Type.Array(Type.Union(caseReleases.map((release) => Type.Literal(release))), { minItems: 1 }),
    ),
    source: Text,
    steps: Type.Array(CaseStep, { minItems: 1 }),
  },
  closed,
)
type CaseInFile = Static<typeof Case>

/** The format of a file of cases. */
export const CaseFile = Type.Object(
  { $schema: Type.Optional(Type.String()), about: Text, cases: Type.Array(Case, { minItems: 1 }) },
  closed,
)

/** A case with the file that it stands in. */
export interface ConformanceCase extends Omit<CaseInFile, 'needs' | 'releases'> {
  /** Name of the file without `.json`. */
  readonly group: string
  readonly needs: readonly CaseNeed[]
  /** The only releases that the case judges; all if left out. */
  readonly releases?: readonly Release[]
}

const kinds = ['call', 'await', 'event', 'mine', 'make'] as const

/**
 * Reads all case files of a folder, in the order of their names.
 * @throws NewcutError BAD_INPUT that names file, case and step
 */
export function readCases(folder: string): ConformanceCase[] {
  const files = readJsonFolder(folder, CaseFile, { content: 'cases', files: 'case files' })
  const cases = files.flatMap(({ path, group, content }) => {
    for (const { name, steps } of content.cases) {
      for (const [i, step] of steps.entries()) checkStep(step, `${path}: "${name}", step ${i + 1}`)
    }
    return content.cases.map((each) => ({ ...each, group }))
  })
  const seen = new Set<string>()
  for (const { group, name } of cases) {
    const whole = `${group}: ${name}`
    if (seen.has(whole)) throw operatingError(conformanceErrors.sameName, { path: `${join(folder, group)}.json`, name })
    seen.add(whole)
  }
  return cases
}

function checkStep(step: CaseStep, place: string): void {
  const found = kinds.filter((kind) => step[kind] !== undefined)
  const wrong = (fault: string) => operatingError(conformanceErrors.badFile, { place, fault })
  if (found.length !== 1) throw wrong(`expected one of ${kinds.join(', ')}, got ${found.join(' and ') || 'none'}`)
  if ((step.call === undefined) !== (step.path === undefined)) throw wrong('call and path go together')
  const bodies = [step.body, step.bodyText, step.bodyBytes].filter((body) => body !== undefined)
  if (bodies.length > 1) throw wrong('expected one of body, bodyText and bodyBytes')
  if (step.skip !== undefined && step.call === undefined) throw wrong('skip goes with call')
  if (step.event !== undefined && step.expect?.event === undefined) throw wrong('expect.event is missing')
  if (step.make !== undefined && (step.save ?? step.expect) === undefined) throw wrong('save is missing')
}

/** The folder of cases that belongs to newcut: three folders above this file, and four above its compiled form. */
export function ownCases(): string {
  for (const path of ['../../../conformance', '../../../../conformance']) {
    const folder = fileURLToPath(new URL(path, import.meta.url))
    try {
      if (readdirSync(folder).includes('info.json')) return folder
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
    }
  }
  throw new Error('the folder conformance is missing')
}

/**
 * Verdicts of earlier runs. A verdict depends on the mutant and on all that the test file reads, so it holds until one of
 * them changes.
 */
import { createHash } from 'node:crypto'
import { jsonObjectIn } from '#ground/base/json.ts'
import { displayPath } from '../testing/files.ts'
import type { Mutant } from './mutants.ts'
import type { MeasuredFile, MutantVerdict, TestChoices } from './run-tests.ts'

/** Verdicts on the mutants of one test file, as long as its hash is the same. */
interface KnownFile {
  readonly hash: string
  readonly verdicts: Record<string, MutantVerdict>
}

/** Where verdicts stay between runs. */
export interface VerdictStore {
  /** The text of the last run, or null. */
  readonly read: () => string | null
  readonly write: (text: string) => void
}

export class VerdictCache {
  readonly #files: Map<string, KnownFile>

  /** A text that is damaged, or of another version, has no verdicts. @param version changes with the evaluator */
  constructor(text: string | null, version: string) {
    const { version: written, files } = jsonObjectIn(text ?? '') ?? {}
    const known = written === version ? (files as Record<string, KnownFile>) : {}
    this.#files = new Map(Object.entries(known))
    this.#version = version
  }
  readonly #version: string

  /** The verdicts on a test file, which the caller completes. Verdicts on another content of its files go. */
  verdictsOf(measured: MeasuredFile, choices: TestChoices): Record<string, MutantVerdict> {
    const hash = hashOf(measured, choices)
    const name = displayPath(measured.file)
    const known = this.#files.get(name)
    if (known?.hash === hash) return known.verdicts
    const verdicts: Record<string, MutantVerdict> = {}
    this.#files.set(name, { hash, verdicts })
    return verdicts
  }

  get text(): string {
    return `${JSON.stringify({ version: this.#version, files: Object.fromEntries(this.#files) })}\n`
  }
}

/** Names a mutant: its operator and its changes. The hash of the test file covers the text. */
export function mutantKeyOf(path: string, { operator, edits }: Pick<Mutant, 'operator' | 'edits'>): string {
  const changes = edits.map(({ from, to, text }) => [from, to, text])
  return digest(JSON.stringify([displayPath(path), operator, changes])).slice(0, 22)
}

/** The hash of all that a verdict depends on besides the mutant. */
function hashOf({ texts }: MeasuredFile, { chance, match }: TestChoices): string {
  const read = [...texts].map(([path, text]) => [displayPath(path), digest(text)]).sort()
  return digest(JSON.stringify([chance.seed, chance.runs, match, read]))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

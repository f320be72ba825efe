/** Reads a file completely: all forms that can be read, and all errors of reader and grammar. */
import { ContractError } from '../../contracts/errors.ts'
import type { CallForm, Form } from '../../contracts/syntax/form.ts'
import { checkProgram, type Dialect } from '../../contracts/syntax/program.ts'
import { MAX_CHARACTERS, read, readTokens, type Token } from '../../contracts/syntax/reader.ts'
import { balance } from './brackets.ts'
import type { FindingCode } from './finding-codes.ts'
import { scan } from './scan.ts'
import { type CodeFinding, isWithin, LineStarts, type OffsetRange } from './spans.ts'

export interface ParsedFile {
  readonly file: string
  readonly text: string
  readonly dialect: Dialect
  readonly lines: LineStarts
  readonly forms: readonly Form[]
  readonly tokens: readonly Token[]
  readonly comments: readonly OffsetRange[]
  readonly findings: readonly CodeFinding[]
}

/** Maximum number of groups of tokens to drop: a text with more faults counts as unreadable. */
const MAX_DROPPED = 50

/** Never throws. A text over the limit of the reader has one finding and no forms. */
export function parseFile(file: string, text: string): ParsedFile {
  const dialect: Dialect = file.endsWith('.repl') ? 'test' : 'contract'
  const lines = new LineStarts(text)
  const about = { file, text, dialect, lines }
  if (text.length > MAX_CHARACTERS) {
    const message = `Code of more than ${MAX_CHARACTERS} characters`
    return {
      ...about,
      forms: [],
      tokens: [],
      comments: [],
      findings: [{ severity: 'error', code: 'syntax', message, from: 0, to: 1 }],
    }
  }
  const scanned = scan(text)
  const { forms, findings } = readForms(text, scanned.tokens, scanned.findings, lines)
  const broken = findings.map(({ from }) => from)
  const wrong = forms.flatMap((form) => grammarFindings(form, dialect, broken, { text, lines }))
  return { ...about, forms, tokens: scanned.tokens, comments: scanned.comments, findings: [...findings, ...wrong] }
}

interface ReadForms {
  readonly forms: readonly Form[]
  readonly findings: readonly CodeFinding[]
}

function readForms(
  text: string,
  tokens: readonly Token[],
  scanFindings: readonly CodeFinding[],
  lines: LineStarts,
): ReadForms {
  const first = errorOf(() => read(text))
  if (!(first instanceof ContractError)) return { forms: first, findings: [] }
  const balanced = balance(tokens)
  const findings = [...scanFindings, ...balanced.findings]
  let left = balanced.tokens
  for (let dropped = 0; dropped <= MAX_DROPPED; dropped++) {
    const forms = errorOf(() => readTokens(left))
    if (!(forms instanceof ContractError)) {
      return { forms, findings: findings.length > 0 ? findings : [findingOf(first, 'syntax', { text, lines })] }
    }
    const finding = findingOf(forms, 'syntax', { text, lines })
    if (!findings.some(({ from }) => from === finding.from)) findings.push(finding)
    left = withoutGroup(left, forms, finding.from)
  }
  return { forms: [], findings }
}

function errorOf<T>(body: () => T): T | ContractError {
  try {
    return body()
  } catch (error) {
    if (error instanceof ContractError) return error
    throw error
  }
}

/**
 * Drops the half-typed type at the token of an error. Where there is none, it drops the content of the innermost brackets
 * around the token, or at the top level the token itself.
 */
function withoutGroup(tokens: readonly Token[], error: ContractError, offset: number): Token[] {
  const exact = tokens.findIndex((token) => token.place === error.place)
  const at = exact >= 0 ? exact : tokens.findIndex((token) => token.kind === 'end' || token.to > offset)
  if (tokens[at - 1]?.kind === ':') {
    const isTyped = tokens[at].kind === 'name'
    return tokens.filter((_, index) => index !== at - 1 && !(isTyped && index === at))
  }
  const open: number[] = []
  for (let i = 0; i < at; i++) {
    if ('([{'.includes(tokens[i].kind)) open.push(i)
    else if (')]}'.includes(tokens[i].kind)) open.pop()
  }
  const start = open.at(-1)
  if (start === undefined) return tokens.filter((token, index) => index !== at || token.kind === 'end')
  // A group without content, such as a type in braces, goes as a whole.
  const end = closingOf(tokens, start)
  const isEmpty = end === start + 1
  return [...tokens.slice(0, isEmpty ? start : start + 1), ...tokens.slice(isEmpty ? end + 1 : end)]
}

/** Index of the bracket that closes another one. */
function closingOf(tokens: readonly Token[], start: number): number {
  let depth = 0
  for (let i = start; i < tokens.length; i++) {
    if ('([{'.includes(tokens[i].kind)) depth++
    else if (')]}'.includes(tokens[i].kind) && --depth === 0) return i
  }
  return tokens.length - 1
}

interface SourceText {
  readonly text: string
  readonly lines: LineStarts
}

/** A finding at the place of an error: the token there, or the head of a form that begins there. */
export function findingOf(error: ContractError, code: FindingCode, { text, lines }: SourceText): CodeFinding {
  const from = error.place === null ? 0 : lines.offsetOf(error.place)
  return { severity: 'error', code, message: error.message, from, to: from + lengthAt(text, from) }
}

function lengthAt(text: string, from: number): number {
  const found = /(?:\(\s*[^\s()[\]{}"';]+|[^\s()[\]{}"',;]+|"(?:[^"\\\n]|\\.)*"?|.)/y
  found.lastIndex = from
  return found.exec(text)?.[0].length ?? 0
}

/** @param broken offsets of errors of the reader: the grammar of a member with one of them is not checked */
function grammarFindings(form: Form, dialect: Dialect, broken: readonly number[], source: SourceText): CodeFinding[] {
  const found: CodeFinding[] = []
  for (const part of partsOf(form)) {
    if (broken.some((offset) => isWithin(offset, part.range))) continue
    const error = errorOf(() => checkProgram([part.form], dialect))
    if (!(error instanceof ContractError)) continue
    const finding = findingOf(error, 'syntax', source)
    if (!found.some(({ from }) => from === finding.from)) found.push(finding)
  }
  return found
}

interface CheckedPart {
  readonly form: Form
  readonly range: OffsetRange
}

/**
 * Splits a form into parts for separate checks, so that an error in one hides none in another. A module gives a part for
 * each of its members.
 */
function partsOf(form: Form): CheckedPart[] {
  const module = moduleParts(form)
  if (module === null || module.members.length === 0) return [{ form, range: form }]
  const { call, header, members } = module
  const filler = constantAt(call)
  const head = { ...call, items: [...header, filler] }
  const goodHeader = errorOf(() => checkProgram([head], 'contract')) instanceof ContractError ? null : header
  const around = goodHeader ?? plainHeader(call)
  return [
    { form: head, range: { from: call.from, to: members[0].from } },
    ...members.map((member) => ({ form: { ...call, items: [...around, member, filler] }, range: member })),
    ...(members.some((member) => wordOf(member).startsWith('def')) ? [] : [{ form, range: form }]),
  ]
}

export interface ModuleParts {
  readonly call: CallForm
  /** The words up to the first member: name, governance, documentation. */
  readonly header: readonly Form[]
  readonly members: readonly Form[]
}

/** @returns null unless the form is a module or an interface */
export function moduleParts(form: Form): ModuleParts | null {
  const word = wordOf(form)
  if (form.form !== 'call' || (word !== 'module' && word !== 'interface')) return null
  const first = form.items.findIndex((item, index) => index > 0 && item.form === 'call')
  const at = first < 0 ? form.items.length : first
  return { call: form, header: form.items.slice(0, at), members: form.items.slice(at) }
}

/** The name at the head of a call, or '' for other forms. */
export function wordOf(form: Form | undefined): string {
  const head = form?.form === 'call' ? form.items[0] : undefined
  return head?.form === 'atom' && head.member === null ? head.name : ''
}

function plainHeader(call: CallForm): Form[] {
  const name = atomAt(call, 'module')
  return wordOf(call) === 'module' ? [call.items[0], name, name] : [call.items[0], name]
}

function atomAt({ place, from, to }: CallForm, name: string): Form {
  return { form: 'atom', name: name === 'module' ? 'named' : name, member: null, type: null, place, from, to }
}

/** `(defconst filler 0)`: a module has at least one definition. */
function constantAt(call: CallForm): CallForm {
  const { place, from, to } = call
  const value: Form = { form: 'number', value: 0n, place, from, to }
  return { form: 'call', items: [atomAt(call, 'defconst'), atomAt(call, 'filler'), value], place, from, to }
}

/** Questions to the forked network, many of which go into one request. */
import { FormatError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import type { ExactJson } from '#ground/base/json.ts'
import { exactJsonText, fieldsOf } from '#ground/base/json.ts'
import { copyErrors } from './errors.ts'
import type { PinnedCaller } from './pinned-caller.ts'
import { excerpt } from './remote-node.ts'

export interface PinnedQuery {
  /** An expression of the language. */
  readonly code: string
  /** Takes the value of the expression. */
  readonly take: (value: ExactJson) => void
  /** Takes the text of its failure. @returns false if the failure is not an answer to the question */
  readonly onFailure?: (message: string) => boolean
  /** The failure is an answer that one may expect, so the question is asked alone. */
  readonly isAlone?: boolean
}

/** Maximum number of expressions in one request: a failure of one makes newcut ask all of them again. */
const MAX_TOGETHER = 100
/** Approximate maximum length of the code of one request: some nodes refuse longer code. */
const MAX_CHARACTERS = 300_000

/** A string literal of the language. */
export function stringCode(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
  return `"${escaped}"`
}

/**
 * Asks all of these questions, in as few requests as possible.
 * @throws NewcutError if the node does not answer, or the code of a question fails unexpectedly
 */
export async function askAll(caller: PinnedCaller, questions: readonly PinnedQuery[]): Promise<void> {
  const alone = questions.filter(({ isAlone }) => isAlone === true)
  const batches = batchesOf(questions.filter(({ isAlone }) => isAlone !== true))
  await Promise.all([
    ...batches.map((batch) => askTogether(caller, batch)),
    ...alone.map((each) => askOne(caller, each)),
  ])
}

function batchesOf(questions: readonly PinnedQuery[]): PinnedQuery[][] {
  const batches: PinnedQuery[][] = []
  let characters = Number.POSITIVE_INFINITY
  for (const question of questions) {
    characters += question.code.length
    const last = batches.at(-1)
    if (last !== undefined && last.length < MAX_TOGETHER && characters < MAX_CHARACTERS) last.push(question)
    else {
      batches.push([question])
      characters = question.code.length
    }
  }
  return batches
}

/** One request for several questions. If it fails, each half of them is asked again. */
async function askTogether(caller: PinnedCaller, questions: readonly PinnedQuery[]): Promise<void> {
  if (questions.length === 1) return askOne(caller, questions[0])
  const answer = await caller.exec(`[${questions.map(({ code }) => code).join(' ')}]`)
  if ('failure' in answer) {
    const half = Math.ceil(questions.length / 2)
    await askTogether(caller, questions.slice(0, half))
    return askTogether(caller, questions.slice(half))
  }
  const values = Array.isArray(answer.value) ? (answer.value as readonly ExactJson[]) : []
  if (values.length !== questions.length) throw wrongFormError(caller, answer.value)
  for (const [i, { take }] of questions.entries()) readForm(caller, values[i], take)
}

async function askOne(caller: PinnedCaller, { code, take, onFailure }: PinnedQuery): Promise<void> {
  const answer = await caller.exec(code)
  if ('value' in answer) readForm(caller, answer.value, take)
  else if (onFailure?.(answer.failure) !== true) {
    const { url } = caller.remote
    throw operatingError(copyErrors.failedCode, { url, code: excerpt(code), failure: excerpt(answer.failure) })
  }
}

/** Error of a value of a form that the question cannot have. */
export function wrongFormError({ remote }: PinnedCaller, value: ExactJson): NewcutError {
  const what = `a value of the wrong form: ${excerpt(exactJsonText(value))}`
  return operatingError(copyErrors.wrongAnswer, { url: remote.url, what })
}

/**
 * Reads a value.
 * @throws the error of wrongFormError if it has another form than `read` expects
 */
export function readForm<T>(caller: PinnedCaller, value: ExactJson, read: (value: ExactJson) => T): T {
  try {
    return read(value)
  } catch (error) {
    if (error instanceof FormatError || error instanceof TypeError) throw wrongFormError(caller, value)
    throw error
  }
}

/**
 * A field that must be a text.
 * @throws the error of wrongFormError if it is not
 */
export function textField(caller: PinnedCaller, value: ExactJson, name: string): string {
  const field = fieldsOf(value)[name]
  if (typeof field === 'string') return field
  throw wrongFormError(caller, value)
}

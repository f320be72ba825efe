/** Questions to the forked network, many of which go into one request. */
import { FormatError, NewcutError } from '#ground/base/errors.ts'
import type { ExactJson } from '#ground/base/json.ts'
import { exactJsonText, fieldsOf } from '#ground/base/json.ts'
import type { Asker } from './asker.ts'
import { shown } from './remote-node.ts'

export interface PinQuestion {
  /** An expression of the language. */
  readonly code: string
  /** Takes the value of the expression. */
  readonly take: (value: ExactJson) => void
  /** Takes the text of its failure. Returns false if the failure answers nothing. */
  readonly failed?: (message: string) => boolean
  /** The failure is an answer that one may expect, so the question is asked alone. */
  readonly isAlone?: boolean
}

/** Most expressions, and about the most characters, of one request: some nodes read no longer code. */
const MAX_TOGETHER = 100
const MAX_CHARACTERS = 300_000

/** A string literal of the language. */
export function stringCode(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
  return `"${escaped}"`
}

/** Asks all of these questions, in as few requests as possible. */
export async function askAll(asker: Asker, questions: readonly PinQuestion[]): Promise<void> {
  const alone = questions.filter(({ isAlone }) => isAlone === true)
  const batches = batchesOf(questions.filter(({ isAlone }) => isAlone !== true))
  await Promise.all([...batches.map((batch) => askTogether(asker, batch)), ...alone.map((each) => askOne(asker, each))])
}

function batchesOf(questions: readonly PinQuestion[]): PinQuestion[][] {
  const batches: PinQuestion[][] = []
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
async function askTogether(asker: Asker, questions: readonly PinQuestion[]): Promise<void> {
  if (questions.length === 1) return askOne(asker, questions[0])
  const answer = await asker.exec(`[${questions.map(({ code }) => code).join(' ')}]`)
  if ('failure' in answer) {
    const half = Math.ceil(questions.length / 2)
    await askTogether(asker, questions.slice(0, half))
    return askTogether(asker, questions.slice(half))
  }
  const values = Array.isArray(answer.value) ? (answer.value as readonly ExactJson[]) : []
  if (values.length !== questions.length) throw odd(asker, answer.value)
  for (const [i, { take }] of questions.entries()) unlessOdd(asker, values[i], take)
}

async function askOne(asker: Asker, { code, take, failed }: PinQuestion): Promise<void> {
  const answer = await asker.exec(code)
  if ('value' in answer) unlessOdd(asker, answer.value, take)
  else if (failed?.(answer.failure) !== true) {
    const { url } = asker.remote
    throw new NewcutError('NODE_REFUSED', `the forked node ${url} fails ${shown(code)} with: ${shown(answer.failure)}`)
  }
}

/** Error of a value of a form that the question cannot have. */
export function odd({ remote }: Asker, value: ExactJson): NewcutError {
  const text = shown(exactJsonText(value))
  return new NewcutError('NODE_MISBEHAVED', `the forked node ${remote.url} gives a value of the wrong form: ${text}`)
}

/** Reads a value. Throws the error of `odd` if it has another form than `read` expects. */
export function unlessOdd<T>(asker: Asker, value: ExactJson, read: (value: ExactJson) => T): T {
  try {
    return read(value)
  } catch (error) {
    if (error instanceof FormatError || error instanceof TypeError) throw odd(asker, value)
    throw error
  }
}

/** A field that must be a text. */
export function textField(asker: Asker, value: ExactJson, name: string): string {
  const field = fieldsOf(value)[name]
  if (typeof field === 'string') return field
  throw odd(asker, value)
}

/**
 * Reads the lines that newcut writes, in place and without a parser. Other lines are left to `parseLine` (record.ts). A
 * line without a seal is taken only if `parseLine` takes it too. If the seal of a line fits, newcut wrote all of it, and a
 * few characters show where its values are.
 */
import { isSealedLine } from './line-seal.ts'
import { NO_AMOUNT, type SolutionOrigin } from './record-table.ts'
import { digitAt, unitsAt } from './units.ts'

// Loops without a limit are several times faster than `{43}` or `{0,2000}`. `#take` checks the lengths.
const HEAD = String.raw`\{"at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","hash":"[\w-]+","step":"`
/** Characters from the start of a line to its hash, and to the name of its step. */
export const HASH_AT = 41
const HASH_END = HASH_AT + 43
const STEP_AT = 94
/** No text of a line may be longer, and no line is longer that is read here. */
const MAX_LINE = 2000
const MIN_WORK = 200
const AFTER_WORK = '"}\n'.length
const QUOTE = 0x22
/** Text without escapes, and without characters of several bytes. */
const TEXT = String.raw`"[ !#-\[\]-~]*"`
const COUNT = String.raw`(?:0|[1-9]\d{0,14})`
const NUMBER = String.raw`(?:0|[1-9]\d{0,20})(?:\.\d{1,25})?(?:e[+-]?\d{1,2})?`

const COINS = String.raw`"\d{1,20}(?:\.\d{1,20})?"`

const lineOf = (rest: string) => new RegExp(`${HEAD}${rest}\\}\\n`, 'y')

const found = lineOf(
  `found","network":${TEXT},"account":${TEXT},"issuer":${TEXT},"chain":${COUNT},"height":${COUNT},"device":${TEXT},` +
    String.raw`"effort":${NUMBER},"difficulty":${NUMBER},"work":"[\w-]+"`,
)
const handedIn = lineOf('handed-in"')
const acknowledged = lineOf('acknowledged"')
const credited = lineOf('credited"')
const confirmed = lineOf(`confirmed","depth":${COUNT}`)
const reward = lineOf(`reward","amount":${COINS}(?:,"fees":${COINS})?`)

const TIME_AT = '{"at":"'.length
const DAY_LENGTH = '2026-01-01'.length
const TIME_LENGTH = '2026-01-01T00:00:00.000Z'.length
const NETWORK_AT = STEP_AT + 'found","network":"'.length
const BEFORE_ACCOUNT = '","account":"'
const DEPTH_AT = STEP_AT + 'confirmed","depth":'.length
const AMOUNT_AT = STEP_AT + 'reward","amount":"'.length
const BEFORE_FEES = '","fees":"'

/** Steps by their first character, with the first character of the next property of their sealed lines. */
const sealedSteps = new Map(
  (
    [
      ['found', 'network'],
      ['handed-in', 'seal'],
      ['acknowledged', 'seal'],
      ['reward', 'amount'],
      ['confirmed', 'depth'],
    ] as const
  ).map(([step, next]) => {
    const nextAt = STEP_AT + step.length + '","'.length
    return [step.charCodeAt(0), { step, quoteAt: STEP_AT + step.length, nextAt, next: next.charCodeAt(0) }]
  }),
)

type CanonicalStep = 'found' | 'handed-in' | 'acknowledged' | 'credited' | 'confirmed' | 'reward'

/** The step of a canonical line, and where the line ends. `text` has one character for each byte. */
export class CanonicalLine {
  step: CanonicalStep = 'found'
  /** Index after the newline. */
  end = 0

  /** Whether the last line had a seal: the next one mostly is like it. */
  #wasSealed = false

  /**
   * Reads the line at this index.
   * @param view the bytes of the text
   * @returns false for any other line; step and end stay as they are then
   */
  read(text: string, view: DataView, from: number): boolean {
    if (!this.#wasSealed && this.#readUnsealed(text, from)) return true
    if (this.#readSealed(text, view, from)) {
      this.#wasSealed = true
      return true
    }
    if (!this.#wasSealed || !this.#readUnsealed(text, from)) return false
    this.#wasSealed = false
    return true
  }

  #readSealed(text: string, view: DataView, from: number): boolean {
    const known = sealedSteps.get(text.charCodeAt(from + STEP_AT))
    if (known === undefined || text.charCodeAt(from + HASH_END) !== QUOTE) return false
    if (text.charCodeAt(from + known.quoteAt) !== QUOTE || text.charCodeAt(from + known.nextAt) !== known.next)
      return false
    const newline = text.indexOf('\n', from + STEP_AT)
    if (newline === -1 || !isSealedLine(text, view, from, newline)) return false
    this.step = known.step
    this.end = newline + 1
    return true
  }

  #readUnsealed(text: string, from: number): boolean {
    switch (text.charCodeAt(from + STEP_AT)) {
      case 0x66:
        return this.#take(found, 'found', text, from)
      case 0x68:
        return this.#take(handedIn, 'handed-in', text, from)
      case 0x61:
        return this.#take(acknowledged, 'acknowledged', text, from)
      case 0x72:
        return this.#take(reward, 'reward', text, from)
      case 0x63:
        return this.#take(confirmed, 'confirmed', text, from) || this.#take(credited, 'credited', text, from)
      default:
        return false
    }
  }

  #take(pattern: RegExp, step: CanonicalStep, text: string, from: number): boolean {
    pattern.lastIndex = from
    if (text.charCodeAt(from + HASH_END) !== QUOTE || !pattern.test(text)) return false
    const end = pattern.lastIndex
    if (end - from > MAX_LINE) return false
    // No quote before: the work is at least that long.
    if (step === 'found' && text.indexOf('"', end - AFTER_WORK - MIN_WORK) !== end - AFTER_WORK) return false
    this.step = step
    this.end = end
    return true
  }
}

/** Reads the times of canonical lines, mostly of one day, faster than `Date.parse`. */
export class TimeReader {
  #day = ''
  #dayMs = Number.NaN

  /** Unix time in milliseconds; NaN for a time that does not exist. */
  read(text: string, from: number): number {
    const at = from + TIME_AT
    if (this.#day === '' || !text.startsWith(this.#day, at)) {
      this.#day = text.slice(at, at + DAY_LENGTH)
      this.#dayMs = Date.parse(this.#day)
    }
    const clock = at + DAY_LENGTH + 1
    const hour = twoAt(text, clock)
    const minute = twoAt(text, clock + 3)
    const second = twoAt(text, clock + 6)
    if (hour > 23 || minute > 59 || second > 59) return Date.parse(text.slice(at, at + TIME_LENGTH))
    const ms = 10 * twoAt(text, clock + 9) + digitAt(text, clock + 11)
    return this.#dayMs + 1000 * (60 * (60 * hour + minute) + second) + ms
  }
}

const twoAt = (text: string, at: number) => 10 * digitAt(text, at) + digitAt(text, at + 1)

/** A character that JSON escapes, or one of several bytes. */
const UNUSUAL = /[^ !#-[\]-~]/

/** Reads network and account of canonical lines of step `found`. Lines with the same ones get the same object. */
export class OriginReader {
  #raw = ''
  #origin: SolutionOrigin = { network: '', account: '' }

  /** @returns null if they have characters that only a parser reads */
  read(text: string, from: number): SolutionOrigin | null {
    const start = from + NETWORK_AT
    if (this.#raw !== '' && text.startsWith(this.#raw, start)) return this.#origin
    const network = text.slice(start, text.indexOf('"', start))
    const accountAt = start + network.length + BEFORE_ACCOUNT.length
    const end = text.indexOf('"', accountAt)
    const account = text.slice(accountAt, end)
    if (UNUSUAL.test(network + account) || !text.startsWith(BEFORE_ACCOUNT, start + network.length)) return null
    this.#origin = { network, account }
    this.#raw = text.slice(start, end + 1)
    return this.#origin
  }
}

/** The depth of a canonical line of step `confirmed`. */
export function depthIn(text: string, from: number): number {
  let depth = 0
  for (let at = from + DEPTH_AT, digit = digitAt(text, at); digit >= 0; digit = digitAt(text, ++at)) {
    depth = 10 * depth + digit
  }
  return depth
}

/** The reward of a canonical line of step `reward`, in units (units.ts). */
export const amountIn = (text: string, from: number): number => unitsAt(text, from + AMOUNT_AT)

/** The fees of a canonical line of step `reward`, in units, or NO_AMOUNT if it has none. */
export function feesIn(text: string, from: number): number {
  const end = text.indexOf('"', from + AMOUNT_AT)
  return text.startsWith(BEFORE_FEES, end) ? unitsAt(text, end + BEFORE_FEES.length) : NO_AMOUNT
}

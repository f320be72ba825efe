/**
 * Reads the lines that newcut writes, in place and without a parser. It takes a line only if `parseLine` (record.ts)
 * takes it too; all other lines are left to `parseLine`.
 */
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

export type CanonicalStep = 'found' | 'handed-in' | 'acknowledged' | 'credited' | 'confirmed' | 'reward'

/** The step of a canonical line, and where the line ends. `text` has one character for each byte. */
export class CanonicalLine {
  step: CanonicalStep = 'found'
  /** Index after the newline. */
  end = 0

  /** Reads the line at this index. @returns false for any other line; nothing changes then */
  read(text: string, from: number): boolean {
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
    const [hour, minute, second] = [twoAt(text, clock), twoAt(text, clock + 3), twoAt(text, clock + 6)]
    if (hour > 23 || minute > 59 || second > 59) return Date.parse(text.slice(at, at + TIME_LENGTH))
    const ms = 10 * twoAt(text, clock + 9) + digitAt(text, clock + 11)
    return this.#dayMs + 1000 * (60 * (60 * hour + minute) + second) + ms
  }
}

const twoAt = (text: string, at: number) => 10 * digitAt(text, at) + digitAt(text, at + 1)

/** Reads network and account of canonical lines of step `found`. Lines with the same ones get the same object. */
export class OriginReader {
  #raw = ''
  #origin: SolutionOrigin = { network: '', account: '' }

  read(text: string, from: number): SolutionOrigin {
    const start = from + NETWORK_AT
    if (this.#raw !== '' && text.startsWith(this.#raw, start)) return this.#origin
    const network = text.slice(start, text.indexOf('"', start))
    const accountAt = start + network.length + BEFORE_ACCOUNT.length
    const end = text.indexOf('"', accountAt)
    this.#origin = { network, account: text.slice(accountAt, end) }
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

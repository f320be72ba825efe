/**
 * Reads the lines that newcut writes, in place and without a parser. It takes a line only if `parseLine` (record.ts)
 * takes it too; all other lines are left to `parseLine`.
 */
import { NO_REWARD, REWARD_IN_LINE } from './record-table.ts'

const HEAD = String.raw`\{"at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","hash":"[\w-]{43}","step":"`
/** Characters from the start of a line to its hash, and to the name of its step. */
export const HASH_AT = 41
const STEP_AT = 94
/** Text without escapes, and without characters of several bytes. */
const TEXT = String.raw`"[ !#-\[\]-~]{0,2000}"`
const COUNT = String.raw`(?:0|[1-9]\d{0,14})`
const NUMBER = String.raw`(?:0|[1-9]\d{0,20})(?:\.\d{1,25})?(?:e[+-]?\d{1,2})?`

const lineOf = (rest: string) => new RegExp(`${HEAD}${rest}\\}\\n`, 'y')

const found = lineOf(
  `found","network":${TEXT},"account":${TEXT},"issuer":${TEXT},"chain":${COUNT},"height":${COUNT},"device":${TEXT},` +
    String.raw`"effort":${NUMBER},"difficulty":${NUMBER},"work":"[\w-]{200,4000}"`,
)
const handedIn = lineOf('handed-in"')
const acknowledged = lineOf('acknowledged"')
const credited = lineOf('credited"')
const confirmed = lineOf(`confirmed","depth":${COUNT}`)
const reward = lineOf(String.raw`reward","amount":"\d{1,20}(?:\.\d{1,20})?"`)

const FOUND_NETWORK_AT = STEP_AT + 'found","network":"'.length
const DEPTH_AT = STEP_AT + 'confirmed","depth":'.length
const AMOUNT_AT = STEP_AT + 'reward","amount":"'.length

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
    if (!pattern.test(text)) return false
    this.step = step
    this.end = pattern.lastIndex
    return true
  }
}

/** The network of a canonical line of step `found`. */
export const networkIn = (text: string, from: number): string =>
  text.slice(from + FOUND_NETWORK_AT, text.indexOf('"', from + FOUND_NETWORK_AT))

/** The depth of a canonical line of step `confirmed`. */
export function depthIn(text: string, from: number): number {
  let depth = 0
  for (let at = from + DEPTH_AT, digit = digitAt(text, at); digit >= 0; digit = digitAt(text, ++at)) {
    depth = 10 * depth + digit
  }
  return depth
}

/** The reward of a canonical line of step `reward`, as of `amountUnits`. */
export const amountIn = (text: string, from: number): number => unitsAt(text, from + AMOUNT_AT)

/** Units in a coin. */
export const UNITS = 1e12
const UNIT_DIGITS = 12
/** Such amounts are exact numbers. */
const MAX_UNITS = 2 ** 53

/** An amount of coins in units, or REWARD_IN_LINE if it is too large or too fine for them. */
export const amountUnits = (amount: string): number => unitsAt(amount, 0)

function unitsAt(text: string, from: number): number {
  let units = 0
  let at = from
  for (let digit = digitAt(text, at); digit >= 0; digit = digitAt(text, ++at)) units = 10 * units + digit
  let places = 0
  if (text.charCodeAt(at) === 0x2e) {
    for (let digit = digitAt(text, ++at); digit >= 0; digit = digitAt(text, ++at), places++) units = 10 * units + digit
  }
  if (places > UNIT_DIGITS) return REWARD_IN_LINE
  for (; places < UNIT_DIGITS; places++) units *= 10
  return units < MAX_UNITS && units > NO_REWARD ? units : REWARD_IN_LINE
}

/** The value of a digit; negative for other characters. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30
  return digit >= 0 && digit <= 9 ? digit : -1
}

/** Natives for times and durations. Durations are decimals in seconds. */

import { ofIntegers, ofTextOperation } from '../../machine/gas/cost-names.ts'
import { COST, LIMIT } from '../../machine/gas/costs.ts'
import { countCharacters, PRICE, productPrice } from '../../machine/gas/prices.ts'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import { Decimal } from '../../values/decimal.ts'
import { formatTime, ISO_SECONDS, parseTime } from '../../values/time-text.ts'
import { Time } from '../../values/value.ts'
import { mantissa, toDecimal, withinBits, workProduct } from './numbers.ts'

const MICROS = 1_000_000n
const MICRO_PLACES = 6
/** Range of times: about 270,000 years before and after 1970. */
const FARTHEST = 8_640_000_000_000_000_000n

function requireRange(args: Arguments, micros: bigint): Time {
  if (micros > FARTHEST || micros < -FARTHEST) throw args.error('time out of range')
  return new Time(micros)
}

function parseInRange(args: Arguments, format: string, text: string): Time {
  workFormat(args, format)
  if (text.length > LIMIT.timeFormat) throw args.error('time text too long')
  args.work(text.length * COST.readCharacter + Math.ceil((format.length * text.length) / 4))
  const time = parseTime(format, text)
  if (time === null) throw args.error(`${args.native}: parse failure`)
  return requireRange(args, time.micros)
}

/** `parse-time` costs the square of the format, and the text. `time` has a flat price. */
function parse(args: Arguments): Time {
  const [format, text] = [args.text(0), args.text(1)]
  const [formatLength, length] = [countCharacters(format), countCharacters(text)]
  const price = Math.floor(formatLength ** 2 / 4) + 10 * length + PRICE.parsed
  args.charge(price, ofTextOperation('StrOpParseTime', formatLength, length))
  return parseInRange(args, format, text)
}

/** Milligas for each character of the format of `format-time`. */
const FORMAT_PRICE = 20

function workFormat(args: Arguments, format: string): void {
  args.workText(format.length, FORMAT_PRICE)
  if (format.length > LIMIT.timeFormat) throw args.error('time format too long')
}

/** Rounds seconds to microseconds, half to even. */
function addTime(args: Arguments): Time {
  const [time, seconds] = [args.time(0), args.number(1)]
  workProduct(args, seconds, MICROS)
  if (typeof seconds === 'bigint') return requireRange(args, time.micros + seconds * MICROS)
  const micros = seconds.mul(Decimal.of(MICROS)).round(0).mantissa
  return requireRange(args, time.micros + micros)
}

function span(name: string, seconds: bigint): Native {
  return native(name, 1, 1, (args) => {
    const count = args.number(0)
    args.charge(productPrice(mantissa(count), seconds), ofIntegers('Mul', mantissa(count), seconds))
    workProduct(args, count, seconds)
    return withinBits(args, toDecimal(count).mul(Decimal.of(seconds)))
  })
}

export const TIME: readonly Native[] = [
  native('time', 1, 1, (args) => parseInRange(args, ISO_SECONDS, args.text(0))),
  native('parse-time', 2, 2, parse),
  native('format-time', 2, 2, (args) => {
    const [format, time] = [args.text(0), args.time(1)]
    const length = countCharacters(format)
    args.charge(FORMAT_PRICE * length + PRICE.parsed, ofTextOperation('StrOpFormatTime', length))
    workFormat(args, format)
    return formatTime(format, time)
  }),
  native('add-time', 2, 2, addTime),
  native('diff-time', 2, 2, (args) => new Decimal(args.time(0).micros - args.time(1).micros, MICRO_PLACES).normalise()),
  span('minutes', 60n),
  span('hours', 3600n),
  span('days', 86_400n),
]

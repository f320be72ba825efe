/** Encodes values as JSON text, for results, events and rows. */

import { compareText } from './compare.ts'
import { Decimal } from './decimal.ts'
import { inWireOrder } from './field-order.ts'
import { TextWriter, writeEach } from './text-writer.ts'
import { isoMicros, isoSeconds } from './time-text.ts'
import { type CapabilityToken, Guard, type GuardKind, ModuleRef, TableRef, Time, Unit, type Value } from './value.ts'
import { writeModule, writeTable } from './wire-types.ts'

export { valueFromJson } from './from-json.ts'
export { keysetFromValue } from './guard-json.ts'
export { TextWriter, writeEach } from './text-writer.ts'
export { writeModule } from './wire-types.ts'

/** Largest integer that all JSON parsers read exactly. */
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const QUALIFIED = /^([^.]+)\.([^.]+)$/

/** JSON text of a value. Object fields are in wire order, keys of keysets sorted by code point. */
export function valueToJson(value: Value): string {
  const writer = new TextWriter()
  writeValue(writer, value)
  return writer.text
}

/**
 * Appends the JSON text of a value.
 * @throws EvalError over the limit of the writer
 */
export function writeValue(to: TextWriter, value: Value): void {
  if (typeof value === 'string') to.quote(value)
  else if (typeof value === 'boolean') to.put(value ? 'true' : 'false')
  else if (typeof value === 'bigint') writeInteger(to, value)
  else if (value instanceof Decimal) writeDecimal(to, value)
  else if (Array.isArray(value)) writeValues(to, value)
  else if (value instanceof Map) writeFields(to, value as ReadonlyMap<string, Value>)
  else if (value instanceof Unit) to.put('null')
  else if (value instanceof Time) to.put(timeText(value))
  else if (value instanceof Guard) writeGuard(to, value.is)
  else if (value instanceof ModuleRef) {
    to.put('{"refSpec":[')
    writeEach(to, value.interfaces, writeModule)
    to.put('],"refName":')
    writeModule(to, value.name)
    to.put('}')
  } else if (value instanceof TableRef) writeTable(to, value)
  else {
    const token = value as CapabilityToken
    to.put('{"#ctName":')
    to.quote(token.name)
    to.put(',"#ctArgs":')
    writeValues(to, token.args)
    to.put('}')
  }
}

/**
 * Appends a JSON list.
 * @throws EvalError over the limit of the writer
 */
export function writeValues(to: TextWriter, items: readonly Value[]): void {
  to.put('[')
  writeEach(to, items, writeValue)
  to.put(']')
}

function writeFields(to: TextWriter, fields: ReadonlyMap<string, Value>): void {
  // Every field needs a few characters: do not sort what has no room.
  to.expectRoom(fields.size)
  to.put('{')
  writeEach(to, inWireOrder(fields), (_, [field, item]) => {
    to.quote(field)
    to.put(':')
    writeValue(to, item)
  })
  to.put('}')
}

function writeInteger(to: TextWriter, integer: bigint): void {
  const quote = isSafe(integer) ? '' : '"'
  to.put(`{"int":${quote}`)
  to.putInteger(integer)
  to.put(`${quote}}`)
}

function writeDecimal(to: TextWriter, decimal: Decimal): void {
  to.expectDigits(decimal.mantissa)
  to.put(isSafe(decimal.mantissa) ? decimalText(decimal) : `{"decimal":"${decimal}"}`)
}

/**
 * JSON number of a decimal.
 *
 * Integral values have no point, values from 0.1 to 10^7 are in plain notation. Others are scientific, as `1.5e-2`,
 * with one digit before the point and at least one after it.
 */
export function decimalText(value: Decimal): string {
  const { mantissa, places } = value.normalise()
  if (places === 0) return mantissa.toString()
  const digits = (mantissa < 0n ? -mantissa : mantissa).toString()
  const sign = mantissa < 0n ? '-' : ''
  // The number is 0.digits * 10^point.
  const point = digits.length - places
  if (point >= 0 && point <= 7) return `${sign}${digits.slice(0, point) || '0'}.${digits.slice(point)}`
  return `${sign}${digits[0]}.${digits.slice(1) || '0'}e${point - 1}`
}

function isSafe(integer: bigint): boolean {
  return integer <= MAX_SAFE && integer >= -MAX_SAFE
}

/** Whole milliseconds use the format to the second, and so lose the milliseconds. The public network does the same. */
function timeText(time: Time): string {
  if (time.micros % 1000n === 0n) return `{"time":"${isoSeconds(time)}"}`
  return `{"timep":"${isoMicros(time)}"}`
}

function writeGuard(to: TextWriter, guard: GuardKind): void {
  switch (guard.kind) {
    case 'keyset':
      writeKeyset(to, guard.keys, guard.predicate)
      break
    case 'keysetRef':
      writeKeysetName(to, guard.name)
      break
    case 'user':
      to.put('{"args":')
      writeValues(to, guard.args)
      writeField(to, ',"fun":', guard.fun)
      break
    case 'capability':
      to.put('{"cgPactId":')
      writeNullable(to, guard.pactId)
      to.put(',"cgArgs":')
      writeValues(to, guard.args)
      writeField(to, ',"cgName":', guard.name)
      break
    case 'module':
      to.put('{"moduleName":')
      writeModule(to, guard.module)
      writeField(to, ',"name":', guard.name)
      break
    case 'pact':
      to.put('{"pactId":')
      writeNullable(to, guard.pactId)
      writeField(to, ',"name":', guard.name)
      break
  }
}

/** Appends the last field of an object. */
function writeField(to: TextWriter, before: string, text: string): void {
  to.put(before)
  to.quote(text)
  to.put('}')
}

function writeNullable(to: TextWriter, text: string | null): void {
  if (text === null) to.put('null')
  else to.quote(text)
}

function writeKeyset(to: TextWriter, keys: readonly string[], predicate: string): void {
  to.expectRoom(keys.length)
  to.put('{"pred":')
  to.quote(predicate)
  to.put(',"keys":[')
  writeEach(to, [...keys].sort(compareText), (_, key) => to.quote(key))
  to.put(']}')
}

function writeKeysetName(to: TextWriter, full: string): void {
  const [, namespace, name] = QUALIFIED.exec(full) ?? []
  if (name === undefined) {
    writeField(to, '{"keysetref":', full)
    return
  }
  to.put('{"keysetref":{"ns":')
  to.quote(namespace)
  writeField(to, ',"ksn":', name)
  to.put('}')
}

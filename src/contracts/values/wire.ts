/** Encodes values as JSON text, for results, events and rows. */
import { Decimal } from './decimal.ts'
import { inWireOrder } from './field-order.ts'
import { compareText } from './order.ts'
import { formatTime, ISO_MICROS, ISO_SECONDS } from './time-text.ts'
import { type CapabilityToken, Guard, type GuardKind, ModuleRef, TableRef, Time, Unit, type Value } from './value.ts'

export { valueFromJson } from './from-json.ts'
export { keysetFromValue } from './guard-json.ts'

/** Largest integer that all JSON parsers read exactly. */
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const QUALIFIED = /^([^.]+)\.([^.]+)$/

/** JSON text of a value. Object fields are in wire order, keys of keysets sorted by code point. */
export function valueToJson(value: Value): string {
  if (typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value)
  if (typeof value === 'bigint') return `{"int":${isSafe(value) ? value : `"${value}"`}}`
  if (value instanceof Decimal) {
    return isSafe(value.mantissa) ? decimalText(value) : `{"decimal":"${value}"}`
  }
  if (Array.isArray(value)) return listText(value)
  if (value instanceof Map) {
    const fields = inWireOrder(value as ReadonlyMap<string, Value>)
    return `{${fields.map(([field, item]) => `${JSON.stringify(field)}:${valueToJson(item)}`).join(',')}}`
  }
  if (value instanceof Unit) return 'null'
  if (value instanceof Time) return timeText(value)
  if (value instanceof Guard) return guardText(value.is)
  if (value instanceof ModuleRef) {
    return `{"refSpec":[${value.interfaces.map(moduleText).join(',')}],"refName":${moduleText(value.name)}}`
  }
  if (value instanceof TableRef) return tableText(value)
  const token = value as CapabilityToken
  return `{"#ctName":${JSON.stringify(token.name)},"#ctArgs":${listText(token.args)}}`
}

/**
 * JSON number of a decimal.
 *
 * Integral values have no point, values from 0.1 to 10^7 are in plain notation. Others are scientific, as `1.5e-2`,
 * with one digit before the point and at least one behind it.
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

/** JSON text of a module name: `{"namespace":null,"name":"coin"}`. */
export function moduleText(name: string): string {
  const [, namespace, own] = QUALIFIED.exec(name) ?? [null, null, name]
  return `{"namespace":${JSON.stringify(namespace)},"name":${JSON.stringify(own)}}`
}

/** The public network adds the fields of the schema. */
function tableText({ module, name, hash, schemaName }: TableRef): string {
  const schema = schemaName === null ? 'null' : `{"sc_name":${JSON.stringify(schemaName)}}`
  return `{":tableName":${JSON.stringify(`${module}:${name}`)},":moduleHash":${JSON.stringify(hash)},":schema":${schema}}`
}

function isSafe(integer: bigint): boolean {
  return integer <= MAX_SAFE && integer >= -MAX_SAFE
}

function listText(items: readonly Value[]): string {
  return `[${items.map(valueToJson).join(',')}]`
}

/** Whole milliseconds use the format to the second, and so lose the milliseconds. The public network does the same. */
function timeText(time: Time): string {
  if (time.micros % 1000n === 0n) return `{"time":"${formatTime(ISO_SECONDS, time)}"}`
  return `{"timep":"${formatTime(ISO_MICROS, time)}"}`
}

function guardText(guard: GuardKind): string {
  const quoted = JSON.stringify
  switch (guard.kind) {
    case 'keyset':
      return `{"pred":${quoted(guard.predicate)},"keys":${quoted([...guard.keys].sort(compareText))}}`
    case 'keysetRef': {
      const [, namespace, name] = QUALIFIED.exec(guard.name) ?? []
      if (name === undefined) return `{"keysetref":${quoted(guard.name)}}`
      return `{"keysetref":{"ns":${quoted(namespace)},"ksn":${quoted(name)}}}`
    }
    case 'user':
      return `{"args":${listText(guard.args)},"fun":${quoted(guard.fun)}}`
    case 'capability':
      return `{"cgPactId":${quoted(guard.pactId)},"cgArgs":${listText(guard.args)},"cgName":${quoted(guard.name)}}`
    case 'module':
      return `{"moduleName":${moduleText(guard.module)},"name":${quoted(guard.name)}}`
    case 'pact':
      return `{"pactId":${quoted(guard.pactId)},"name":${quoted(guard.name)}}`
  }
}

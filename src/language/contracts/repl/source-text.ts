/** Values and signers as source text of test files. */

import { showValue } from '../values/print.ts'
import { ISO_MICROS, isoMicros } from '../values/time-text.ts'
import { type CapabilityToken, Time, type Value } from '../values/value.ts'

/** Text that evaluates to the value. Guards and module references have none, and appear as in messages. */
export function asSource(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Time) return `(parse-time "${ISO_MICROS}" "${isoMicros(value)}")`
  if (Array.isArray(value)) return `[${value.map(asSource).join(', ')}]`
  if (!(value instanceof Map)) return showValue(value)
  return `{${[...value].map(([name, each]) => `${JSON.stringify(name)}: ${asSource(each as Value)}`).join(', ')}}`
}

/** A form that sets these signers. */
export function signersSource(signers: ReadonlyMap<string, readonly CapabilityToken[]>): string {
  const all = [...signers]
  if (all.every(([, caps]) => caps.length === 0)) return `(env-keys [${all.map(([key]) => asSource(key)).join(' ')}])`
  const capSource = ({ name, args }: CapabilityToken) => `(${[name, ...args.map(asSource)].join(' ')})`
  const signed = all.map(([key, caps]) => `{"key": ${asSource(key)}, "caps": [${caps.map(capSource).join(' ')}]}`)
  return `(env-sigs [${signed.join(' ')}])`
}

/** Rows, a time and signers of `newcut local --set`, which the chain does not have. */
import { operatingError } from '#ground/base/errors.ts'
import { type ExactJson, NumberText, parseExactJson } from '#ground/base/json.ts'
import type { TraceOverrides } from '#ground/schema/trace.ts'
import type { Static } from '#ground/schema/typebox.ts'
import { commandErrors } from './errors.ts'

export type LocalOverrides = Static<typeof TraceOverrides>

/** `TABLE:KEY={..}`: names of tables have no colon, and keys may have all characters. */
const ROW = /^([^:=\s]+):(.*?)=\s*(\{.*\})\s*$/s
const PUBLIC_KEY = /^[0-9a-f]{64}$/

/**
 * Reads the values of `--set`.
 * @throws NewcutError BAD_OPTION
 */
export function overridesFrom(given: readonly string[]): LocalOverrides {
  const rows: Record<string, Record<string, Record<string, unknown>>> = {}
  const keys: string[] = []
  let time: string | undefined
  for (const text of given) {
    const [, name, value = ''] = /^(time|key)=(.*)$/s.exec(text) ?? []
    if (name === 'time') time = value
    else if (name === 'key') keys.push(keyIn(value))
    else {
      const { table, key, fields } = rowIn(text)
      rows[table] = { ...rows[table], [key]: { ...rows[table]?.[key], ...fields } }
    }
  }
  return { rows, keys, ...(time !== undefined && { time }) }
}

function keyIn(value: string): string {
  const key = value.replace(/^k:/, '').toLowerCase()
  if (PUBLIC_KEY.test(key)) return key
  throw operatingError(commandErrors.wrongOverrideKey, { value })
}

function rowIn(text: string) {
  const [, table, key, json] = ROW.exec(text) ?? []
  if (json === undefined) throw operatingError(commandErrors.wrongOverride, { text })
  try {
    const fields = withDigits(parseExactJson(json)) as Readonly<Record<string, unknown>>
    return { table, key, fields }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw operatingError(commandErrors.overrideNotJson, { text, why: error.message }, error)
  }
}

/** JSON without numbers that lose digits on their way. */
function withDigits(json: ExactJson): unknown {
  if (typeof json === 'bigint') return { decimal: json.toString() }
  if (json instanceof NumberText) return { decimal: json.text }
  if (Array.isArray(json)) return (json as readonly ExactJson[]).map(withDigits)
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(Object.entries(json).map(([field, item]) => [field, withDigits(item as ExactJson)]))
}

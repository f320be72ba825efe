/** Writes JSON that `parseExactJson` has read. */
import { type ExactJson, NumberText } from '../base/json.ts'

/** JSON text with all digits of its numbers. */
export function exactText(json: ExactJson): string {
  if (typeof json === 'bigint') return json.toString()
  if (Array.isArray(json)) return `[${(json as readonly ExactJson[]).map(exactText).join(',')}]`
  if (typeof json !== 'object' || json === null) return JSON.stringify(json)
  if (json instanceof NumberText) return json.text
  return `{${Object.entries(json)
    .map(([key, item]) => `${JSON.stringify(key)}:${exactText(item as ExactJson)}`)
    .join(',')}}`
}

/** Values in error texts of verifiers, which contain the internal representation of live nodes. */

import { compareText } from '#language/contracts/values/compare.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import { showValue } from '#language/contracts/values/print.ts'
import { Unit, type Value } from '#language/contracts/values/value.ts'

/** Text of a literal, or of a list or object of literals. The language formats all other values. */
export function shownValue(value: Value): string {
  if (typeof value === 'string') return literal(`LString {_lString = ${JSON.stringify(value)}}`)
  if (typeof value === 'bigint') return literal(`LInteger {_lInteger = ${negativeInBrackets(String(value))}}`)
  if (value instanceof Decimal) return literal(`LDecimal {_lDecimal = ${negativeInBrackets(String(value))}}`)
  if (typeof value === 'boolean') return literal(`LBool {_lBool = ${value ? 'True' : 'False'}}`)
  if (value instanceof Unit) return 'PLiteral LUnit'
  if (Array.isArray(value)) return `PList [${value.map(shownValue).join(',')}]`
  if (value instanceof Map) {
    const fields = [...(value as ReadonlyMap<string, Value>)].sort(([one], [other]) => compareText(one, other))
    const shown = fields.map(([field, item]) => `(Field {_field = ${JSON.stringify(field)}},${shownValue(item)})`)
    return `PObject (fromList [${shown.join(',')}])`
  }
  return showValue(value)
}

const literal = (text: string) => `PLiteral (${text})`

const negativeInBrackets = (number: string) => (number.startsWith('-') ? `(${number})` : number)

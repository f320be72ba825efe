/** Places of errors in results, as people read them. */
import { expect, it } from 'vitest'
import { placeText } from '../../src/ground/base/printable.ts'

it.each([
  [`coin.debit.{${'a'.repeat(43)}}:12`, ' (in coin.debit, line 13)'],
  ['free.token.pay:0', ' (in free.token.pay)'],
  ['<toplevel>:3', ' (line 4)'],
  ['<toplevel>:0', ''],
  ['', ''],
  [null, ''],
  [undefined, ''],
])('the text of place %j is %j', (place, text) => {
  expect(placeText(place)).toBe(text)
})

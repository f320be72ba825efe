/** Pages of lists, as miningcore has them: `page` counts from 0, and has `pageSize` items. */
import { printable } from '#ground/base/printable.ts'

const MAX_PAGE = 1_000
const MAX_PAGES = 1_000_000

/**
 * Selects the page of a request.
 * @param query the query of the request
 * @param usualSize page size if the request names none
 * @throws an error with status 400
 */
export function selectPage<T>(items: readonly T[], query: unknown, usualSize: number): readonly T[] {
  const { page, pageSize } = query as Readonly<Record<string, unknown>>
  const size = Math.max(1, wholeNumber('pageSize', pageSize, MAX_PAGE, usualSize))
  const from = wholeNumber('page', page, MAX_PAGES, 0) * size
  return items.slice(from, from + size)
}

function wholeNumber(name: string, text: unknown, max: number, usual: number): number {
  if (text === undefined) return usual
  if (typeof text === 'string' && /^\d{1,9}$/.test(text) && Number(text) <= max) return Number(text)
  const message = `${name}: expected a whole number from 0 to ${max}, not ${printable(String(text), 40)}`
  throw Object.assign(new Error(message), { statusCode: 400 })
}

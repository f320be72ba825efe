/** Paths of reads with their parameters. */
import type { ViewQuery } from '#ground/schema/view.ts'

/** The view without what grows. It is enough to see each reorg, because the head of the chain leaves it. */
export const HEADS_ONLY: ViewQuery = { heights: 1, newest: 0 }

/** Path with those parameters that are there. Empty texts count as none, except for keys and cursors. */
export function pathWith(
  path: string,
  parameters: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const given = Object.entries(parameters).filter(([name, value]) => {
    return value !== undefined && value !== null && (value !== '' || name === 'key' || name === 'next')
  })
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))
  return given.length === 0 ? path : `${path}?${query}`
}

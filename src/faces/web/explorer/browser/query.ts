/** Paths of reads with their parameters. */

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

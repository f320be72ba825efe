/** Places in code, as results of commands tell them. */

/**
 * ` (in coin.debit, line 13)`, without the module hash. Results count lines from 0, which also means unknown.
 * @param place `info` of an error, such as `coin.debit.{HASH}:12` or `<toplevel>:3`
 * @returns empty for a place that tells nothing
 */
export function placeText(place: string | null | undefined): string {
  const [, name, line] = /^(.*?)(?:\.\{[^}]*\})?:(\d+)$/.exec(place ?? '') ?? []
  const parts = [
    ...(name === undefined || name === '' || name === '<toplevel>' ? [] : [`in ${name}`]),
    ...(line === undefined || line === '0' ? [] : [`line ${Number(line) + 1}`]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

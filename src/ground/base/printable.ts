/** Sanitizes text from nodes, peers and files for terminals and logs. */

/** Maximum length of a line for people, in characters. Another machine must not fill a log with one answer. */
export const MAX_LINE_CHARACTERS = 2_000

/**
 * Converts text to one printable line of at most `maxCharacters`. Control characters, escape sequences, bidirectional
 * marks, line ends and invalid UTF-8 become spaces. A truncated line ends in `…`.
 */
export function printable(text: string, maxCharacters = MAX_LINE_CHARACTERS): string {
  // Truncate first: the text may have megabytes.
  const start = text.slice(0, 4 * maxCharacters)
  const line = start.replace(/[\p{C}\s\uFFFD]+/gu, ' ').trim()
  const isWhole = !/[^\p{C}\s\uFFFD]/u.test(text.slice(4 * maxCharacters))
  if (line.length <= maxCharacters && isWhole) return line
  // Not half of a character that takes two places.
  return `${line.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/**
 * ` (in coin.debit, line 13)`, without the module hash. Results count lines from 0, which also means unknown.
 * @param place `info` of an error, such as `coin.debit.{HASH}:12` or `<toplevel>:3`
 * @returns empty for an unknown place
 */
export function placeText(place: string | null | undefined): string {
  const [, name, line] = /^(.*?)(?:\.\{[^}]*\})?:(\d+)$/.exec(place ?? '') ?? []
  const parts = [
    ...(name === undefined || name === '' || name === '<toplevel>' ? [] : [`in ${name}`]),
    ...(line === undefined || line === '0' ? [] : [`line ${Number(line) + 1}`]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

/** Text that somebody else wrote (a node, a peer, a file), made fit for a terminal and a log. */

/** Most characters of one line that people read. */
export const MAX_LINE_CHARACTERS = 2_000

/**
 * One line of printable text, at most `maxCharacters` long. Control characters, escape sequences, marks that change the
 * direction of writing, line ends, and bytes that were no UTF-8 become a space; text that is too long ends in `…`.
 */
export function printable(text: string, maxCharacters = MAX_LINE_CHARACTERS): string {
  // Cut first: the text may have megabytes.
  const line = text
    .slice(0, 4 * maxCharacters)
    .replace(/[\p{C}\s\uFFFD]+/gu, ' ')
    .trim()
  return line.length <= maxCharacters ? line : `${line.slice(0, maxCharacters - 1)}…`
}

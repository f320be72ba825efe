/** Sanitizes text from nodes, peers and files for terminals and logs. */

/** Maximum length of a line for people, in characters. */
export const MAX_LINE_CHARACTERS = 2_000

/**
 * Converts text to one printable line of at most `maxCharacters`. Control characters, escape sequences, bidirectional
 * marks, line ends and invalid UTF-8 become spaces. A truncated line ends in `…`.
 */
export function printable(text: string, maxCharacters = MAX_LINE_CHARACTERS): string {
  // Truncate first: the text may have megabytes.
  const line = text
    .slice(0, 4 * maxCharacters)
    .replace(/[\p{C}\s\uFFFD]+/gu, ' ')
    .trim()
  return line.length <= maxCharacters ? line : `${line.slice(0, maxCharacters - 1)}…`
}

/** A section of a help text. */

export const INDENT = '  '

/** A heading, and lines below it. */
export const section = (heading: string, lines: readonly string[]): string =>
  `${heading}:\n${lines.map((line) => INDENT + line).join('\n')}`

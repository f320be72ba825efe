/** The YAML library, loaded on first use: most runs read no file, and its 70 modules take 30 ms and 8 MB. */
import { createRequire } from 'node:module'

export const yaml = () => createRequire(import.meta.url)('yaml') as typeof import('yaml')

/**
 * Parses a text. A warning, such as an unknown tag, is a problem too: the value would be a guess.
 * @returns the document, its lines, and the first problem as a sentence, or null
 */
export function parseYaml(text: string) {
  const { LineCounter, parseDocument } = yaml()
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const [error] = [...document.errors, ...document.warnings]
  const reason = error?.message.split('\n')[0].replace(/:$/, '') ?? ''
  const problem = error === undefined ? null : { line: error.linePos?.[0].line ?? null, reason }
  return { document, lines, problem }
}

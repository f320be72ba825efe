/** JSON text for people, without reading its values: every number stays as it was spelled. */

const INDENT = '  '

/** The text with line breaks and indentation; as it is, where it is no JSON. */
export function indented(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  let [depth, out] = [0, '']
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g)) {
    if (token === '{' || token === '[') out += `${token}\n${INDENT.repeat(++depth)}`
    else if (token === '}' || token === ']') out = `${closed(out, --depth)}${token}`
    else if (token === ',') out += `,\n${INDENT.repeat(depth)}`
    else out += token === ':' ? ': ' : token
  }
  return out
}

/** What stands before a closing bracket: nothing is put between the brackets of an empty value. */
function closed(out: string, depth: number): string {
  const trimmed = out.trimEnd()
  return /[[{]$/.test(trimmed) ? trimmed : `${trimmed}\n${INDENT.repeat(depth)}`
}

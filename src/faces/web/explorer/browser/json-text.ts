/** Formats JSON text without parsing its values, so every number keeps its spelling. */

const INDENT = '  '

/** Indents the text. Returns it unchanged if it is not JSON. */
export function indent(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  let [depth, out] = [0, '']
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g)) {
    if (token === '{' || token === '[') out += `${token}\n${INDENT.repeat(++depth)}`
    else if (token === '}' || token === ']') out = `${closeAt(out, --depth)}${token}`
    else if (token === ',') out += `,\n${INDENT.repeat(depth)}`
    else out += token === ':' ? ': ' : token
  }
  return out
}

/** Whitespace before a closing bracket; none in an empty value. */
function closeAt(out: string, depth: number): string {
  const trimmed = out.trimEnd()
  return /[[{]$/.test(trimmed) ? trimmed : `${trimmed}\n${INDENT.repeat(depth)}`
}

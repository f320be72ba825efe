/** Names of parameters in TypeScript. */

/** Words that cannot name a parameter in strict code. */
const RESERVED = new Set(
  (
    'await break case catch class const continue debugger default delete do else enum export extends false finally for ' +
    'function if implements import in instanceof interface let new null package private protected public return static ' +
    'super switch this throw true try typeof var void while with yield arguments eval'
  ).split(' '),
)

/** A different name for each parameter: `sender-id` becomes `senderId`, `new` becomes `new_`. */
export function labelParameters(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    const camel = name.replaceAll(/[^A-Za-z0-9_$]+([A-Za-z0-9])?/g, (_, next?: string) => next?.toUpperCase() ?? '')
    const plain = camel === '' || /^\d/.test(camel) ? `_${camel}` : camel
    let label = RESERVED.has(plain) ? `${plain}_` : plain
    for (let n = 2; taken.has(label); n++) label = `${plain}${n}`
    taken.add(label)
    return label
  })
}

/** Text order. */

/** Compares by code point, as the language orders strings and fields. JavaScript compares by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return weight(x) - weight(y)
  }
  return a.length - b.length
}

/** Ranks surrogates above all single-unit code points. */
function weight(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

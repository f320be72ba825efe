/** Text order. */

/** Compares by code point, as the language orders strings and fields. JavaScript compares by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = commonPieces(a, b, length); i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return weight(x) - weight(y)
  }
  return a.length - b.length
}

/** Pieces that the engine compares at once: more than a comparison by unit costs. */
const PIECE = 256

/** Length of the pieces at the beginning that are equal in both. */
function commonPieces(a: string, b: string, length: number): number {
  let at = 0
  while (at + PIECE <= length && a.slice(at, at + PIECE) === b.slice(at, at + PIECE)) at += PIECE
  return at
}

/** Ranks surrogates above all single-unit code points. */
function weight(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

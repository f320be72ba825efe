/** Search for a text within a text, in linear time. */

/** The search of the engine is used for up to so many steps per character: it is fast but for texts made against it. */
const FEW_STEPS = 16

/** True if `whole` contains `part`. */
export function holdsText(whole: string, part: string): boolean {
  const places = whole.length - part.length + 1
  if (places <= 0) return false
  // At worst it compares the part at every place.
  if (Math.min(part.length, places) <= FEW_STEPS) return whole.includes(part)
  return findsPart(whole, part, borders(part))
}

/** Length of the longest border (a proper prefix that is also a suffix) of each prefix. */
function borders(part: string): Int32Array {
  const lengths = new Int32Array(part.length)
  let border = 0
  for (let at = 1; at < part.length; at++) {
    const unit = part.charCodeAt(at)
    while (border > 0 && part.charCodeAt(border) !== unit) border = lengths[border - 1]
    if (part.charCodeAt(border) === unit) border++
    lengths[at] = border
  }
  return lengths
}

/** Search by Knuth, Morris and Pratt. */
function findsPart(whole: string, part: string, lengths: Int32Array): boolean {
  let found = 0
  for (let at = 0; at < whole.length; at++) {
    const unit = whole.charCodeAt(at)
    while (found > 0 && part.charCodeAt(found) !== unit) found = lengths[found - 1]
    if (part.charCodeAt(found) === unit) found++
    if (found === part.length) return true
  }
  return false
}

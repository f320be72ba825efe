/**
 * Seals of the journal's lines. The last property of a line is its seal:
 *
 *     {"at":"2026-11-29T12:00:00.000Z","hash":"..","step":"credited","seal":"2.1c0ffee0"}
 *
 * `2` is the version, after that of the sealed log (base/sealed-log.ts). The rest is the MurmurHash3 (32 bits, seed 0,
 * hexadecimal) of all bytes before it. Each of its steps is a bijection, so a seal finds every flip within four
 * bytes. A line is sealed alone: two miners may write one file, and no payment depends on the order of its lines.
 *
 * A journal of a million solutions has six million lines. SHA-256 of each takes 9 to 17 times as long as this seal. Lines
 * of an earlier newcut have none.
 */

const SEAL_START = ',"seal":"2.'
const SEAL_END = '"}'
const QUOTE = 0x22
const BRACE = 0x7d
const DIGITS = 8
const NO_SEAL = '0'.repeat(DIGITS)
/** Bytes from the comma before the seal to the end of the line. */
const SEAL_BYTES = SEAL_START.length + DIGITS + SEAL_END.length
const SEALED = /,"seal":"2\.([0-9a-f]{8})"\}$/

/**
 * Seals a line.
 * @param text a JSON object with a property
 * @returns the line with its newline
 */
export function sealJournalLine(text: string): Uint8Array {
  const line = Buffer.from(`${text.slice(0, -1)}${SEAL_START}${NO_SEAL}${SEAL_END}\n`)
  const digits = line.length - DIGITS - SEAL_END.length - 1
  const seal = murmur3(new DataView(line.buffer, line.byteOffset, line.length), 0, digits)
  line.write(seal.toString(16).padStart(DIGITS, '0'), digits, 'latin1')
  return line
}

/**
 * The text of a line without its seal; the whole text if it has none.
 * @param line without its newline
 * @returns null if the seal does not fit
 */
export function unsealJournalLine(line: Uint8Array): string | null {
  const { buffer, byteOffset, length } = line
  const text = Buffer.from(buffer, byteOffset, length)
  const match = SEALED.exec(text.toString('latin1', Math.max(0, length - SEAL_BYTES)))
  if (match === null) return text.toString()
  const covered = length - SEAL_END.length - DIGITS
  if (murmur3(new DataView(buffer, byteOffset, length), 0, covered) !== Number.parseInt(match[1], 16)) return null
  return `${text.toString('utf8', 0, length - SEAL_BYTES)}}`
}

/**
 * Whether a line ends with a seal that fits.
 * @param text has one character for each byte of `view`
 * @param end index of the newline
 */
export function isSealedLine(text: string, view: DataView, from: number, end: number): boolean {
  const digits = end - SEAL_END.length - DIGITS
  // The seal covers its name too, so these two characters are enough. A comparison of texts takes as long as the seal.
  if (digits <= from || text.charCodeAt(end - 2) !== QUOTE || text.charCodeAt(end - 1) !== BRACE) return false
  return murmur3(view, from, digits - from) === hexAt(text, digits)
}

/** The number of eight hexadecimal digits in lower case; -1 for other characters. */
function hexAt(text: string, from: number): number {
  let value = 0
  for (let at = from; at < from + DIGITS; at++) {
    const code = text.charCodeAt(at)
    const digit = code < 0x3a ? code - 0x30 : code < 0x61 ? -1 : code - 0x57
    if (digit < 0 || digit > 15) return -1
    value = (value << 4) | digit
  }
  return value >>> 0
}

/** MurmurHash3 for 32 bits, with seed 0: Austin Appleby's MurmurHash3_x86_32. */
export function murmur3(view: DataView, from: number, length: number): number {
  let hash = 0
  const end = from + length
  const words = end - (length & 3)
  for (let at = from; at < words; at += 4) {
    hash ^= mixWord(view.getUint32(at, true))
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
  }
  let rest = 0
  for (let at = end - 1; at >= words; at--) rest = (rest << 8) | view.getUint8(at)
  hash ^= mixWord(rest) ^ length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function mixWord(word: number): number {
  const product = Math.imul(word, 0xcc9e2d51)
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593)
}

/** Sanitizes text from nodes, peers and files for terminals and logs, and shortens values of traces for readers. */

/** Maximum length of a line for people, in characters. Another machine must not fill a log with one answer. */
export const MAX_LINE_CHARACTERS = 2_000

/**
 * Converts text to one printable line of at most `maxCharacters`. Control characters, escape sequences, bidirectional
 * marks, line ends and invalid UTF-8 become spaces. A truncated line ends in `…`.
 */
export function printable(text: string, maxCharacters = MAX_LINE_CHARACTERS): string {
  // Truncate first: the text may have megabytes.
  const start = text.slice(0, 4 * maxCharacters)
  const line = start.replace(/[\p{C}\s\uFFFD]+/gu, ' ').trim()
  const isWhole = !/[^\p{C}\s\uFFFD]/u.test(text.slice(4 * maxCharacters))
  if (line.length <= maxCharacters && isWhole) return line
  // Not half of a character that takes two places.
  return `${line.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/**
 * ` (in coin.debit, line 13)`, without the module hash. Results count lines from 0, which also means unknown.
 * @param place `info` of an error, such as `coin.debit.{HASH}:12` or `<toplevel>:3`
 * @returns empty for an unknown place
 */
export function placeText(place: string | null | undefined): string {
  const [, name, line] = /^(.*?)(?:\.\{[^}]*\})?:(\d+)$/.exec(place ?? '') ?? []
  const parts = [
    ...(name === undefined || name === '' || name === '<toplevel>' ? [] : [`in ${name}`]),
    ...(line === undefined || line === '0' ? [] : [`line ${Number(line) + 1}`]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

/** Characters of a key or a hash that stay. */
const KEY_START = 8
/** Maximum characters of a value. */
const MAX_CHARACTERS = 80
/** Nodes cut values at this length, and end them with an ellipsis. */
const NODE_CHARACTERS = 256

/** Public keys, those of WebAuthn too, and principals such as `k:KEY` and `c:HASH`. */
const KEY = new RegExp(`(?<![\\w-])((?:WEBAUTHN-)?[0-9a-f]{${KEY_START}})[0-9a-f]{56,}(?![\\w-])`, 'g')
const PRINCIPAL = new RegExp(`(?<![\\w-])([a-z]:[\\w-]{${KEY_START}})[\\w-]{35}(?![\\w-])`, 'g')
/** A string, in which nothing is taken for a keyset, or a keyset. */
const STRING_OR_KEYSET = /"(?:[^"\\]|\\.)*"?|KeySet (\{keys: \[[^\]]*\],pred: [^}]*\})/gs

/** Parts of a transaction that pay for its code. */
const GAS_PARTS: ReadonlySet<string> = new Set(['buy gas', 'redeem gas'])

/** Whether a step below the root is buying or redeeming gas, without an error. */
export function isGasPart({ name, error }: { readonly name: string; readonly error?: string | undefined }): boolean {
  return error === undefined && GAS_PARTS.has(name)
}

/** Shortens the values of one trace. */
export class ShortValues {
  /** Keyset -> its name, in the order of their first appearance. */
  readonly keysets = new Map<string, string>()

  /** @param text a value in source form */
  shorten(text: string): string {
    const short = text.replace(STRING_OR_KEYSET, (part, keyset?: string) =>
      keyset === undefined ? shortenKeys(part) : this.#nameKeyset(keyset),
    )
    return short.length > MAX_CHARACTERS ? `${startOf(short)}… (${lengthOf(text)} characters)` : short
  }

  /** The name of a keyset. Its first appearance also has the keyset. */
  #nameKeyset(keyset: string): string {
    const known = this.keysets.get(keyset)
    if (known !== undefined) return known
    const name = `KeySet#${this.keysets.size + 1}`
    this.keysets.set(keyset, name)
    return `${name} ${shortenKeys(keyset)}`
  }
}

function shortenKeys(text: string): string {
  return text.replace(KEY, '$1…').replace(PRINCIPAL, '$1…')
}

/** The first characters, without half of a character that takes two places. */
function startOf(text: string): string {
  return text.slice(0, MAX_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')
}

function lengthOf(text: string): string {
  return text.length >= NODE_CHARACTERS - 1 && text.endsWith('…') ? `over ${text.length - 1}` : String(text.length)
}

/**
 * Headers below the pinned block of a chain. A header names only its parent, so only all headers above it prove it.
 * newcut fetches them from the pin downwards. Each must be the parent of the one before.
 */
import { decodeBase64Url, decodeHash, encodeBase64Url, equalBytes } from '#ground/base/bytes.ts'
import { FormatError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import { parseJson } from '#ground/base/json.ts'
import { decodeHeader, encodeHeader, type Header } from '#ground/chain/header.ts'
import type { CopyEntries, EntrySource } from './entries.ts'
import { copyErrors } from './errors.ts'
import { fetchHeader, headerIn, networkPath, refusalError } from './pin.ts'
import type { PinnedCaller } from './pinned-caller.ts'
import { excerpt } from './remote-node.ts'

/** Maximum number of headers that nodes put into one page. */
const PAGE = 360

export class AncestorHeaders {
  readonly #caller: PinnedCaller
  readonly #entries: CopyEntries
  /** From the parent of the pinned block downwards. */
  readonly #bytes: Uint8Array[] = []
  /** Hash in base64url -> height. */
  readonly #heights = new Map<string, number>()
  /** The lowest header that is known. */
  #lowest: Pick<Header, 'height' | 'parent' | 'hash'>
  #reaching: Promise<void> = Promise.resolve()

  /** @param pinned header of the pinned block */
  constructor(caller: PinnedCaller, entries: CopyEntries, pinned: Header) {
    this.#caller = caller
    this.#entries = entries
    this.#lowest = pinned
    for (let height = Number(pinned.height) - 1; ; height--) {
      const header = entries.branch.get(String(height))
      if (header === undefined) break
      this.#add(decodeBase64Url(header, 'header'), height)
    }
    if (this.#bytes.length > 0) this.#lowest = decodeHeader(this.#bytes[this.#bytes.length - 1])
  }

  /**
   * The encoded header at a height of the branch.
   * @throws RangeError if it is not fetched yet
   */
  at(height: number): Uint8Array {
    const index = this.#caller.block.height - 1 - height
    if (!(index >= 0 && index < this.#bytes.length)) throw new RangeError(`no header at height ${height}`)
    return this.#bytes[index]
  }

  /** Height of a fetched header of the branch. @param hash base64url */
  heightOf(hash: string): number | undefined {
    return this.#heights.get(hash)
  }

  /**
   * Fetches the headers of the branch down to a height.
   * @throws NewcutError if the node does not return them, or returns others
   */
  fetchDownTo(height: number): Promise<void> {
    const reaching = this.#reaching.catch(() => undefined).then(() => this.#fetch(height))
    this.#reaching = reaching
    return reaching
  }

  /**
   * Any header at or below the height of the pin by its hash, orphans of the node included: its hash proves it.
   * @returns null if the node has none, or one above the pin
   * @throws NewcutError if the node does not answer, or answers with another header
   */
  async byHash(hash: string): Promise<Header | null> {
    const { remote, block } = this.#caller
    if (!isHash(hash)) return null
    const cached = this.#entries.headerBytes.get(hash)
    if (cached !== undefined) return decodeHeader(decodeBase64Url(cached, 'header'))
    const path = `${networkPath(block.network)}/chain/${block.chain}/header/${encodeURIComponent(hash)}`
    const { status, text } = await remote.get(path)
    if (status === 404) return null
    if (status !== 200) throw refusalError(remote, `the header ${hash}`, status, text)
    const header = headerIn(parseJson(text))
    if (header === null || encodeBase64Url(header.hash) !== hash || header.chainId !== block.chain) {
      throw this.#misbehaviourError(`another header than ${hash} of chain ${block.chain}: ${excerpt(text)}`)
    }
    if (Number(header.height) > block.height) return null
    this.#entries.headerBytes.put(hash, encodeBase64Url(encodeHeader(header)))
    this.#entries.save()
    return header
  }

  async #fetch(height: number): Promise<void> {
    while (Number(this.#lowest.height) > height) {
      for (const header of await this.#page(height)) {
        const bytes = encodeHeader(header)
        this.#add(bytes, Number(header.height))
        this.#entries.branch.put(String(header.height), encodeBase64Url(bytes))
        this.#lowest = header
      }
      this.#entries.save()
    }
  }

  #add(bytes: Uint8Array, height: number): void {
    this.#bytes.push(bytes)
    this.#heights.set(encodeBase64Url(bytes.subarray(bytes.length - 32)), height)
  }

  /** The headers below the lowest one, as many as the node puts into a page. All of them are checked. */
  async #page(height: number): Promise<readonly Header[]> {
    const { remote, block } = this.#caller
    const { network, chain } = block
    const highest = Number(this.#lowest.height) - 1
    const range = `minheight=${Math.max(height, highest - PAGE + 1)}&maxheight=${highest}&limit=${PAGE}`
    const path = `${networkPath(network)}/chain/${chain}/header/branch?${range}`
    const { status, text } = await remote.post(path, { upper: [encodeBase64Url(this.#lowest.hash)], lower: [] })
    if (status !== 200)
      throw refusalError(remote, `headers of chain ${chain} below height ${highest + 1}`, status, text)
    const headers = itemsIn(text)
    if (headers === null || headers.length === 0) {
      throw this.#misbehaviourError(`no headers of chain ${chain} below height ${highest + 1}: ${excerpt(text)}`)
    }
    let above = this.#lowest
    for (const header of headers) {
      const isNext = equalBytes(header.hash, above.parent) && header.height === above.height - 1n
      if (!isNext || header.chainId !== chain || header.height < height) {
        const at = Number(above.height) - 1
        throw this.#misbehaviourError(
          `a header of chain ${chain} at height ${at} that does not lead to the pinned block`,
        )
      }
      above = header
    }
    return headers
  }

  #misbehaviourError(what: string): NewcutError {
    return operatingError(copyErrors.wrongAnswer, { url: this.#caller.remote.url, what })
  }
}

/** @returns null for anything but headers that have their own hashes */
function itemsIn(text: string): readonly Header[] | null {
  const { items } = (parseJson(text) ?? {}) as { readonly items?: unknown }
  if (!Array.isArray(items)) return null
  const headers = items.map(headerIn)
  return headers.every((header) => header !== null) ? headers : null
}

/** Whether the text encodes 32 bytes: not all of 43 characters do. */
function isHash(text: string): boolean {
  try {
    return decodeHash(text).length === 32
  } catch (error) {
    if (error instanceof FormatError) return false
    throw error
  }
}

/**
 * Caches the height of a header, or false if it is above the pin, on another branch, or unknown to the node.
 * @throws NewcutError if the node refuses, or returns a wrong header
 */
export async function fetchAncestor({ caller, entries }: EntrySource, hash: string): Promise<void> {
  const { network, chain, height, hash: pinned } = caller.block
  const { status, text } = await caller.remote.get(
    `${networkPath(network)}/chain/${chain}/header/${encodeURIComponent(hash)}`,
  )
  if (status !== 200 && status !== 404) throw refusalError(caller.remote, `the header ${hash}`, status, text)
  const at = status === 200 ? heightIn(text) : null
  if (at === null || at > height) entries.headers.put(hash, false)
  else {
    const found = await fetchHeader(caller.remote, network, chain, { height: at, head: pinned })
    entries.headers.put(hash, encodeBase64Url(found.hash) === hash ? at : false)
  }
}

/** Height in a header, as base64url of its bytes or as an object. */
function heightIn(text: string): number | null {
  const json = parseJson(text)
  if (typeof json === 'string') {
    // The height stands 32 + 8 + 8 + 4 + 8 bytes before the end: hash, nonce, epoch start, version, itself.
    const bytes = Buffer.from(json, 'base64url')
    return bytes.length < 60 ? null : Number(bytes.readBigUInt64LE(bytes.length - 60))
  }
  const { height } = (json ?? {}) as { readonly height?: unknown }
  return typeof height === 'number' ? height : null
}

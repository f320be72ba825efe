/** Reads the headers of a cut, with a cache of known ones. */

import type { NodeClient } from '#client/node/client.ts'
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { Header } from '#ground/chain/header.ts'
import type { ChainView } from './choice.ts'
import { limiter } from './limit.ts'

/** Maximum number of concurrent requests: work and solutions have priority. */
const MAX_READS = 4

interface KnownHead {
  readonly header: Header
  readonly id: string
}

export class HeadReader {
  readonly #client: NodeClient
  readonly #limit = limiter(MAX_READS)
  /** Chain -> its newest head. */
  readonly #heads = new Map<number, KnownHead>()
  /** Chain -> the head before, because a neighbour that is ahead refers to it. */
  readonly #former = new Map<number, KnownHead>()

  constructor(client: NodeClient) {
    this.#client = client
  }

  /**
   * Reads the headers of these heads.
   * @param heads chain -> its head, with a base64url hash
   * @throws NewcutError, or the reason of the signal
   */
  async read(heads: ReadonlyMap<number, { readonly hash: string }>, signal: AbortSignal): Promise<ChainView> {
    const { info, network } = this.#client
    const chains = info.nodeChains.map(Number)
    await Promise.all(chains.map((chain) => this.#readHead(chain, heads.get(chain)?.hash, signal)))
    return {
      network: network.network,
      cut: new Map([...this.#heads].map(([chain, { header }]) => [chain, header])),
      headers: new Map([...this.#former.values(), ...this.#heads.values()].map(({ id, header }) => [id, header])),
    }
  }

  /** The header with this hash, if it is a newest head or the one before. */
  headerOf(hash: Uint8Array): Header | undefined {
    const id = encodeBase64Url(hash)
    return [...this.#heads.values(), ...this.#former.values()].find((head) => head.id === id)?.header
  }

  async #readHead(chain: number, id: string | undefined, signal: AbortSignal): Promise<void> {
    const known = this.#heads.get(chain)
    if (id === undefined) this.#heads.delete(chain)
    if (id === undefined || known?.id === id) return
    const header = await this.#limit(() => this.#client.header(chain, id, { signal }))
    if (known !== undefined) this.#former.set(chain, known)
    this.#heads.set(chain, { header, id })
  }
}

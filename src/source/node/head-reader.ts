/** Reads the heads of all chains: the cut, and those headers of it that were not read before. */
import { encodeBase64Url } from '../../core/bytes.ts'
import type { Clock } from '../../core/clock.ts'
import type { Header } from '../../core/header.ts'
import type { NodeClient } from '../../node/client.ts'
import { networkOf } from '../../node/verify-network.ts'
import type { ChainView } from './choice.ts'
import { limiter } from './limit.ts'

/** Most headers that are asked for at once: work and solutions come first. */
const MAX_READS = 4

interface SeenHead {
  readonly header: Header
  readonly id: string
}

export class HeadReader {
  readonly #client: NodeClient
  readonly #clock: Clock
  readonly #limited = limiter(MAX_READS)
  /** Chain -> its newest head. */
  readonly #heads = new Map<number, SeenHead>()
  /** Chain -> the head before: a neighbour that is ahead is referred to by its parent. */
  readonly #former = new Map<number, SeenHead>()

  constructor(client: NodeClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** Throws NewcutError, or the reason of the signal. */
  async read(signal: AbortSignal): Promise<ChainView> {
    const startMs = this.#clock.monotonicMs()
    const { hashes } = await this.#client.cut({ signal })
    const askedMs = this.#clock.monotonicMs() - startMs
    const { info, graphHistory } = this.#client
    const chains = info.nodeChains.map(Number)
    await Promise.all(chains.map((chain) => this.#readHead(chain, hashes[chain]?.hash, signal)))
    const { network } = networkOf({ info, graphHistory })
    return {
      network,
      askedMs,
      cut: new Map([...this.#heads].map(([chain, { header }]) => [chain, header])),
      headers: new Map([...this.#former.values(), ...this.#heads.values()].map(({ id, header }) => [id, header])),
    }
  }

  /** The header with this hash, if it is among the heads that were read last or the ones before. */
  known(hash: Uint8Array): Header | undefined {
    const id = encodeBase64Url(hash)
    return [...this.#heads.values(), ...this.#former.values()].find((head) => head.id === id)?.header
  }

  async #readHead(chain: number, id: string | undefined, signal: AbortSignal): Promise<void> {
    const known = this.#heads.get(chain)
    if (id === undefined) this.#heads.delete(chain)
    if (id === undefined || known?.id === id) return
    const header = await this.#limited(() => this.#client.header(chain, id, { signal }))
    if (known !== undefined) this.#former.set(chain, known)
    this.#heads.set(chain, { header, id })
  }
}

/** A node under full control of the test. */
import { NewcutError } from '../../src/ground/base/errors.ts'
import type { Work } from '../../src/ground/chain/work.ts'
import type { BlockPosition, MiningNode, NewsHandlers } from '../../src/mining/source/node/mining-node.ts'

interface Deferred<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

export class ScriptedNode implements MiningNode {
  readonly url = 'http://node.test'
  readonly description = 'scripted'
  readonly workBytes = 286
  readonly chains: readonly number[]
  /** Pending requests for work, oldest first, with the requested chain. */
  readonly asked: (Deferred<Work> & { readonly chain: number | null; readonly signal: AbortSignal })[] = []
  readonly submitted: Uint8Array[] = []
  readonly handlers = new Map<number, NewsHandlers>()
  /** Breaks a connection that should have stayed open. */
  lose: () => void = () => undefined
  onSubmit: (attempt: number) => Promise<void> = async () => undefined
  place: () => Promise<BlockPosition> = async () => ({ kind: 'on-chain', depth: 1 })
  refusal: NewcutError | null = null

  constructor(chains = 3) {
    this.chains = Array.from({ length: chains }, (_, chain) => chain)
  }

  forkVote(): null {
    return null
  }

  work(chain: number | null, signal: AbortSignal): Promise<Work> {
    return new Promise((resolve, reject) => {
      const request = { chain, signal, resolve, reject }
      this.asked.push(request)
      signal.addEventListener('abort', () => {
        if (this.asked.includes(request)) this.asked.splice(this.asked.indexOf(request), 1)
        reject(signal.reason)
      })
    })
  }

  async submit(bytes: Uint8Array): Promise<void> {
    this.submitted.push(bytes)
    await this.onSubmit(this.submitted.length)
  }

  followNews(chain: number, handlers: NewsHandlers): void {
    this.handlers.set(chain, handlers)
  }

  onLost(run: () => void): void {
    this.lose = run
  }

  positionOf = () => this.place()
  cut: MiningNode['cut'] = async () => new Map()
  branch: MiningNode['branch'] = async () => ({ head: -1, ids: new Map() })
  findFinalRefusal = async () => this.refusal

  /** Answers the oldest request. */
  answer(work: Work): void {
    this.asked.shift()?.resolve(work)
  }

  /** Fails the oldest request. */
  fail(message = 'connection refused'): void {
    this.asked.shift()?.reject(new NewcutError('NODE_UNREACHABLE', message))
  }
}

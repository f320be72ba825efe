/**
 * What the page for developers shows, whole or as a stream of changes. Nothing is looked at while nobody watches; then
 * the node is looked at in short intervals, so that thousands of blocks a second cost no more than a few.
 */
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../../core/clock.ts'
import { MAX_VIEW_STREAMS, type NetworkView, type NodeView, type RequestView } from '../../../schema/view.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Mempools } from '../../mempool/mempools.ts'
import type { Chains } from '../../rules/chains.ts'
import { openEventStream } from '../app.ts'
import { Broadcast } from '../stream/broadcast.ts'
import { Balances, blockView, headsOf, lowestShown, shownBlocks } from './chain-view.ts'
import { ExecutedCommands, PoolWatch } from './command-view.ts'
import type { RequestLog } from './request-log.ts'

/** How often changes are told. */
const INTERVAL_MS = 100

export interface LiveViewOptions {
  readonly chains: Chains
  readonly ledger: Ledger
  readonly pools: Mempools
  readonly requests: RequestLog
  readonly clock: Clock
  /** What stays as it is, but for the block delay. */
  readonly network: Omit<NetworkView, 'blockDelayMs'>
  /** What is set by hand. */
  readonly status: () => NonNullable<NodeView['status']>
  /** Whose balances are shown. */
  readonly accounts: readonly string[]
}

/** The parts of the view that are told as a whole when they change. */
type Whole = Omit<NodeView, 'blocks' | 'requests'>

export class LiveView {
  readonly #options: LiveViewOptions
  readonly #balances: Balances
  readonly #pools: PoolWatch
  readonly #executed: ExecutedCommands
  readonly #own = new Broadcast(openEventStream)
  readonly #others = new Broadcast(openEventStream)
  /** Section -> its JSON text as it was told last. */
  readonly #told = new Map<string, string>()
  /** How many blocks of the store were told. */
  #blocks = 0
  #request = 0
  #cancel = () => undefined as unknown

  constructor(options: LiveViewOptions) {
    const { chains, ledger, accounts, pools } = options
    this.#options = options
    this.#balances = new Balances(chains, ledger, accounts)
    this.#pools = new PoolWatch(pools, chains.chainIds)
    this.#executed = new ExecutedCommands(chains)
  }

  get isFull(): boolean {
    return this.#readers >= MAX_VIEW_STREAMS
  }

  /** The whole view. `isOwn`: for a reader on this machine. */
  whole(isOwn: boolean): NodeView {
    this.#tell()
    const { chains, requests } = this.#options
    const { status, ...rest } = this.#sections()
    const blocks = shownBlocks(chains, lowestShown(chains)).map(blockView)
    return { ...rest, blocks, ...(isOwn && { status, requests: requests.since(0) }) }
  }

  /** Answers with a stream: the whole view first, then what changes. */
  open(reply: FastifyReply, isOwn: boolean): void {
    const text = JSON.stringify(this.whole(isOwn))
    const wasIdle = this.#readers === 0
    const onClose = () => {
      if (this.#readers === 0) this.#cancel()
    }
    const stream = (isOwn ? this.#own : this.#others).open(reply, onClose)
    stream.send(`event: view\ndata: ${text}\n\n`)
    if (wasIdle && this.#readers > 0) this.#wait()
  }

  stop(): void {
    this.#cancel()
    this.#pools.stop()
  }

  get #readers(): number {
    return this.#own.size + this.#others.size
  }

  #wait(): void {
    this.#cancel = this.#options.clock.after(INTERVAL_MS, () => {
      this.#tell()
      this.#wait()
    })
  }

  /** Tells all readers what has changed. */
  #tell(): void {
    // First the blocks: the commands in them are a section of their own.
    const blocks = this.#newBlocks()
    const { status, ...rest } = this.#sections()
    const parts = Object.entries(rest).map(([name, value]) => this.#changed(name, value))
    if (blocks !== '') parts.push(blocks)
    const forAll = parts.filter((part) => part !== '')
    // The clock always changes; its reader counts on from what it was told.
    const isStatusNew = this.#changed('own', { ...status, clock: status?.clock.aheadMs }) !== ''
    const requests = this.#newRequests()
    const forOwn = [
      ...forAll,
      ...(isStatusNew ? [`"status":${JSON.stringify(status)}`] : []),
      ...(requests.length > 0 ? [`"requests":${JSON.stringify(requests)}`] : []),
    ]
    if (forAll.length > 0) this.#others.send(eventOf(forAll))
    if (forOwn.length > 0) this.#own.send(eventOf(forOwn))
  }

  #sections(): Whole {
    const { chains, network, status } = this.#options
    return {
      network: { ...network, blockDelayMs: Number(chains.network.blockDelay) / 1000 },
      heads: headsOf(chains),
      pool: this.#pools.view,
      transactions: this.#executed.view,
      accounts: this.#balances.view,
      status: status(),
    }
  }

  /** `"name":JSON` of a section that is not as it was told; else an empty text. */
  #changed(name: string, value: unknown): string {
    const text = JSON.stringify(value)
    if (this.#told.get(name) === text) return ''
    this.#told.set(name, text)
    return `"${name}":${text}`
  }

  /** Blocks that were added since, as far as they are high enough to be shown. */
  #newBlocks(): string {
    const { chains } = this.#options
    const { store } = chains
    const [from, to] = [this.#blocks, store.size]
    this.#blocks = to
    if (from === to) return ''
    const lowest = lowestShown(chains)
    // At the first look, and after a pause, those that are shown are far fewer than those that were added.
    const isLong = to < from || to - from > 4 * chains.cut.size
    const added = isLong ? shownBlocks(chains, lowest).sort((a, b) => store.recordOf(a) - store.recordOf(b)) : []
    if (!isLong) for (let i = from; i < to; i++) added.push(store.at(i))
    const isNew = isLong && to > from ? added.filter((block) => store.recordOf(block) >= from) : added
    if (to < from) this.#executed.forget()
    this.#executed.add(isNew)
    const shown = isNew.filter(({ height }) => height >= lowest)
    return shown.length === 0 ? '' : `"blocks":${JSON.stringify(shown.map(blockView))}`
  }

  #newRequests(): RequestView[] {
    const { requests } = this.#options
    const added = requests.since(this.#request)
    this.#request = requests.newest
    return added
  }
}

const eventOf = (parts: readonly string[]) => `event: change\ndata: {${parts.join(',')}}\n\n`

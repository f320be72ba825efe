/**
 * Data of the page for developers, as a whole or as a stream of changes. The view reads nothing while nobody watches.
 * Otherwise it polls the node in short intervals, so that thousands of blocks a second cost no more than a few.
 */
import type { FastifyReply } from 'fastify'
import type { Clock } from '#ground/base/clock.ts'
import {
  MAX_VIEW_ITEMS,
  MAX_VIEW_STREAMS,
  type NetworkView,
  type NodeView,
  type PrintView,
  type RequestView,
  type ViewQuery,
} from '#ground/schema/view.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Mempools } from '../../mempool/mempools.ts'
import type { Chains } from '../../rules/chains.ts'
import type { Block } from '../../store/block-store.ts'
import { serveEventStream } from '../app.ts'
import { Broadcast } from '../stream/broadcast.ts'
import { Balances, blockView, branchesFrom, headsOf, lowestShown, shownBlocks } from './chain-view.ts'
import { ExecutedCommands, PoolWatch } from './command-view.ts'
import type { RequestLog } from './request-log.ts'

/** Interval between two events. */
const EVENT_INTERVAL_MS = 100

export interface LiveViewOptions {
  readonly chains: Chains
  readonly ledger: Ledger
  readonly pools: Mempools
  readonly requests: RequestLog
  readonly clock: Clock
  /** Constant properties of the network. */
  readonly network: Omit<NetworkView, 'blockDelayMs'>
  /** Settings changed by hand, and the mining mode. */
  readonly status: () => NonNullable<NodeView['status']>
  /** Accounts whose balances are shown. */
  readonly accounts: readonly string[]
}

/** Sections that an event repeats in full when they change. */
type RepeatedSections = Omit<NodeView, 'branches' | 'blocks' | 'requests' | 'prints'>

export class LiveView {
  readonly #options: LiveViewOptions
  readonly #balances: Balances
  readonly #pools: PoolWatch
  readonly #executed: ExecutedCommands
  readonly #own = new Broadcast(serveEventStream)
  readonly #others = new Broadcast(serveEventStream)
  /** Section -> its JSON text in the last event. */
  readonly #sentTexts = new Map<string, string>()
  /** Number of blocks of the store already sent. */
  #blocks = 0
  #request = 0
  #print = 0
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

  /** @param isOwn whether the reader is on this machine */
  viewFor(isOwn: boolean, { heights, newest = MAX_VIEW_ITEMS }: ViewQuery): NodeView {
    this.#sendChanges()
    const { chains, requests, ledger } = this.#options
    const { status, ...rest } = this.#sections()
    const lowest = lowestShown(chains, heights)
    const branches = branchesFrom(chains, lowest)
    const current = new Set(branches.flatMap(({ hashes }) => hashes))
    const orphans = shownBlocks(chains, lowest).filter(({ id }) => !current.has(id))
    const view = { ...rest, branches, blocks: orphans.map(blockView) }
    if (!isOwn || status === undefined) return view
    const { prints } = ledger
    const printed = prints === null ? {} : { prints: [...prints.since(prints.newest - newest)] }
    return { ...view, status, requests: requests.since(requests.newest - newest), ...printed }
  }

  /** Responds with a stream: the whole view first, then changes. */
  open(reply: FastifyReply, isOwn: boolean, query: ViewQuery): void {
    const text = JSON.stringify(this.viewFor(isOwn, query))
    const wasIdle = this.#readers === 0
    const onClose = () => {
      if (this.#readers === 0) this.#cancel()
    }
    const stream = (isOwn ? this.#own : this.#others).open(reply, onClose)
    stream.send(`event: view\ndata: ${text}\n\n`)
    if (wasIdle && this.#readers > 0) this.#scheduleNext()
  }

  stop(): void {
    this.#cancel()
    this.#pools.stop()
  }

  get #readers(): number {
    return this.#own.size + this.#others.size
  }

  #scheduleNext(): void {
    this.#cancel = this.#options.clock.after(EVENT_INTERVAL_MS, () => {
      this.#sendChanges()
      this.#scheduleNext()
    })
  }

  /** Sends all changes to all readers. */
  #sendChanges(): void {
    // Blocks first: adding them changes the section of executed commands.
    const blocks = this.#newBlocks()
    const { status, ...rest } = this.#sections()
    const parts = Object.entries(rest).map(([name, value]) => this.#changeOf(name, value))
    if (blocks !== '') parts.push(blocks)
    const forAll = parts.filter((part) => part !== '')
    // The clock always changes. Its reader advances it, so compare only its offset.
    const isStatusNew = this.#changeOf('own', { ...status, clock: status?.clock.aheadMs }) !== ''
    const [requests, prints] = [this.#newRequests(), this.#newPrints()]
    const forOwn = [
      ...forAll,
      ...(isStatusNew ? [`"status":${JSON.stringify(status)}`] : []),
      ...(requests.length > 0 ? [`"requests":${JSON.stringify(requests)}`] : []),
      ...(prints.length > 0 ? [`"prints":${JSON.stringify(prints)}`] : []),
    ]
    if (forAll.length > 0) this.#others.send(eventOf(forAll))
    if (forOwn.length > 0) this.#own.send(eventOf(forOwn))
  }

  #sections(): RepeatedSections {
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

  /** @returns `"name":JSON` of a section that has changed, otherwise an empty text */
  #changeOf(name: string, value: unknown): string {
    const text = JSON.stringify(value)
    if (this.#sentTexts.get(name) === text) return ''
    this.#sentTexts.set(name, text)
    return `"${name}":${text}`
  }

  /** Blocks added since the last call, if they are high enough to be shown. */
  #newBlocks(): string {
    const { chains } = this.#options
    const { store } = chains
    const [from, to] = [this.#blocks, store.size]
    this.#blocks = to
    if (from === to) return ''
    const lowest = lowestShown(chains)
    // At the first call, and after a pause, far more blocks were added than are shown.
    const isLong = to < from || to - from > 4 * chains.cut.size
    const added = isLong ? shownBlocks(chains, lowest).sort((a, b) => store.recordOf(a) - store.recordOf(b)) : []
    if (!isLong) for (let i = from; i < to; i++) added.push(store.at(i))
    const isNew = isLong && to > from ? added.filter((block) => store.recordOf(block) >= from) : added
    if (to < from) this.#executed.forget()
    // All of them, also below the heights that are shown: many empty blocks may follow a transaction.
    this.#executed.add(newestFirst(chains, to < from ? 0 : from, to))
    const shown = isNew.filter(({ height }) => height >= lowest)
    return shown.length === 0 ? '' : `"blocks":${JSON.stringify(shown.map(blockView))}`
  }

  #newRequests(): RequestView[] {
    const { requests } = this.#options
    const added = requests.since(this.#request)
    this.#request = requests.newest
    return added
  }

  #newPrints(): readonly PrintView[] {
    const { prints } = this.#options.ledger
    const added = prints?.since(this.#print) ?? []
    this.#print = prints?.newest ?? 0
    return added
  }
}

const eventOf = (parts: readonly string[]) => `event: change\ndata: {${parts.join(',')}}\n\n`

/** Blocks of the store by their number, from `to` exclusive down to `from`. */
function* newestFirst({ store }: Chains, from: number, to: number): Generator<Block> {
  for (let i = to - 1; i >= from; i--) yield store.at(i)
}

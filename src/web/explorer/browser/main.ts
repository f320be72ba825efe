/** The developer page at `/` of an embedded node. */
import type { NodeView } from '../../../schema/view.ts'
import { element, write } from '../../kit/dom.ts'
import { clockText, grouped } from '../../kit/numbers.ts'
import { listen } from '../../kit/stream.ts'
import { Braid } from './braid.ts'
import { OrderPanel } from './control.ts'
import { Details } from './details.ts'
import { showNetwork, showNumbers } from './figures.ts'
import { showAccounts, showExecuted, showPool, showRequests } from './lists.ts'
import { showPrints } from './printed.ts'
import { type KnownBlock, NodeState, type Reorganisation } from './state.ts'

let state: NodeState | null = null
const control = new OrderPanel()
const details = new Details()
const braid = new Braid({
  canvas: element<HTMLCanvasElement>('braid'),
  onPoint: (block) => write('pointed', block === null ? HINT : blockText(block)),
  onOpen: (block) => {
    if (state !== null) void details.block(block, state.view.network).catch(showTrouble)
  },
})

const HINT = 'Point at a block to see its ancestors. Open it to see its content.'

const lists = {
  openTransaction: (chain: number, key: string) => {
    if (state !== null) void details.transaction(chain, key, state.view.network).catch(showTrouble)
  },
}

function showTrouble(error: unknown): void {
  element('details-body').textContent = error instanceof Error ? error.message : String(error)
}

function blockText({ chain, height, hash, createdMs, transactions, isOnChain }: KnownBlock): string {
  const what = isOnChain ? 'block' : 'orphan'
  const executed = transactions === 1 ? '1 transaction' : `${grouped(transactions)} transactions`
  return `${what} ${hash.slice(0, 10)}… · chain ${chain} · height ${grouped(height)} · ${clockText(createdMs)} · ${executed}`
}

/** Shows the changed sections, or all. */
function show(now: NodeState, change: Partial<NodeView>): void {
  if (change.network) showNetwork(now)
  if (change.heads || change.blocks || change.status) braid.show(now)
  if (change.transactions) showExecuted(now, lists)
  if (change.accounts) showAccounts(now)
  if (change.requests || change.status) showRequests(now)
  if (change.prints || change.status) showPrints(now)
  if (change.status || change.network) control.show(now)
  if (change.heads) {
    const { highest, lowest } = now
    const heights = highest === lowest ? `height ${highest}` : `heights ${lowest} to ${highest}`
    element('braid').setAttribute(
      'aria-label',
      `${now.view.heads.length} chains, ${heights}. Arrow keys choose a block.`,
    )
  }
  tick()
}

/** Updates texts that depend on time only. */
function tick(): void {
  if (state === null) return
  showNumbers(state, control.nowMs)
  showPool(state, control.nowMs, lists)
  control.tick()
}

function tellReorganisations(lost: readonly Reorganisation[]): void {
  if (lost.length === 0) return
  const chains = lost.map(({ chain, lost: blocks, height }) => {
    return `chain ${chain} lost ${blocks === 1 ? '1 block' : `${blocks} blocks`} from height ${grouped(height)}`
  })
  const told = chains.length > 3 ? `${chains.slice(0, 3).join(', ')} and ${chains.length - 3} more` : chains.join(', ')
  element('reorganisation').hidden = false
  write('reorganisation', `Reorganisation at ${clockText(control.nowMs)}: ${told}.`)
}

function showLink(link: 'live' | 'gone', text: string): void {
  document.body.dataset.link = link
  write('link', text)
}

listen({
  url: '/devnet/live',
  events: {
    view: (data) => {
      const view = JSON.parse(data) as NodeView
      state = new NodeState(view)
      showLink('live', 'live')
      show(state, view)
      control.show(state)
      showRequests(state)
    },
    change: (data) => {
      if (state === null) return
      const change = JSON.parse(data) as Partial<NodeView>
      tellReorganisations(state.apply(change, performance.now()))
      show(state, change)
    },
  },
  onLost: () => showLink('gone', 'the node does not answer'),
})

setInterval(tick, 1000)

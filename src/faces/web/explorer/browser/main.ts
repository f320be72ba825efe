/** The developer page at `/` of an embedded node. */
import type { NodeView } from '#ground/schema/view.ts'
import { element, write } from '../../kit/dom.ts'
import { groupDigits, timeOfDay } from '../../kit/numbers.ts'
import { Braid } from './braid.ts'
import { NodeControls } from './control.ts'
import { Details } from './details.ts'
import { showNetwork, showNumbers } from './figures.ts'
import { openFrame, troubleIn } from './frame.ts'
import { SHOWN_LINES, showAccounts, showExecuted, showPool, showRequests } from './lists.ts'
import { pagePlace } from './place.ts'
import { showPrints } from './printed.ts'
import type { KnownBlock, NodeState, Reorganisation } from './state.ts'

let state: NodeState | null = null
const showTrouble = troubleIn('details-body')
const control = new NodeControls()
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

function blockText({ chain, height, hash, createdMs, transactions, isOnChain }: KnownBlock): string {
  const what = isOnChain ? 'block' : 'orphan'
  const executed = transactions === 1 ? '1 transaction' : `${groupDigits(transactions)} transactions`
  return `${what} ${hash.slice(0, 10)}… · chain ${chain} · height ${groupDigits(height)} · ${timeOfDay(createdMs)} · ${executed}`
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

function showReorganisations(lost: readonly Reorganisation[]): void {
  if (lost.length === 0) return
  const chains = lost.map(({ chain, lost: blocks, height }) => {
    return `chain ${chain} lost ${blocks === 1 ? '1 block' : `${blocks} blocks`} from height ${groupDigits(height)}`
  })
  const listed =
    chains.length > 3 ? `${chains.slice(0, 3).join(', ')} and ${chains.length - 3} more` : chains.join(', ')
  element('reorganisation').hidden = false
  write('reorganisation', `Reorganisation at ${timeOfDay(control.nowMs)}: ${listed}.`)
}

/** Opens the block that the address of the page names. */
function openPlace(): void {
  const place = pagePlace()
  if (state === null || !place.has('height')) return
  const [chain, height] = [Number(place.get('chain')), Number(place.get('height'))]
  void details.blockAt(chain, height, place.get('block'), state.view.network).catch(showTrouble)
}

// Without a stop in the table, the keyboard could not scroll it.
element('requests-rows').tabIndex = 0
addEventListener('hashchange', openPlace)
openFrame({
  view: { newest: SHOWN_LINES },
  onStart: (now) => {
    state = now
    write('pointed', HINT)
    show(now, now.view)
    control.show(now)
    showRequests(now)
    openPlace()
  },
  onChange: (now, change, _isReorganised, lost) => {
    state = now
    showReorganisations(lost)
    show(now, change)
  },
})

setInterval(tick, 1000)

/** The frame of the pages: the link to the node, its name, and news of blocks. */
import type { NodeView, ViewQuery } from '#ground/schema/view.ts'
import { element, make, write } from '../../kit/dom.ts'
import { followEvents } from '../../kit/stream.ts'
import { textOfError } from './ask.ts'
import { HEADS_ONLY, pathWith } from './query.ts'
import { openSearchField, suggestNames } from './search-field.ts'
import { NodeState, type Reorganisation } from './state.ts'

export interface FrameOptions {
  /** The parts of the view that grow: by default only the heads, without requests and printed texts. */
  readonly view?: ViewQuery
  /** Called once, when the node has answered for the first time. */
  readonly onStart: (state: NodeState) => void
  /**
   * Called after blocks, orphans or mempools have changed, also after a lost connection.
   * @param isReorganised true if a chain may have lost blocks
   * @param lost blocks that chains have lost, as far as they are known
   */
  readonly onChange: (
    state: NodeState,
    change: Partial<NodeView>,
    isReorganised: boolean,
    lost: readonly Reorganisation[],
  ) => void
}

/** Follows the node. Shows its name and whether it answers. */
export function openFrame({ view = HEADS_ONLY, onStart, onChange }: FrameOptions): void {
  let state: NodeState | null = null
  openSearchField()
  followEvents({
    url: pathWith('/devnet/live', view),
    events: {
      view: (data) => {
        const view = JSON.parse(data) as NodeView
        const isFirst = state === null
        state = new NodeState(view)
        showLink('live', 'live')
        write('mode', modeText(view))
        element('mode').title = modeText(view)
        suggestNames(view.accounts)
        // Texts that say that there is none wait for the first answer.
        document.body.dataset.known = ''
        if (isFirst) onStart(state)
        else onChange(state, view, true, [])
      },
      change: (data) => {
        if (state === null) return
        const change = JSON.parse(data) as Partial<NodeView>
        const lost = state.apply(change, performance.now())
        onChange(state, change, lost.length > 0, lost)
      },
    },
    onLost: () => showLink('gone', 'the node does not answer'),
  })
}

/** The network in a line. */
function modeText({ network: { name, mode }, heads }: NodeView): string {
  const count = heads.length === 1 ? 'one chain' : `${heads.length} chains`
  return `${name} · ${count} · ${mode}`
}

function showLink(link: 'live' | 'gone', text: string): void {
  document.body.dataset.link = link
  write('link', text)
}

/** Makes a function that writes why something has failed. @param id element for the text */
export const troubleIn = (id: string) => (error: unknown) => write(id, textOfError(error))

/** Fills a select with the chains. @param all text of a first choice for all of them */
export function fillChains(id: string, count: number, chosen: string, all?: string): HTMLSelectElement {
  const select = element<HTMLSelectElement>(id)
  const chains = Array.from({ length: count }, (_, i) => make('option', { value: String(i) }, `chain ${i}`))
  select.replaceChildren(...(all === undefined ? [] : [make('option', { value: '' }, all)]), ...chains)
  select.value = chosen
  if (select.selectedIndex < 0) select.selectedIndex = 0
  return select
}

/** Runs `run` now, and again for calls that come meanwhile: never twice at once. */
export function oneAtATime(run: () => Promise<void>): () => void {
  let isRunning = false
  let isWanted = false
  const start = async () => {
    isRunning = true
    try {
      do {
        isWanted = false
        await run()
      } while (isWanted)
    } finally {
      isRunning = false
    }
  }
  return () => {
    isWanted = true
    if (!isRunning) void start()
  }
}

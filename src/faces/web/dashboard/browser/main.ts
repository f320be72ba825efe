/** The dashboard at /: keeps the streamed state and shows it. */
import { followEvents } from '../../kit/stream.ts'
import type { DashboardChange, DashboardState, RateHistory, RateSample, ShownBlock } from '../state.ts'
import { DashboardView } from './view.ts'

/** The miner's own limits: two hours of samples, and the latest blocks. */
const MAX_SAMPLES = 720
const MAX_BLOCKS = 200
/** A sample in the full state may be repeated as a change within this time. */
const SAME_SAMPLE_MS = 1_000
/** Silence after which the stream counts as broken; the miner sends something every second. */
const MAX_SILENT_MS = 8_000

const view = new DashboardView()
let state: DashboardState | null = null

function stateAfter(
  before: DashboardState,
  { nowMs, summary, samples = [], blocks = [] }: DashboardChange,
): DashboardState {
  return {
    ...before,
    nowMs,
    summary: { ...before.summary, ...summary },
    history: samples.reduce(withSample, before.history),
    blocks: blocks.reduce(withBlock, before.blocks),
  }
}

function withSample(history: RateHistory, { atMs, total, lines }: RateSample): RateHistory {
  const last = history.atMs.at(-1) ?? Number.NEGATIVE_INFINITY
  if (atMs <= last + SAME_SAMPLE_MS) return history
  const newest = <T>(list: readonly T[]) => list.slice(-MAX_SAMPLES)
  const empty = history.atMs.map(() => null)
  const names = new Set([...history.lines.map(({ name }) => name), ...Object.keys(lines)])
  return {
    atMs: newest([...history.atMs, atMs]),
    total: newest([...history.total, total]),
    lines: [...names]
      .map((name) => {
        const rates = history.lines.find((line) => line.name === name)?.rates ?? empty
        return { name, rates: newest([...rates, lines[name] ?? null]) }
      })
      // Drop devices without a sample in the history.
      .filter(({ rates }) => rates.some((rate) => rate !== null)),
  }
}

function withBlock(blocks: readonly ShownBlock[], block: ShownBlock): readonly ShownBlock[] {
  const isKnown = blocks.some(({ hash }) => hash === block.hash)
  if (isKnown) return blocks.map((each) => (each.hash === block.hash ? block : each))
  return [block, ...blocks].sort((a, b) => b.foundAtMs - a.foundAtMs).slice(0, MAX_BLOCKS)
}

function open(): () => void {
  return followEvents({
    url: '/api/events',
    events: {
      state: (data) => {
        state = JSON.parse(data) as DashboardState
        view.show(state)
      },
      change: (data) => {
        if (state === null) return
        state = stateAfter(state, JSON.parse(data))
        view.show(state)
      },
    },
    onLost: () => view.showLost(),
    maxSilentMs: MAX_SILENT_MS,
  })
}

// A hidden page, such as a tab opened in the background, needs no stream.
let close = document.hidden ? () => undefined : open()
document.addEventListener('visibilitychange', () => {
  close()
  if (!document.hidden) close = open()
})

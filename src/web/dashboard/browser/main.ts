/** The dashboard at /: keeps what the stream tells, and shows it. */
import type { DashboardChange, DashboardState, RateHistory, RateSample, ShownBlock } from '../state.ts'
import { listen } from './stream.ts'
import { View } from './view.ts'

/** As many as the miner keeps: two hours of rates, and its last blocks. */
const MAX_SAMPLES = 720
const MAX_BLOCKS = 200
/** A sample that came with the whole state may be told once more. */
const SAME_SAMPLE_MS = 1_000

const view = new View()
let state: DashboardState | null = null

function changed(
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
      // Devices that have long been gone.
      .filter(({ rates }) => rates.some((rate) => rate !== null)),
  }
}

function withBlock(blocks: readonly ShownBlock[], block: ShownBlock): readonly ShownBlock[] {
  const isKnown = blocks.some(({ hash }) => hash === block.hash)
  if (isKnown) return blocks.map((each) => (each.hash === block.hash ? block : each))
  return [block, ...blocks].sort((a, b) => b.foundAtMs - a.foundAtMs).slice(0, MAX_BLOCKS)
}

listen({
  onState: (whole) => {
    state = whole
    view.show(state)
  },
  onChange: (change) => {
    if (state === null) return
    state = changed(state, change)
    view.show(state)
  },
  onLost: () => view.lost(),
})

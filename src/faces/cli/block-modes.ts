/** Kinds of option values for the ways in which blocks are made. */
import { type AutoMine, type BlockPace, CONFIRMATIONS, MAX_CONFIRMATIONS } from '#ground/schema/devnet-modes.ts'
import { duration, PREFIXES, scalarText, type ValueKind, wholeNumber } from './values.ts'

/** Hashes a second: `100MH/s`, `2.5 GH/s`. */
const RATE = /^(\d{1,15}(?:\.\d{1,20})?)\s*([kMGTPE]?)H\/s$/

export const autoMineMode: ValueKind<AutoMine> = {
  completions: ['on-arrival', 'on-demand', 'constant:2s', 'simulated:100MH/s'],
  expected: `on-arrival or on-arrival:BLOCKS (0 to ${MAX_CONFIRMATIONS}), on-demand, constant:TIME such as constant:2s, or simulated:RATE such as simulated:100MH/s`,
  parse: (raw) => {
    const text = scalarText(raw) ?? ''
    if (text === 'on-demand') return { kind: 'on-demand' }
    if (text === 'on-arrival') return { kind: 'on-arrival', confirmations: CONFIRMATIONS }
    const [kind, argument] = [text.split(':', 1)[0], text.slice(text.indexOf(':') + 1)]
    if (kind === 'constant') {
      const blockTimeMs = duration(1).parse(argument)
      return blockTimeMs === undefined ? undefined : { kind, blockTimeMs }
    }
    if (kind === 'on-arrival') {
      const confirmations = wholeNumber(0, MAX_CONFIRMATIONS).parse(argument)
      return confirmations === undefined ? undefined : { kind, confirmations }
    }
    const rate = kind === 'simulated' ? RATE.exec(argument) : null
    const hashesPerSecond = rate === null ? 0 : Number(rate[1]) * 10 ** PREFIXES[rate[2]]
    return hashesPerSecond >= 1 ? { kind: 'simulated', hashesPerSecond } : undefined
  },
  format: (value) => {
    if (value.kind === 'constant') return `constant:${duration(1).format(value.blockTimeMs)}`
    if (value.kind === 'on-demand') return value.kind
    if (value.kind === 'on-arrival') return `on-arrival:${value.confirmations}`
    const rate = value.hashesPerSecond
    const [prefix, exponent] = Object.entries(PREFIXES).findLast(([, each]) => rate >= 10 ** each) ?? ['', 0]
    return `simulated:${rate / 10 ** exponent}${prefix}H/s`
  },
}

/** The modes of auto-mine that a miner can pace its blocks by. */
export const pace: ValueKind<BlockPace> = {
  completions: ['on-demand', 'constant:2s'],
  expected: 'on-demand, or constant:TIME such as constant:2s',
  parse: (raw) => {
    const mode = autoMineMode.parse(raw)
    return mode?.kind === 'on-demand' || mode?.kind === 'constant' ? mode : undefined
  },
  format: autoMineMode.format,
}

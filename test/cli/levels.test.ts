/** The events that a log shows at each level, as text and as JSON. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { changingView, type ViewMaker } from '../../src/faces/cli/changing-view.ts'
import type { KeyControl } from '../../src/faces/cli/console.ts'
import { fileView } from '../../src/faces/cli/file-view.ts'
import { type LogLevel, logLevels } from '../../src/faces/cli/levels.ts'
import type { ConsoleEvent } from '../../src/faces/cli/notices.ts'
import { viewsOf } from '../../src/faces/cli/text-view.ts'
import type { SolutionEvent } from '../../src/mining/mine/events.ts'
import { NO_RATES } from '../../src/mining/mine/hashrate.ts'
import { profitOf } from '../../src/mining/mine/profit.ts'
import { snapshotWith } from '../mine/snapshot.ts'

const counts = { accepted: 1, unconfirmed: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0 }
const block = { chain: 3, height: 7 } as const
const found = {
  ...{ type: 'solution', step: 'found', verdict: null, wasDecided: false, job: 'j', issuer: 'node', ...block },
  ...{ hash: 'h', payload: 'p', device: 'thread0', effort: 1, isPoolBlock: false, lateMs: null, elapsedMs: 5, counts },
  ...{ work: 'w', difficulty: 10 },
} as const
const solution = (
  parts: Partial<Record<keyof SolutionEvent | 'reason' | 'message' | 'depth', unknown>>,
): ConsoleEvent => ({ ...found, ...parts }) as unknown as SolutionEvent
const device = { device: 'thread0', engine: 'cpu', kernel: 'wasm', hashes: 0, hashrates: NO_RATES, faults: 0 }
const changed = { type: 'configuration', before: 1, now: 2 } as const
const work = { job: 'j', issuer: 'node', ...block, difficulty: 10, reason: 'newCut', preemptMs: 1 } as const

/** Income at this price of a coin, of a miner that pays 129,600 USD a day for power. */
const profitAt = (coinPrice: number) =>
  profitOf({
    ...{ hashrate: 1, difficulty: 2, reward: 1, payer: 'chain', lossAndFees: { lostShare: null, feeShare: null } },
    power: { watts: 1000, unread: 0, problem: null },
    prices: { coin: { amount: coinPrice, currency: 'USD' }, power: { amount: 5400, currency: 'USD' } },
  })

/** Every kind of event: its name in docs/CONSOLE.md, the event, the start of its text, and its level. */
const EVENTS: readonly (readonly [string, ConsoleEvent, string, LogLevel])[] = [
  ['error', { type: 'error', code: 'NODE_REFUSED', message: 'no', hint: 'ask' }, 'error     no (ask) [NODE_', 'error'],
  ['hardwareError', { type: 'hardwareError', device: 'gpu0', nonce: '1' }, 'hardware  gpu0', 'error'],
  [
    'rejected',
    solution({ step: 'rejected', verdict: 'rejected', reason: 'unknown', message: 'm' }),
    'rejected',
    'error',
  ],
  ['warning', { type: 'warning', message: 'w' }, 'warning   w', 'warn'],
  ['trouble', { type: 'trouble', message: 't' }, 'trouble   t', 'warn'],
  ['recovered', { type: 'recovered', message: 'r' }, 'recovered r', 'warn'],
  ['lost', solution({ step: 'lost', verdict: 'lost', reason: 'stopped', message: 'm' }), 'lost', 'warn'],
  ['unconfirmed', solution({ step: 'unconfirmed', verdict: 'unconfirmed', message: 'm' }), 'unconfirmed', 'warn'],
  ['profit', { type: 'profit', profit: profitAt(2) }, 'loss      43,200 coins/day', 'warn'],
  ['profit', { type: 'profit', profit: profitAt(4) }, 'profit    43,200 coins/day', 'info'],
  ['refused', { type: 'refused', ...block, reason: 'breaks the rule of target', isStale: false }, 'refused', 'warn'],
  [
    'configuration',
    { ...changed, option: 'kernel', effect: 'none', reason: 'r' },
    'changed   configuration: k',
    'warn',
  ],
  ['configuration', { ...changed, option: 'threads', effect: 'now' }, 'changed   configuration: threads', 'info'],
  ['configuration', { ...changed, option: 'stall', effect: 'next start' }, 'changed   configuration: stall', 'info'],
  ['refused', { type: 'refused', ...block, reason: 'stale', isStale: true }, 'refused', 'info'],
  [
    'print',
    { type: 'print', by: 'local', chain: 0, height: null, requestKey: 'KEY', module: null, line: 2, text: 'a\nb' },
    'print     chain 0  local  code:2  KEY: a b',
    'info',
  ],
  ['banner', { type: 'banner', lines: ['newcut 1', 'paid: k:1'] }, 'newcut 1', 'info'],
  ['accounts', { type: 'accounts', warning: 'known', accounts: [], hint: 'sign' }, 'funded accounts', 'info'],
  ['ready', { type: 'ready', devices: [device] }, 'ready     cpu: wasm', 'info'],
  ['work', { type: 'work', ...work }, 'work      chain 3', 'info'],
  ['idle', { type: 'idle' }, 'idle', 'info'],
  ['notice', { type: 'notice', message: 'n' }, 'notice    n', 'info'],
  ['paused', { type: 'paused', by: 'user', text: 'until it is resumed' }, 'paused', 'info'],
  ['resumed', { type: 'resumed' }, 'resumed', 'info'],
  ['fleet', { type: 'fleet', isLeading: true, leader: null }, 'fleet', 'info'],
  ['forkVote', { type: 'forkVote', fork: 1, isFor: true }, 'vote      votes for fork 1', 'info'],
  ['forkVote', { type: 'forkVote', fork: 2, isFor: false }, 'vote      does not vote for fork 2', 'info'],
  ['accepted', solution({ step: 'confirmed', depth: 1, verdict: 'accepted' }), 'accepted', 'info'],
  ['stale', solution({ step: 'stale', verdict: 'stale' }), 'stale', 'info'],
  ['orphaned', solution({ step: 'orphaned', verdict: 'orphaned' }), 'orphaned', 'info'],
  ['speed', { type: 'speed', snapshot: snapshotWith() }, 'speed', 'info'],
  ['block', { type: 'block', ...block, difficulty: 10, by: 'miner', transactions: 0 }, 'block     chain 3', 'info'],
  [
    'request',
    { type: 'request', method: 'GET', path: '/a', status: null, ms: 1, bytes: 2 },
    'request   GET /a  no',
    'info',
  ],
  ['summary', { type: 'summary', snapshot: snapshotWith() }, 'summary', 'info'],
  ['solution', solution({}), 'solution  chain 3  height 7      thread0  found  5 ms', 'debug'],
  [
    'solution',
    solution({ step: 'confirmed', depth: 4 }),
    'solution  chain 3  height 7      thread0  confirmed at',
    'debug',
  ],
  [
    'reward',
    { type: 'reward', hash: 'h', ...block, amount: '1.5' },
    'reward    chain 3  height 7      1.5 coins',
    'debug',
  ],
  ['detail', { type: 'detail', message: 'd' }, 'detail    d', 'debug'],
]

/** JSON has the `debug` events at `info`, since programs rely on them. */
const levelIn = (format: 'text' | 'json', level: LogLevel) => (format === 'json' && level === 'debug' ? 'info' : level)
const includes = (level: LogLevel, other: LogLevel) => logLevels.indexOf(other) <= logLevels.indexOf(level)

const nowMs = () => Date.UTC(2026, 0, 2, 3, 4, 5, 678)

/** The output of a log for an event: on the console, and in a file. */
function shownOf(event: ConsoleEvent, format: 'text' | 'json', level: LogLevel) {
  const [console, file] = ['', ''].map(() => {
    const written: string[] = []
    return { written, write: (text: string) => written.push(text) }
  })
  const terminal = { out: console, err: console, environment: {}, nowMs }
  changingView({ format, level }, viewsOf(terminal)).show(event)
  changingView({ format, level }, (form) => fileView(form, file, nowMs)).show(event)
  return { console: console.written.join(''), file: file.written.join('') }
}

describe.each(logLevels)('a log of level %s', (level) => {
  it.each(EVENTS)(
    `a log of level ${level} as text shows %s events of its level and above, and no other`,
    (_name, event, start, own) => {
      const { console, file } = shownOf(event, 'text', level)
      if (!includes(level, own)) {
        expect(console).toBe('')
        expect(file).toBe('')
      } else {
        expect(console.replace(/^\d\d:\d\d:\d\d /, '').startsWith(start)).toBe(true)
        const lines = file.trimEnd().split('\n')
        for (const line of lines) expect(line).toMatch(/^2026-01-02T03:04:05\.678Z [a-z. ]{9}/)
        expect(lines[0].slice(25).trimStart().startsWith(start)).toBe(true)
        expect(lines.length).toBe(console.trimEnd().split('\n').length)
      }
    },
  )

  it.each(EVENTS)(
    `a log of level ${level} as JSON shows %s events of its level and above; steps and rewards are info`,
    (_name, event, _start, own) => {
      const { console, file } = shownOf(event, 'json', level)
      expect(file).toBe(console)
      const inJson = levelIn('json', own)
      if (includes(level, inJson)) {
        expect(JSON.parse(console)).toMatchObject({
          level: inJson,
          time: '2026-01-02T03:04:05.678Z',
          event: event.type,
        })
      } else expect(console).toBe('')
    },
  )

  it(`a log of level ${level} shows a change of its level`, () => {
    const event: ConsoleEvent = { ...changed, option: 'log-level', before: 'info', now: level, effect: 'now' }
    expect(shownOf(event, 'text', level).console).toMatch(`changed   configuration: log-level info -> ${level}\n`)
  })
})

it('docs/CONSOLE.md has the table of levels of the code', () => {
  const text = readFileSync(new URL('../../docs/CONSOLE.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| `(error|warn|info|debug)` \| (.*) \|$/gm)]
  const told = rows.flatMap(([, level, events]) =>
    [...events.matchAll(/`(\w+)`/g)].map(([, name]) => `${level} ${name}`),
  )
  const known = EVENTS.map(([name, , , level]) => `${level} ${name}`)
  expect(told.toSorted()).toEqual([...new Set(known)].toSorted())
})

describe('the console', () => {
  /** 100 work lines at one moment. */
  const linesAt = (level: LogLevel) => {
    const written: string[] = []
    const out = { write: (text: string) => written.push(text) }
    const face = changingView({ format: 'text', level }, viewsOf({ out, err: out, environment: {}, nowMs }))
    for (let height = 0; height < 100; height++) face.show({ type: 'work', ...work, height })
    return written.length
  }

  it('the console limits lines about work and solutions, but not at debug', () => {
    expect(linesAt('info')).toBe(60)
    expect(linesAt('debug')).toBe(100)
  })
})

describe('a log that changes while it is used', () => {
  const miner = {} as KeyControl

  it('a log whose format changes switches keys and status line with it, once the new one is ready', () => {
    const done: string[] = []
    const faces: ViewMaker = (format, levelNow) => ({
      show: ({ type }) => done.push(`${format} ${levelNow()} ${type}`),
      attend: () => {
        done.push(`attend ${format}`)
        return () => done.push(`leave ${format}`)
      },
    })
    const log = changingView({ format: 'text', level: 'info' }, faces)
    const leave = log.attend(miner)
    log.use({ format: 'text', level: 'warn' })
    log.show({ type: 'idle' })
    log.tell({ type: 'idle' })
    log.show({ type: 'warning', message: 'w' })
    log.use({ format: 'json', level: 'info' })
    log.show({ type: 'idle' })
    leave()
    expect(done).toEqual([
      'attend text',
      'text warn idle',
      'text warn warning',
      'leave text',
      'attend json',
      'json info idle',
      'leave json',
    ])
  })
})

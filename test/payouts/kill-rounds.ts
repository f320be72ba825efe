/**
 * A pool pays, and its real process is killed at every step. At the end every user has been paid for every block
 * exactly once.
 *
 * The payer dies after the node has tried a command, before the journal has it. It dies when the command arrives at the
 * node, after the journal has it. It dies when the node has taken a command without an answer yet, and when it has
 * received a result that it has not stored. It also dies in the middle of a line of the journal.
 */
import { existsSync, readFileSync, truncateSync } from 'node:fs'
import { expect } from 'vitest'
import { unitsOf } from '../../src/ground/base/coins.ts'
import { payoutFile } from '../../src/pool/payouts/payout-journal.ts'
import type { PayoutReport } from '../../src/pool/payouts/report.ts'
import { type Running, run, start } from '../cli/run.ts'
import { randomFrom } from '../random.ts'
import { Gate, type RequestKind } from './gate.ts'
import { keyPair, PoolGround } from './pool-ground.ts'

/** Steps at which the payer is killed. */
export const steps = [
  'tried, not in the journal',
  'in the journal, not sent',
  'sent, not answered',
  'told of a result',
  'in the middle of a line',
  'at any moment',
  'sent, and its block is orphaned',
] as const
export type KillStep = (typeof steps)[number]

/** Kills the payer at a chosen request. */
class Killer {
  /** The `count`-th request of this kind from now is the payer's last. */
  kill: { readonly kind: RequestKind; readonly when: 'before' | 'after'; count: number } | null = null
  payer: Running | null = null
  hits = 0

  /** Whether the gate swallows a request, or its answer. */
  readonly swallows = (kind: RequestKind, when: 'before' | 'after'): boolean => {
    const { kill } = this
    if (kill === null || kill.kind !== kind || kill.when !== when || --kill.count > 0) return false
    this.hits++
    this.kill = null
    this.payer?.child.kill('SIGKILL')
    return true
  }
}

const CONFIRMATIONS = 2
const users = [1, 2, 3].map(keyPair)

export async function payAndKill(rounds: readonly KillStep[], seed: number): Promise<string> {
  const random = randomFrom(seed)
  const ground = await PoolGround.start()
  const killer = new Killer()
  const gate = new Gate(ground.devnet.url, killer.swallows)
  const url = await gate.open()
  const args = [
    'payouts',
    '--node',
    url,
    '--state',
    ground.state,
    '--confirmations',
    `${CONFIRMATIONS}`,
    '--scheme',
    'prop',
  ]
  const paying = [...args, '--pay', '--key', ground.keyFile, '--json']
  const done = new Map<KillStep, number>()
  try {
    await ground.bury(2)
    for (const chain of ground.chains) await ground.fund(chain, '5.0')
    for (const [i, step] of rounds.entries()) {
      await earn(ground, random)
      await round(ground, { killer, paying, step, random })
      done.set(step, (done.get(step) ?? 0) + 1)
      // In every other round the next payer has to deal with the remains of this one.
      if (i % 2 === 1) await payUndisturbed(ground, paying)
    }
    await payUndisturbed(ground, paying)
    const outcome = await expectPaidOnce(ground, args)
    const exact = rounds.filter((step) => step !== 'at any moment' && step !== 'told of a result')
    expect(killer.hits).toBeGreaterThanOrEqual(exact.length)
    return `${[...done].map(([step, count]) => `${count} x ${step}`).join(', ')}; ${killer.hits} at their step; ${outcome}`
  } finally {
    gate.close()
    await ground.close()
  }
}

/** Mines a block on a random chain, with shares of all users for it. */
async function earn(ground: PoolGround, random: () => number): Promise<void> {
  const found = await ground.mine(Math.floor(2 * random()))
  const shares = users.map(({ account }) => ground.share(account, 1 + Math.floor(1000 * random())))
  await ground.keep(...shares, ground.share(users[0].account, 1 + Math.floor(1000 * random()), found))
  await ground.bury(2)
}

interface Round {
  readonly killer: Killer
  readonly paying: readonly string[]
  readonly step: KillStep
  readonly random: () => number
}

async function round(ground: PoolGround, { killer, paying, step, random }: Round): Promise<void> {
  killer.kill =
    step === 'tried, not in the journal'
      ? { kind: 'local', when: 'after', count: 1 + Math.floor(5 * random()) }
      : step === 'in the journal, not sent' || step === 'in the middle of a line'
        ? { kind: 'send', when: 'before', count: 1 }
        : step === 'told of a result'
          ? { kind: 'poll', when: 'after', count: 3 + Math.floor(4 * random()) }
          : step === 'at any moment'
            ? null
            : { kind: 'send', when: 'after', count: 1 }
  const payer = start(paying)
  killer.payer = payer
  const blow = step === 'at any moment' ? setTimeout(() => payer.child.kill('SIGKILL'), 3000 * random()) : undefined
  await ground.buryPending(CONFIRMATIONS, payer.ended)
  clearTimeout(blow)
  killer.kill = null
  killer.payer = null
  if (step === 'in the middle of a line') tear(ground.state, random)
  if (step === 'sent, and its block is orphaned') {
    await ground.bury(1)
    await ground.orphan(Math.floor(2 * random()), 1)
  }
}

/**
 * Cuts off the end of the last line of the journal, as a power failure does. Only an order that was never sent is cut:
 * the payer died before its command left it.
 */
function tear(state: string, random: () => number): void {
  const path = payoutFile(state)
  if (!existsSync(path)) return
  const text = readFileSync(path, 'utf8')
  const last = text.lastIndexOf('\n', text.length - 2) + 1
  if (!text.slice(last).includes('"type":"order"')) return
  truncateSync(path, Buffer.byteLength(text.slice(0, last + Math.floor((text.length - last - 1) * random()))))
}

async function payUndisturbed(ground: PoolGround, paying: readonly string[]): Promise<void> {
  const { code, err } = await ground.buryPending(CONFIRMATIONS, run(paying))
  expect({ code, err }).toEqual({ code: 0, err: '' })
}

async function expectPaidOnce(ground: PoolGround, args: readonly string[]): Promise<string> {
  const { code, out, err } = await run([...args, '--json', '--account', ground.pool.account])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const report = JSON.parse(out) as PayoutReport
  expect(report.balances).toEqual([])
  const owed = new Map<string, bigint>()
  for (const { chain, state, division } of report.blocks) {
    if (state !== 'credited') continue
    for (const { payee, amount } of division?.parts ?? []) {
      const key = `${chain} ${payee}`
      owed.set(key, (owed.get(key) ?? 0n) + (unitsOf(amount) ?? 0n))
    }
  }
  for (const [key, amount] of owed) {
    const [chain, account] = key.split(' ')
    expect((await ground.balance(Number(chain), account)) ?? 0n, key).toEqual(amount)
  }
  const { payments } = report
  const states = new Map<string, number>()
  for (const { state } of payments) states.set(state, (states.get(state) ?? 0) + 1)
  return `${report.blocks.length} blocks, ${owed.size} balances, payments: ${[...states].map(([state, n]) => `${n} ${state}`).join(', ')}`
}

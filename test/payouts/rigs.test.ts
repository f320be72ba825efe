/**
 * A pool as its operator runs it: a miner serves three rigs, which search real proof of work over stratum. One block is
 * orphaned, and every user is paid from the miner's share log.
 */
import { afterEach, expect, it } from 'vitest'
import { unitsOf } from '../../src/ground/base/coins.ts'
import { readPayments } from '../../src/pool/payouts/payments.ts'
import type { PayoutReport } from '../../src/pool/payouts/report.ts'
import { type RunningHere, run, startHere, stopAll } from '../cli/run.ts'
import { until } from '../wait.ts'
import { keyPair, PoolGround } from './pool-ground.ts'

let ground: PoolGround
afterEach(async () => {
  await stopAll()
  await ground.close()
})

const users = [21, 22, 23].map(keyPair)
const quiet = ['--gpu', 'none', '--log', 'json']

/** A miner with a stratum server, and the addresses of its two servers. */
async function startPool() {
  const own = ['--threads', '0', '--stratum-listen', '127.0.0.1:0', '--stratum-difficulty', '65536']
  const kept = ['--state', ground.state, '--http', '127.0.0.1:0', '--pool-api', '--account', ground.pool.account]
  const miner = startHere(['mine', '--node', ground.devnet.url, ...own, ...kept, ...quiet])
  const [, port] = await miner.sees(/stratum\+tcp:\/\/127\.0\.0\.1:(\d+)/)
  const [, http] = await miner.sees(/dashboard: http:\/\/(127\.0\.0\.1:\d+)/)
  return { miner, port, http }
}

const startRig = (port: string, account: string): RunningHere =>
  startHere([
    'mine',
    '--pool',
    `stratum+tcp://${account}.rig@127.0.0.1:${port}`,
    '--threads',
    '1',
    '--http',
    'off',
    ...quiet,
  ])

it('three rigs mine over stratum, a block is orphaned, and every user is paid to the last unit', async ({
  annotate,
}) => {
  ground = await PoolGround.start({ graph: 'petersen', pow: true, difficulty: 2_000_000n, blockDelayMs: 1000 })
  const { miner, port, http } = await startPool()
  const rigs = users.map(({ account }) => startRig(port, account))
  const shown = ['--node', ground.devnet.url, '--state', ground.state, '--confirmations', '2', '--fee', '2.5']
  const rules = [...shown, '--scheme', 'pplns', '--window', '0.5']
  const look = async (...from: string[]): Promise<PayoutReport> => {
    const { code, out, err } = await run(['payouts', ...rules, '--account', ground.pool.account, '--json', ...from])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return JSON.parse(out)
  }
  const ofRunning = () => look('--from', http)
  const ofShared = async (from: string) => (await look('--from', from)).blocks
  const payeesIn = ({ blocks }: PayoutReport) =>
    new Set(blocks.flatMap(({ division }) => division?.parts ?? []).map(({ payee }) => payee))
  // All three users have shares in credited blocks. One block of the pool is the head of its chain.
  await until(async () => payeesIn(await ofRunning()).size === 3)
  const refused = await run(['payouts', ...rules, '--account', ground.pool.account])
  expect(refused.err).toContain('its miner is running, and has the share log open (read it with --from HOST:PORT')
  expect(refused.code).toBe(25)
  // No rig may mine on top of the head that the test orphans.
  for (const rig of rigs) await rig.stop()
  let head: PayoutReport['blocks'][number] | undefined
  await until(async () => {
    head = (await ofRunning()).blocks.findLast(({ depth }) => depth === 1)
    return head !== undefined
  })
  await ground.orphan(head?.chain ?? 0, 1)
  // Its fate is settled only once the other branch is deep enough.
  await ground.bury(2)
  await until(async () => (await ofRunning()).blocks.some(({ state }) => state === 'orphaned'))
  await miner.stop()

  for (const chain of ground.chains) await ground.fund(chain)
  const before = await look()
  expect(before.blocks.some(({ state }) => state === 'orphaned')).toBe(true)
  let isOver = false
  const paying = run(['payouts', ...rules, '--pay', '--key', ground.keyFile]).finally(() => {
    isOver = true
  })
  await until(async () => {
    if (!isOver) await ground.bury(1)
    return isOver
  })
  const { code, out, err } = await paying
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  await annotate(out.slice(out.indexOf("the operator's:")))
  expect(before.balances.length).toBeGreaterThan(0)
  for (const { chain, account, amount } of before.balances) {
    expect([chain, account, await ground.balance(chain, account)]).toEqual([chain, account, unitsOf(amount)])
  }
  expect(readPayments(ground.state).every(({ state }) => state === 'paid')).toBe(true)
  expect((await look()).balances).toEqual([])

  const again = await startPool()
  const answer = await fetch(`http://${again.http}/api/pools/development/payments?pageSize=1000`)
  const listed = (await answer.json()) as readonly Readonly<Record<string, unknown>>[]
  expect(listed.map(({ chain, address, amount }) => [chain, address, amount])).toEqual(
    readPayments(ground.state)
      .toReversed()
      .map(({ chain, account, amount }) => [chain, account, Number(amount)]),
  )
  // After a restart, each block has the account that payouts count it for.
  const blocks = await (await fetch(`http://${again.http}/api/pools/development/blocks`)).json()
  const finders = new Map((await ofShared(again.http)).map(({ block, finder }) => [block, finder]))
  expect(finders.size).toBeGreaterThan(0)
  for (const { hash, miner } of blocks as { hash: string; miner: string }[])
    expect(miner, hash).toEqual(finders.get(hash))
})

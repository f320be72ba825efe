/** Payments from a `newcut payouts` journal, in the shapes that pool dashboards read. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { payoutFolder, payoutReader } from '../../src/compose/payout-reader.ts'
import type { MinerSetup } from '../../src/compose/setup.ts'
import { Metrics } from '../../src/faces/api/metrics.ts'
import { balanceShape, paymentPage } from '../../src/faces/api/pool-payments.ts'
import { PoolResponses } from '../../src/faces/api/pool-shapes.ts'
import { startApi } from '../../src/faces/api/server.ts'
import { Accounts } from '../../src/mining/accounts/accounts.ts'
import type { RigLedger } from '../../src/mining/accounts/rig-ledger.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import { PayoutJournal, payoutFile } from '../../src/pool/payouts/payout-journal.ts'
import type { CreditLine, PayoutLine, ResultLine, SentLine } from '../../src/pool/payouts/payout-line.ts'
import { START_MS, shareOf } from '../accounts/shares.ts'
import { snapshotWith } from '../mine/snapshot.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { accountOf, blockOf, keyOf } from '../payouts/memory-shares.ts'

const [POOL, ANN, BEN, OTHER] = ['f', 'a', 'b', 'e'].map(accountOf)
const DAY_MS = 86_400_000
const DAY = new Date(START_MS).toISOString()
const DAY_BEFORE = new Date(START_MS - DAY_MS).toISOString()
type Parts = Readonly<Record<string, string>>

function credit(block: string, amounts: Parts, given: Partial<CreditLine> = {}): CreditLine {
  const parts = Object.entries(amounts).map(([payee, amount]) => ({ payee, amount, shares: 1, worth: '1' }))
  return {
    ...{ at: DAY, type: 'credit', network: 'net', account: POOL, block: blockOf(block), chain: 0, height: 7 },
    ...{ foundMs: 5, finder: ANN, scheme: 'pplns', window: '2.0', feePercent: '1.5', reward: '2.0', fee: '0.03' },
    ...{ rest: '0.0', parts, round: [{ after: null, upTo: { timeMs: 5, id: block } }] },
    ...given,
  }
}

/** A payment order for whole blocks. */
function order(key: string, account: string, blocks: Parts, given: Partial<SentLine> = {}): SentLine {
  const parts = Object.entries(blocks).map(([block, amount]) => ({ block: blockOf(block), amount }))
  const amount = parts.reduce((sum, part) => sum + Number(part.amount), 0).toFixed(2)
  const hash = blockOf(key)
  return {
    ...{ at: DAY, type: 'order', network: 'net', account: POOL, chain: 0, requestKey: hash, expires: 100 },
    ...{ minimum: '0.5', pays: [{ account, amount, for: parts }], command: { hash, sigs: [{ sig: '00' }], cmd: '{}' } },
    ...given,
  }
}

const result = (key: string, outcome: ResultLine['outcome']): ResultLine => {
  return { at: DAY, type: 'result', requestKey: blockOf(key), outcome, height: 9, message: '' }
}

async function serving() {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-payments-'))
  const clock = new VirtualClock()
  const accounts = new Accounts({ onWarning: () => undefined })
  // Ben gives his key without `k:`.
  for (const user of [ANN, keyOf('b')]) accounts.acceptLogged(shareOf(0, { user, worker: 'w' }))
  const ledger: RigLedger = { accounts, storage: null, nowMs: START_MS + 1000, isWell: true }
  const events: MinerEvent[] = []
  const payouts = await payoutReader(folder, { network: 'net', account: POOL }, (event) => events.push(event))
  const snapshot = () => snapshotWith()
  const shapes = new PoolResponses({
    ledger,
    snapshot,
    network: 'net',
    symbol: 'QUAD',
    blockDelayMs: 12_000,
    account: POOL,
    recent: [],
    payouts,
    clock,
  })
  const api = await startApi({ host: '127.0.0.1', port: 0 }, snapshot, new Metrics(snapshot, '0'), ...shapes.parts)
  onTestFinished(async () => {
    shapes.close()
    await api.close()
    rmSync(folder, { recursive: true })
  })
  const read = async (path: string, status = 200) => {
    const response = await fetch(`${api.url}/api/pools/net${path}`)
    expect(response.status).toBe(status)
    return (await response.json()) as ReturnType<typeof JSON.parse>
  }
  const write = (...lines: readonly PayoutLine[]) => {
    const journal = PayoutJournal.open(folder, () => 0)
    journal.append(...lines)
    journal.close()
  }
  return { read, write, events, path: payoutFile(folder) }
}

it('the pool API shows no payments without a journal', async () => {
  const { read } = await serving()
  expect(await read('/payments')).toEqual([])
  expect((await read('')).pool).toMatchObject({ totalPaid: 0, paymentProcessing: { enabled: false } })
  expect(await read(`/miners/${ANN}`)).toMatchObject({ pendingBalance: 0, totalPaid: 0, lastPayment: null })
})

it('payments, balances and rules follow the journal as it grows', async () => {
  const { read, write } = await serving()
  write(credit('A', { [ANN]: '1.1', [BEN]: '0.2', nobody: '0.3', [POOL]: '0.37' }))
  expect((await read('')).pool).toMatchObject({
    ...{ poolFeePercent: 1.5, totalPaid: 0 },
    paymentProcessing: { enabled: true, minimumPayment: 0, payoutScheme: 'PPLNS' },
  })
  expect(await read(`/miners/${ANN}`)).toMatchObject({ pendingBalance: 1.1, totalPaid: 0, todayPaid: 0 })
  expect(await read(`/miners/${keyOf('b')}`)).toMatchObject({ pendingBalance: 0.2 })

  write(order('k', ANN, { A: '1.1' }, { at: DAY_BEFORE }))
  // The outcome of this payment is unknown.
  expect(await read(`/miners/${ANN}`)).toMatchObject({ pendingBalance: 1.1, totalPaid: 0 })
  expect(await read('/payments')).toEqual([])
  write(result('k', 'paid'), credit('B', { [ANN]: '0.2' }, { scheme: 'solo', feePercent: '0' }))
  write(order('l', ANN, { B: '0.2' }), result('l', 'paid'), order('m', BEN, { A: '0.2' }), result('m', 'failed'))
  expect((await read('')).pool).toMatchObject({
    ...{ poolFeePercent: 0, totalPaid: 1.3 },
    paymentProcessing: { enabled: true, minimumPayment: 0.5, payoutScheme: 'SOLO' },
  })
  const [toAnn, before] = [
    { coin: 'QUAD', address: ANN, amount: 0.2, chain: 0, transactionConfirmationData: blockOf('l'), created: DAY },
    {
      coin: 'QUAD',
      address: ANN,
      amount: 1.1,
      chain: 0,
      transactionConfirmationData: blockOf('k'),
      created: DAY_BEFORE,
    },
  ]
  expect(await read('/payments')).toEqual([toAnn, before])
  expect(await read('/payments?page=1&pageSize=1')).toEqual([before])
  expect(await read(`/miners/${ANN}/payments`)).toEqual([toAnn, before])
  expect(await read(`/miners/${keyOf('b')}/payments`)).toEqual([])
  expect(await read(`/miners/${ANN}`)).toMatchObject({
    ...{ pendingBalance: 0, totalPaid: 1.3, todayPaid: 0.2, lastPayment: DAY },
  })
  expect(await read(`/miners/${keyOf('b')}`)).toMatchObject({ pendingBalance: 0.2, totalPaid: 0 })
  write({ at: DAY, type: 'orphaned', block: blockOf('A') })
  expect(await read(`/miners/${keyOf('b')}`)).toMatchObject({ pendingBalance: 0 })
})

it('the pool API ignores payouts of other networks and other pool accounts', async () => {
  const { read, write } = await serving()
  write(credit('A', { [ANN]: '1.0' }, { network: 'other' }), credit('B', { [ANN]: '1.0' }, { account: OTHER }))
  write(order('k', ANN, { A: '1.0' }, { network: 'other' }), result('k', 'paid'))
  write(order('l', ANN, { B: '1.0' }, { account: OTHER }), result('l', 'paid'))
  write(credit('C', { [ANN]: '1.0' }, { account: OTHER }))
  expect(await read('/payments')).toEqual([])
  expect((await read('')).pool).toMatchObject({ totalPaid: 0, paymentProcessing: { enabled: false } })
  expect(await read(`/miners/${ANN}`)).toMatchObject({ pendingBalance: 0, totalPaid: 0 })
})

it('an incomplete line of the journal counts once it is complete, and a removed one no longer counts', async () => {
  const { read, write, path } = await serving()
  write(credit('A', { [ANN]: '1.0' }))
  const { size } = statSync(path)
  write(credit('B', { [ANN]: '2.0' }))
  const all = readFileSync(path)
  truncateSync(path, all.length - 9)
  expect(await read(`/miners/${ANN}`)).toMatchObject({ pendingBalance: 1 })
  appendFileSync(path, all.subarray(-9))
  expect(await read(`/miners/${ANN}`)).toMatchObject({ pendingBalance: 3 })
  truncateSync(path, size)
  expect(await read(`/miners/${ANN}`)).toMatchObject({ pendingBalance: 1 })
  rmSync(path)
  expect(await read(`/miners/${ANN}`)).toMatchObject({ pendingBalance: 0 })
})

it('a journal of several MiB is read completely', async () => {
  const { read, write } = await serving()
  const command = { hash: blockOf('z'), sigs: [], cmd: 'x'.repeat(1_500_000) }
  for (const key of ['k', 'l', 'm'])
    write(credit(key, { [ANN]: '1.0' }), order(key, ANN, { [key]: '1.0' }, { command }), result(key, 'paid'))
  expect(await read('/payments')).toHaveLength(3)
  expect(await read(`/miners/${ANN}`)).toMatchObject({ pendingBalance: 0, totalPaid: 3 })
})

it('a damaged journal is reported once on the console and with 503, and so is its repair', async () => {
  const { read, write, events, path } = await serving()
  write(credit('A', { [ANN]: '1.0' }))
  const whole = readFileSync(path)
  appendFileSync(path, '{"type":"order"}\n')
  expect(await read('/payments', 503)).toEqual({
    error: 'the journal of payouts cannot be read; the console of the miner says why',
  })
  await read(`/miners/${ANN}/payments`, 503)
  expect((await read('')).pool).toMatchObject({ totalPaid: 0, paymentProcessing: { enabled: false } })
  expect(events).toEqual([
    { type: 'trouble', message: `${path}: line 2 is damaged, and it may be a payment; payments are not served` },
  ])
  writeFileSync(path, whole)
  expect(await read('/payments')).toEqual([])
  expect(events.slice(1)).toEqual([{ type: 'recovered', message: 'the journal of payouts can be read again' }])
})

it.each([
  ['page=x', 'page: expected a whole number from 0 to 1000000, not x'],
  ['pageSize=1001', 'pageSize: expected a whole number from 0 to 1000, not 1001'],
  ['page=1&page=2', 'page: expected a whole number from 0 to 1000000, not 1,2'],
])('the pool API refuses %s', async (query, message) => {
  const { read } = await serving()
  expect(JSON.stringify(await read(`/payments?${query}`, 400))).toContain(message)
})

it('the payouts folder is that of --state; its default is the folder of a miner on a live network', () => {
  const node = (isRequired: boolean) =>
    ({ kind: 'nodes', state: { folder: 'f', isRequired } }) as unknown as MinerSetup['source']
  const relay = (isRequired: boolean) =>
    ({ kind: 'fleet', state: { folder: 'f', isRequired } }) as unknown as MinerSetup['source']
  expect(payoutFolder(node(false), 'mainnet01')).toBe('f')
  expect(payoutFolder(node(false), 'development')).toBeNull()
  expect(payoutFolder(node(true), 'development')).toBe('f')
  expect(payoutFolder(relay(false), 'mainnet01')).toBeNull()
  expect(payoutFolder(relay(true), 'mainnet01')).toBe('f')
  expect(payoutFolder({ kind: 'nodes', state: null } as unknown as MinerSetup['source'], 'mainnet01')).toBeNull()
})

it('the day of todayPaid begins at midnight UTC, and sums are exact', () => {
  const midnightMs = Math.floor(START_MS / DAY_MS) * DAY_MS
  const at = (ms: number, amount: string) => {
    return { at: new Date(ms).toISOString(), chain: 0, account: ANN, amount, requestKey: 'r' }
  }
  const payments = [at(START_MS, '0.1'), at(midnightMs, '0.2'), at(midnightMs - 1, '4.0')]
  const balance = { pending: 1n, paid: 4_300_000_000_000n, payments }
  const payouts = { rules: null, paid: 0n, payments, balanceOf: () => balance }
  expect(balanceShape(payouts, ANN, START_MS)).toEqual({
    ...{ pendingBalance: 1e-12, totalPaid: 4.3, todayPaid: 0.3, lastPayment: payments[0].at },
  })
  const nothing = { pendingBalance: 0, totalPaid: 0, todayPaid: 0, lastPayment: null }
  expect(balanceShape(null, ANN, START_MS)).toEqual(nothing)
  expect(
    paymentPage(
      Array.from({ length: 16 }, () => payments[0]),
      {},
      'KDA',
    ),
  ).toHaveLength(15)
})

import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PayoutLedger } from '../../src/pool/payouts/ledger.ts'
import { lockPayouts } from '../../src/pool/payouts/lock.ts'
import { paymentsOf, readPayments } from '../../src/pool/payouts/payments.ts'
import { PayoutJournal, payoutFile, readPayoutFile, readPayouts } from '../../src/pool/payouts/payout-journal.ts'
import type { CreditLine, PayoutLine, ResultLine, SentLine } from '../../src/pool/payouts/payout-line.ts'
import { accountOf, blockOf } from './memory-shares.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'newcut-payouts-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const at = '2026-01-01T00:00:00.000Z'
const [POOL, ANN, BEN] = ['f', 'a', 'b'].map(accountOf)
const [A, B] = ['A', 'B'].map(blockOf)

function credit(block: string, chain: number, amounts: Readonly<Record<string, string>>): CreditLine {
  const parts = Object.entries(amounts).map(([payee, amount]) => ({ payee, amount, shares: 1, worth: '1' }))
  return {
    at,
    type: 'credit',
    network: 'development',
    account: POOL,
    block,
    chain,
    height: 7,
    foundMs: 5,
    finder: ANN,
    scheme: 'solo',
    window: '2.0',
    feePercent: '1',
    reward: '2.0',
    fee: '0.02',
    rest: '0.0',
    parts,
    round: [{ after: null, upTo: { timeMs: 5, id: block } }],
  }
}

function order(key: string, chain: number, pays: SentLine['pays']): SentLine {
  const requestKey = blockOf(key)
  return {
    at,
    type: 'order',
    network: 'development',
    account: POOL,
    chain,
    requestKey,
    expires: 100,
    pays,
    command: { hash: requestKey, sigs: [{ sig: '00' }], cmd: '{}' },
  }
}

const result = (key: string, outcome: ResultLine['outcome']): ResultLine => ({
  at,
  type: 'result',
  requestKey: blockOf(key),
  outcome,
  height: outcome === 'expired' ? null : 9,
  message: '',
})

const LINES: readonly PayoutLine[] = [
  credit(A, 0, { [ANN]: '1.0', [BEN]: '0.5', nobody: '0.2', [POOL]: '0.3' }),
  credit(B, 0, { [ANN]: '0.25' }),
  order('k', 0, [
    {
      account: ANN,
      amount: '1.25',
      for: [
        { block: A, amount: '1.0' },
        { block: B, amount: '0.25' },
      ],
    },
  ]),
]

function write(...lines: readonly PayoutLine[]): void {
  const journal = PayoutJournal.open(folder, () => 0)
  journal.append(...lines)
  journal.close()
}

function attempt(task: () => unknown): unknown {
  try {
    return task()
  } catch (error) {
    return error
  }
}

describe('the journal', () => {
  it('the journal reads its lines back, over several runs, and only its owner may read it', () => {
    expect(readPayouts(folder)).toEqual([])
    write(LINES[0])
    write(...LINES.slice(1))
    expect(readPayouts(folder)).toEqual(LINES)
    if (process.platform !== 'win32') expect(statSync(payoutFile(folder)).mode & 0o777).toBe(0o600)
  })

  it('the journal creates its folder', () => {
    folder = join(folder, 'a', 'b')
    write(...LINES)
    expect(readPayouts(folder)).toEqual(LINES)
    folder = join(folder, '..', '..')
  })

  it('the journal skips a line that was cut off at any byte, and continues in its place', () => {
    write(LINES[0], LINES[1])
    const whole = readFileSync(payoutFile(folder))
    const line = Buffer.from(JSON.stringify(LINES[2]))
    for (const length of [1, 2, 50, line.length - 1, line.length]) {
      writeFileSync(payoutFile(folder), Buffer.concat([whole, line.subarray(0, length)]))
      expect(readPayouts(folder)).toEqual(LINES.slice(0, 2))
      write(LINES[2])
      expect(readPayouts(folder)).toEqual(LINES)
    }
  })

  it('the journal refuses a damaged line: it may be a payment', () => {
    write(...LINES)
    const text = readFileSync(payoutFile(folder), 'utf8')
    for (const damaged of [
      text.replace('"type":"order"', '"type":"ordex"'),
      text.replace('"1.25"', '"1,25"'),
      `x${text}`,
    ]) {
      writeFileSync(payoutFile(folder), damaged)
      expect(() => readPayouts(folder)).toThrow(/line [13] is damaged, and it may be a payment/)
      expect(() => write(LINES[0])).toThrow(/line [13] is damaged, and it may be a payment/)
      expect(() => readPayouts(folder)).toThrow(/line [13] is damaged/)
    }
  })

  it('every flipped bit of the journal stops all payments: none makes more coins due, or reopens an order', () => {
    write(credit(A, 0, { [ANN]: '1.0', [BEN]: '0.5' }), credit(B, 0, { [ANN]: '0.25' }))
    write(order('k', 0, [{ account: ANN, amount: '1.0', for: [{ block: A, amount: '1.0' }] }]), result('k', 'paid'))
    const path = payoutFile(folder)
    const right = readFileSync(path)
    const file = openSync(path, 'r+')
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    let refused = 0
    for (let bit = 0; bit < 8 * right.length; bit++) {
      const at = bit >> 3
      writeSync(file, Uint8Array.of(right[at] ^ (1 << (bit & 7))), 0, 1, at)
      try {
        readPayouts(folder)
      } catch (error) {
        if (/line \d is damaged, and it may be a payment$/.test((error as Error).message)) refused++
      }
      writeSync(file, right, at, 1, at)
    }
    Error.stackTraceLimit = stackTraceLimit
    closeSync(file)
    expect(refused).toEqual(8 * right.length)
    expect(readPayouts(folder).length).toBe(4)
  })

  it('the journal finds lost lines, a restored older copy, and says what is wrong', () => {
    write(LINES[0], LINES[1])
    const older = readFileSync(payoutFile(folder))
    write(LINES[2])
    write(result('k', 'paid'))
    writeFileSync(payoutFile(folder), older)
    const hint = expect.stringMatching(/^it is missing, as \S+payouts\.end shows; restore it from a copy/)
    expect(attempt(() => readPayouts(folder))).toMatchObject({
      code: 'DATA_UNUSABLE',
      hint,
      message: `${payoutFile(folder)}: line 3 is damaged, and it may be a payment`,
    })
  })

  it('the journal reads files without seals, as newcut wrote them before, and seals them with the next line', () => {
    const text = LINES.map((line) => `${JSON.stringify(line)}\n`).join('')
    writeFileSync(payoutFile(folder), text)
    expect(readPayoutFile(folder)).toEqual({ lines: LINES, unsealed: 3 })
    write(result('k', 'paid'))
    expect(readPayoutFile(folder)).toEqual({ lines: [...LINES, result('k', 'paid')], unsealed: 0 })
    expect(readFileSync(payoutFile(folder), 'utf8').startsWith(text)).toBe(true)
    writeFileSync(payoutFile(folder), readFileSync(payoutFile(folder), 'utf8').replace('"1.25"', '"1.24"'))
    expect(() => readPayouts(folder)).toThrow(/line 4 is damaged, and it may be a payment/)
  })

  it('the journal names the fault of a folder that cannot be written', () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    folder = join(file, 'state')
    expect(() => write(...LINES)).toThrow(/the journal of payouts cannot be written/)
    folder = join(file, '..')
    mkdirSync(payoutFile(folder))
    expect(() => readPayouts(folder)).toThrow(/cannot be read/)
  })
})

describe('the lock', () => {
  it('the lock is held by one at a time, and free again when it is released', async () => {
    const lock = await lockPayouts(folder)
    await expect(lockPayouts(folder)).rejects.toMatchObject({
      code: 'DATA_UNUSABLE',
      message: expect.stringContaining('another newcut payouts --pay is running there'),
    })
    await lock.release()
    await (await lockPayouts(folder)).release()
  })

  it('the lock creates missing folders', async () => {
    await (await lockPayouts(join(folder, 'a', 'b'))).release()
  })
})

describe('the ledger', () => {
  const owed = (ledger: PayoutLedger) => ledger.balances(POOL).map(({ account, amount }) => [account, amount])
  const [ann, ben] = [1_250_000_000_000n, 500_000_000_000n]

  it('the ledger owes credits to all accounts but that of the pool', () => {
    expect(owed(new PayoutLedger(LINES.slice(0, 2)))).toEqual([
      [ANN, ann],
      [BEN, ben],
    ])
    expect(new PayoutLedger(LINES).balances(ANN)).toEqual([])
  })

  it('the ledger owes nothing that an order pays, and owes it again if the order failed', () => {
    const ledger = new PayoutLedger(LINES)
    expect(owed(ledger)).toEqual([[BEN, ben]])
    expect(ledger.openPayouts).toHaveLength(1)
    for (const outcome of ['paid', 'failed', 'expired'] as const) {
      const after = ledger.copyWith([result('k', outcome)])
      expect(after.openPayouts).toEqual([])
      expect(owed(after)).toEqual(outcome === 'paid' ? [[BEN, ben]] : owed(new PayoutLedger(LINES.slice(0, 2))))
    }
  })

  it('the ledger believes the first result of an order, and the first credit of a block', () => {
    const ledger = new PayoutLedger([
      ...LINES,
      result('k', 'paid'),
      result('k', 'failed'),
      credit(A, 0, { [BEN]: '9.0' }),
    ])
    expect(owed(ledger)).toEqual([[BEN, ben]])
  })

  it('the ledger does not free amounts that another order pays too', () => {
    const again = order('m', 0, [{ account: ANN, amount: '1.0', for: [{ block: A, amount: '1.0' }] }])
    const rest = [
      [ANN, 250_000_000_000n],
      [BEN, ben],
    ]
    expect(owed(new PayoutLedger([...LINES, result('k', 'expired'), again, result('k', 'failed')]))).toEqual(rest)
    expect(owed(new PayoutLedger([...LINES, again, result('k', 'failed')]))).toEqual(rest)
  })

  it('the ledger is the same whether lines arrive at once or one after the other', () => {
    const lines = [...LINES, { at, type: 'orphaned', block: B } as const, result('k', 'paid')]
    const grown = lines.reduce((ledger, line) => ledger.copyWith([line]), new PayoutLedger())
    expect(owed(grown)).toEqual(owed(new PayoutLedger(lines)))
    expect(paymentsOf(lines)).toMatchObject([{ account: ANN, amount: '1.25', state: 'paid', blocks: [A, B], chain: 0 }])
  })
})

it('payments of a folder are listed with their state', () => {
  expect(readPayments(folder)).toEqual([])
  write(...LINES)
  const payment = { at, network: 'development', chain: 0, account: ANN, amount: '1.25', requestKey: blockOf('k') }
  expect(readPayments(folder)).toEqual([{ ...payment, state: 'pending', blocks: [A, B] }])
})

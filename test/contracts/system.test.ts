/** The system contracts that every chain begins with: our suites, and properties under random actions. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runTests } from '../../src/language/contracts/repl/run.ts'
import { systemContracts } from '../../src/language/contracts/system/system.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { coin, Ledger } from './ledger.ts'

const SUITES = fileURLToPath(new URL('system/', import.meta.url))
const files = {
  resolve: (from: string, path: string) => resolve(dirname(from), path),
  read: (file: string) => readFileSync(file, 'utf8'),
}

describe('suites', () => {
  it.each([
    ['coin', 185],
    ['gas-payer', 11],
    ['namespaces', 31],
  ])('the suite %s of the system contracts passes', (name, count) => {
    const { passed, failures, stopped } = runTests(`${SUITES}${name}.repl`, files)
    expect({ failures, stopped }).toEqual({ failures: [], stopped: null })
    expect(passed).toBe(count)
  })
})

describe('loading', () => {
  it('the system contracts are listed in order, each with a text', () => {
    expect(systemContracts.map(({ name }) => name)).toEqual([
      'fungible-v1',
      'fungible-xchain-v1',
      'fungible-v2',
      'coin',
      'gas-payer-v1',
      'ns',
    ])
    for (const { name, text } of systemContracts) {
      expect(text.startsWith(`(module ${name} `) || text.startsWith(`(interface ${name}\n`)).toBe(true)
    }
  })

  it('the modules of the system contracts describe each definition', () => {
    for (const { name, text } of systemContracts) {
      const definitions = text.split(/\n(?= {2}\((?:defun|defcap|defpact|defschema) )/).slice(1)
      expect(definitions.length, name).toBeGreaterThan(0)
      for (const definition of definitions) expect(definition).toContain('@doc "')
    }
  })
})

const ACCOUNTS = ['alice', 'bob', 'carol', 'dora', 'miner'] as const
const account = fc.constantFrom(...ACCOUNTS)
/** In units of 10^-12. Some amounts exceed every balance. */
const amount = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt({ min: 1n, max: 10n ** 13n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: -2n, max: 3n }) },
  { weight: 1, arbitrary: fc.constant(10n ** 20n) },
)
const mostly = fc.integer({ min: 1, max: 5 }).map((number) => number > 1)
const chain = fc.constantFrom('0', '1')
const base = { chain, from: account, to: account, amount }
const action = fc.oneof(
  fc.record({ ...base, kind: fc.constant('transfer' as const), isSigned: mostly }),
  fc.record({ ...base, kind: fc.constant('create' as const), hasWrongGuard: mostly.map((isRight) => !isRight) }),
  fc.record({ ...base, kind: fc.constant('gas' as const), used: fc.double({ min: 0, max: 1.2, noNaN: true }) }),
  fc.record({ ...base, kind: fc.constant('cross' as const), times: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ ...base, kind: fc.constant('fail' as const) }),
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

/** Units of 10^-12 as a decimal of the language. */
function decimal(units: bigint, places = 12): string {
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`
}

function amountOf(units: bigint): Decimal {
  return new Decimal(units, 12)
}

function guardOf(name: string): string {
  return `(read-keyset "${name}")`
}
const data = Object.fromEntries(ACCOUNTS.map((name) => [name, [`${name}-key`]]))
/** The initial balance of each account that exists, in units of 10^-12. */
const START = 10n ** 13n

function begin(chainId: string): Ledger {
  const ledger = new Ledger(chainId).begin()
  for (const name of ['alice', 'bob', 'miner']) {
    const reward = `(coin.coinbase "${name}" ${guardOf(name)} ${decimal(START)})`
    expect(ledger.run(reward, { data, granted: [coin('COINBASE')] }).message).toBe('')
  }
  return ledger
}

/** Loading the contracts takes longer than a run. */
const first = { 0: begin('0'), 1: begin('1') }
const begun = (chainId: keyof typeof first) => first[chainId].branch()

/** Coins that have left one chain and not yet arrived on the other, in units of 10^-12. */
interface Waiting {
  units: bigint
}

/** Runs all steps of an action. Returns whether it succeeded. */
function perform(ledgers: Readonly<Record<string, Ledger>>, waiting: Waiting, act: Action): boolean {
  const { chain: at, from, to, amount: units } = act
  const [here, there] = [ledgers[at], ledgers[at === '0' ? '1' : '0']]
  const value = decimal(units)
  const scope = [coin('TRANSFER', from, to, amountOf(units))]
  switch (act.kind) {
    case 'transfer': {
      const keys = act.isSigned ? [`${from}-key`] : []
      const { message } = here.run(`(coin.transfer "${from}" "${to}" ${value})`, { keys, scope, data })
      return message === ''
    }
    case 'create': {
      const guard = guardOf(act.hasWrongGuard ? from : to)
      const code = `(coin.transfer-create "${from}" "${to}" ${guard} ${value})`
      const { message } = here.run(code, { keys: [`${from}-key`], scope, data })
      return message === ''
    }
    case 'gas': {
      // A second transaction settles the gas. Until then the fee belongs to nobody.
      const fee = decimal((units * BigInt(Math.round(1000 * act.used))) / 1000n)
      const granted = [coin('GAS')]
      const bought = here.run(`(coin.buy-gas "${from}" ${value})`, { keys: [`${from}-key`], data, granted })
      if (bought.message !== '') return false
      const before = here.total()
      const redeem = (price: string) =>
        here.run(`(coin.redeem-gas "${to}" ${guardOf(to)} "${from}" ${value})`, {
          data: { ...data, fee: price },
          granted,
        })
      const settled = redeem(fee)
      if (settled.message === '') return true
      // A fee above the amount paid changes nothing. The network never charges such a fee.
      expect(here.total()).toBe(before)
      expect(redeem('0.0').message).toBe('')
      return false
    }
    case 'cross': {
      const crossing = [coin('TRANSFER_XCHAIN', from, to, amountOf(units), there.chainId)]
      const call = `(coin.transfer-crosschain "${from}" "${to}" ${guardOf(to)} "${there.chainId}" ${value})`
      const before = [here.total(), there.total()]
      const { pact } = here.run(call, { keys: [`${from}-key`], scope: crossing, data })
      if (pact === null) return false
      expect(here.total()).toEqual(before[0] - units)
      expect(there.total()).toEqual(before[1])
      // The second step may run late. It fails on the wrong chain, and when it runs a second time.
      expect(here.finish(pact).message).toContain('Crosschain defpact continuation error')
      const { message } = there.finish(pact)
      if (message !== '') {
        // The receiver's account has another guard. The coins stay in transit.
        expect(message).toBe('account guards do not match')
        expect(there.total()).toBe(before[1])
        waiting.units += units
        return true
      }
      for (let again = 0; again < act.times; again++) {
        expect(there.finish(pact).message).toContain('already completed')
      }
      expect(here.total()).toEqual(before[0] - units)
      expect(there.total()).toEqual(before[1] + units)
      return true
    }
    case 'fail': {
      const code = `(coin.transfer "${from}" "${to}" ${value}) (enforce false "taken back")`
      const { message } = here.run(code, { keys: [`${from}-key`], scope, data })
      expect(message).not.toBe('')
      return false
    }
  }
}

describe('coins', () => {
  it('coins are neither created nor lost, whatever happens', () => {
    const counts = new Map<string, number>()
    fc.assert(
      fc.property(fc.array(action, { minLength: 10, maxLength: 30 }), (actions) => {
        const ledgers = { 0: begun(0), 1: begun(1) }
        const waiting = { units: 0n }
        const whole = 6n * START
        for (const act of actions) {
          const key = `${act.kind} ${perform(ledgers, waiting, act) ? 'held' : 'failed'}`
          counts.set(key, (counts.get(key) ?? 0) + 1)
          expect(ledgers[0].total() + ledgers[1].total() + waiting.units).toBe(whole)
        }
      }),
      { numRuns: 40 },
    )
    // Every kind of action both succeeded and failed, so the property is not vacuous.
    for (const kind of ['transfer', 'create', 'gas', 'cross']) {
      for (const end of ['held', 'failed'])
        expect(counts.get(`${kind} ${end}`) ?? 0, `${kind} ${end}`).toBeGreaterThan(0)
    }
  })

  it('coins have events that explain all balances', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ from: account, to: account, amount }), { maxLength: 12 }), (transfers) => {
        const ledger = begun(0)
        const balances = new Map<string, bigint>(['alice', 'bob', 'miner'].map((name) => [name, START]))
        for (const { from, to, amount: units } of transfers) {
          const scope = [coin('TRANSFER', from, to, amountOf(units))]
          const call = `(coin.transfer-create "${from}" "${to}" ${guardOf(to)} ${decimal(units)})`
          const { events, message } = ledger.run(call, { keys: [`${from}-key`], scope, data })
          expect(events.map(({ name }) => name)).toEqual(message === '' ? ['TRANSFER'] : [])
          if (message !== '') continue
          balances.set(from, (balances.get(from) ?? 0n) - units)
          balances.set(to, (balances.get(to) ?? 0n) + units)
        }
        for (const [name, units] of balances) {
          const code = `(= (coin.get-balance "${name}") ${decimal(units)})`
          expect(ledger.run(code).value, `${name} ${units}`).toBe(true)
        }
      }),
      { numRuns: 20 },
    )
  })
})

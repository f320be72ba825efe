/** Laws of execution: money is conserved, runs are repeatable, and failures leave no trace. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GasMeter } from '../../src/language/contracts/machine/environment.ts'
import type { Evaluator } from '../../src/language/contracts/machine/evaluate/evaluator.ts'
import { asValue } from '../../src/language/contracts/machine/term.ts'
import type { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { showValue } from '../../src/language/contracts/values/print.ts'
import type { CapabilityToken, ObjectValue, Value } from '../../src/language/contracts/values/value.ts'
import { CapabilityToken as Token } from '../../src/language/contracts/values/value.ts'
import { evaluatorOn, freeGas, Layer, outcome, runOn } from './evaluator.ts'
import { dec } from './native-call.ts'

const ACCOUNTS = ['alice', 'bob', 'carol'] as const
const START = 100n

const MODULE = `
(module token G
  (defcap G () (enforce false "closed"))
  (defschema account balance:decimal)
  (deftable accounts:{account})
  (defcap PAY (from:string to:string amount:decimal) @managed amount less
    (enforce (> amount 0.0) "positive")
    (enforce (!= from to) "another one")
    (compose-capability (MOVE)))
  (defcap MOVE () true)
  (defun less:decimal (left:decimal asked:decimal) (enforce (>= left asked) "exceeded") (- left asked))
  (defun open (name:string amount:decimal) (insert accounts name {"balance": amount}))
  (defun balance:decimal (name:string) (at "balance" (read accounts name)))
  (defun put (name:string amount:decimal)
    (require-capability (MOVE))
    (with-read accounts name {"balance" := b}
      (let ((after (+ b amount))) (enforce (>= after 0.0) "not enough") (update accounts name {"balance": after}))))
  (defun pay (from:string to:string amount:decimal)
    (with-capability (PAY from to amount) (put to amount) (put from (- amount))))
  (defun pay-and-fail (from:string to:string amount:decimal) (pay from to amount) (enforce false "on purpose"))
  (defun tries (from:string to:string amount:decimal) (try "caught" (pay-and-fail from to amount)))
  (defun asks (name:string amount:decimal)
    (try false (let ((b (balance name))) (enforce (>= b amount) "poor") true))))
(create-table accounts)
${ACCOUNTS.map((name) => `(open "${name}" ${START}.0)`).join('\n')}`

const account = fc.constantFrom(...ACCOUNTS, 'nobody')
const amount = fc
  .integer({ min: -20, max: 700 })
  .map((n) => `${n < 0 ? '-' : ''}${Math.floor(Math.abs(n) / 10)}.${Math.abs(n) % 10}`)
const step = fc
  .tuple(fc.constantFrom('pay', 'pay', 'pay', 'pay-and-fail', 'tries', 'asks'), account, account, amount)
  .map(([name, from, to, much]) => `(token.${name} "${from}" ${name === 'asks' ? '' : `"${to}"`} ${much})`)
/** Transactions of one to four steps. */
const commands = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 })

/** Capabilities for payments between any two accounts, up to an amount. */
const allowed: readonly CapabilityToken[] = ACCOUNTS.flatMap((from) =>
  [...ACCOUNTS, 'nobody'].map((to) => new Token('token.PAY', [from, to, dec('60.0')])),
)
const signers = new Map([['key', allowed]])

function fresh(): Layer {
  const state = new Layer()
  runOn(evaluatorOn(state), MODULE)
  return state
}

interface Outcome {
  readonly result: string
  readonly events: string
  readonly gas: number
}

/** Runs a transaction on a layer of its own, which is merged only on success. */
function command(state: Layer, text: string, limit = Number.POSITIVE_INFINITY): Outcome {
  const gas: GasMeter = { used: 0, limit }
  const layer = new Layer(state)
  const evaluator = evaluatorOn(layer, gas, { signers })
  const result = outcome(evaluator, text)
  const isDone = 'value' in result
  if (isDone) layer.mergeInto(state)
  return {
    result: isDone ? showValue(asValue(result.value)) : `${result.error.kind}: ${result.error.message}`,
    events: isDone ? eventsOf(evaluator) : '',
    gas: gas.used,
  }
}

function eventsOf({ transaction }: Evaluator): string {
  return transaction.events.map(({ module, name, params }) => `${module}.${name} ${showValue(params)}`).join('\n')
}

function rows(state: Layer): Map<string, Value> {
  const table = 'table:token.accounts'
  return new Map(state.keys(table).map((key) => [key, state.get<ObjectValue>(table, key)?.get('balance') as Value]))
}

describe('running code', () => {
  it('code conserves money over payments, failures and attempts', () => {
    fc.assert(
      fc.property(commands, (texts) => {
        const state = fresh()
        for (const steps of texts) command(state, steps.join(' '))
        const balances = [...rows(state).values()] as Decimal[]
        expect(balances).toHaveLength(ACCOUNTS.length)
        const sum = balances.reduce((total, each) => total.add(each))
        expect(sum.compare(dec(`${START * BigInt(ACCOUNTS.length)}.0`))).toBe(0)
        for (const balance of balances) expect(balance.compare(dec('0.0'))).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: 60 },
    )
  })

  it('the same commands give the same results, events, gas and state', () => {
    fc.assert(
      fc.property(commands, (texts) => {
        const [one, other] = [fresh(), fresh()]
        for (const steps of texts) {
          const text = steps.join(' ')
          expect(command(one, text)).toEqual(command(other, text))
        }
        expect(showValue(rows(one))).toBe(showValue(rows(other)))
      }),
      { numRuns: 30 },
    )
  })

  it('a command that fails leaves the state unchanged, wherever its gas runs out', () => {
    fc.assert(
      fc.property(commands, fc.integer({ min: 0, max: 400_000 }), (texts, limit) => {
        const state = fresh()
        for (const steps of texts) {
          const before = showValue(rows(state))
          const failing = command(state, `${steps.join(' ')} (enforce false "at the end")`)
          expect(failing.result).toMatch(/^(TxFailure|EvalError)/)
          expect(showValue(rows(state))).toBe(before)
          const short = command(state, steps.join(' '), limit)
          if (short.result.includes('Gas limit')) expect(showValue(rows(state))).toBe(before)
        }
      }),
      { numRuns: 30 },
    )
  })

  it('the generated commands do make payments', () => {
    const state = fresh()
    expect(command(state, '(token.pay "alice" "bob" 12.5)').result).toBe('"Write succeeded"')
    expect(showValue(rows(state))).toBe('{"alice": 87.5,"bob": 112.5,"carol": 100.0}')
    expect(command(state, '(token.tries "alice" "bob" 12.5)').result).toContain('read-only')
    expect(command(state, '(token.asks "alice" 90.0)').result).toBe('false')
    expect(outcome(evaluatorOn(state, freeGas()), '(token.pay "alice" "bob" 1.0)')).toHaveProperty('error')
  })
})

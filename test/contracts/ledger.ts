/**
 * A chain of the system contracts without blocks. Each run is a transaction that either succeeds or leaves no trace.
 */
import { ContractError } from '../../src/language/contracts/errors.ts'
import { language } from '../../src/language/contracts/language.ts'
import type { PactState } from '../../src/language/contracts/machine/ast.ts'
import { type EmittedEvent, freeGas, type Message } from '../../src/language/contracts/machine/environment.ts'
import { Evaluator } from '../../src/language/contracts/machine/evaluate/evaluator.ts'
import { continuePact } from '../../src/language/contracts/machine/evaluate/pacts.ts'
import { runText } from '../../src/language/contracts/machine/load/execute.ts'
import { withGranted } from '../../src/language/contracts/machine/rights/capabilities.ts'
import { newTransaction } from '../../src/language/contracts/machine/scopes.ts'
import { Layer } from '../../src/language/contracts/machine/state.ts'
import type { Term } from '../../src/language/contracts/machine/term.ts'
import { systemContracts, systemTables } from '../../src/language/contracts/system/system.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { hashText } from '../../src/language/contracts/values/hash.ts'
import { CapabilityToken, type ObjectValue, type Value } from '../../src/language/contracts/values/value.ts'
import { environment as defaultEnvironment } from './evaluator.ts'

export interface Command {
  /** Keys that sign. */
  readonly keys?: readonly string[]
  /** Capabilities that all signatures are for; none to sign without restriction. */
  readonly scope?: readonly CapabilityToken[]
  readonly data?: Readonly<Record<string, Value>>
  /** Capabilities that the network grants: GAS, COINBASE and the like. */
  readonly granted?: readonly CapabilityToken[]
}

export interface Outcome {
  /** The value, or null if the transaction failed. */
  readonly value: Term | null
  /** The error message; empty if the transaction succeeded. */
  readonly message: string
  readonly events: readonly EmittedEvent[]
  /** The pact that the transaction began or continued. */
  readonly pact: PactState | null
}

export function coin(name: string, ...args: Value[]): CapabilityToken {
  return new CapabilityToken(`coin.${name}`, args)
}

export class Ledger {
  readonly chainId: string
  readonly state: Layer
  #count = 0

  constructor(chainId: string, state = new Layer()) {
    this.chainId = chainId
    this.state = state
  }

  /** A ledger that begins with this one's state, and leaves it as it is. */
  branch(): Ledger {
    const branch = new Ledger(this.chainId, new Layer(this.state))
    branch.#count = this.#count
    return branch
  }

  /** Loads the system contracts. */
  begin(): this {
    const texts = [
      ...systemContracts.map(({ text }) => text),
      systemTables.map((table) => `(create-table ${table})`).join(' '),
    ]
    const { message } = this.run(texts.join('\n'))
    if (message !== '') throw new Error(message)
    return this
  }

  run(code: string, command: Command = {}): Outcome {
    return this.#transact(command, (evaluator) => runText(evaluator, code))
  }

  /** Runs the second step of a pact that began on another chain. */
  finish(pact: PactState, command: Command = {}): Outcome {
    const { id, yielded } = pact
    const rest = { id, step: 1, isRollback: false, resumed: yielded, proven: pact }
    return this.#transact(command, (evaluator) => continuePact(evaluator, rest))
  }

  /** The sum of all balances, in units of the last place (10^-12). */
  total(): bigint {
    const domain = 'table:coin.coin-table'
    const places = this.state.keys(domain).map((key) => {
      const balance = this.state.get<ObjectValue>(domain, key)?.get('balance')
      if (!(balance instanceof Decimal) || balance.mantissa < 0n || balance.places > 12) throw new Error(`${key} owes`)
      return balance.mantissa * 10n ** BigInt(12 - balance.places)
    })
    return places.reduce((sum, each) => sum + each, 0n)
  }

  #transact({ keys = [], scope = [], data = {}, granted = [] }: Command, run: (evaluator: Evaluator) => Term): Outcome {
    const message: Message = {
      ...defaultEnvironment.message,
      data: new Map(Object.entries(data)),
      signers: new Map(keys.map((key) => [key, scope])),
      hash: hashText(`${this.chainId}.${this.#count++}`),
      sender: '',
      gasLimit: 0n,
    }
    const { chain, rules } = defaultEnvironment.block
    const block = { chain: { ...chain, chainId: this.chainId, blockHeight: 1n }, rules }
    const layer = new Layer(this.state)
    const evaluator = new Evaluator(language, block, newTransaction(message, layer, freeGas()))
    try {
      const value = withGranted(evaluator, granted, () => run(evaluator))
      layer.mergeInto(this.state)
      return { value, message: '', events: evaluator.transaction.events, pact: evaluator.program.pact }
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      return { value: null, message: error.message, events: [], pact: null }
    }
  }
}

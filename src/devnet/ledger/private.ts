/**
 * Private commands: only this node and others that they name execute them. They are never in a block.
 *
 * They run on arrival, one at a time, in a state of their own. It starts as the state after the first block of a chain,
 * lives in memory, and never sees public commands. They pay no gas; each is limited to the gas of a block.
 */

import { sizeGas } from '#ground/chain/gas.ts'
import { evalError } from '#language/contracts/errors.ts'
import { Layer } from '#language/contracts/machine/state.ts'
import { startTransaction } from '#language/contracts/run.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import type { Command, PrivateMeta } from '../command/command.ts'
import type { Chains } from '../rules/chains.ts'
import type { NetworkRules } from '../rules/network-rules.ts'
import { contextOn } from './block-context.ts'
import { resultText } from './command-result.ts'
import { environmentOf } from './gas.ts'
import { genesisIn } from './genesis.ts'
import { attempt } from './runner.ts'
import { runPayload } from './transaction.ts'

/** Maximum results that are kept, the oldest dropped first: nothing else limits private commands. */
const MAX_RESULTS = 10_000

export class PrivateLedger {
  readonly #chains: Pick<Chains, 'cut' | 'store'>
  /** Name of this node in the addresses of commands; null if it has none, and executes none. */
  readonly #entity: string | null
  readonly #rules: NetworkRules
  readonly #states = new Map<number, Layer>()
  /** Chain and request key -> JSON text of the result, oldest first. */
  readonly #results = new Map<string, string>()

  constructor(chains: Pick<Chains, 'cut' | 'store'>, entity: string | null, rules: NetworkRules) {
    this.#chains = chains
    this.#entity = entity
    this.#rules = rules
  }

  /** Executes a command once, if it is addressed to this node. Its hash and signatures must have been checked. */
  submit(chain: number, command: Command<PrivateMeta>): void {
    const { from, to } = command.meta.address
    const isOurs = this.#entity !== null && [from, ...to].includes(this.#entity)
    const key = keyOf(chain, command.key)
    if (!isOurs || this.#results.has(key)) return
    const gas = { gasLimit: this.#rules.network.blockGas, gasPrice: Decimal.of(0n) }
    const meta = { chainId: String(chain), sender: from, ...gas, ttl: 0, creationTime: 0 }
    this.#results.set(key, this.#execute(chain, { ...command, meta }))
    const [oldest] = this.#results.keys()
    if (this.#results.size > MAX_RESULTS) this.#results.delete(oldest)
  }

  /** @returns the result as JSON text, or null if there is none */
  result(chain: number, key: string): string | null {
    return this.#results.get(keyOf(chain, key)) ?? null
  }

  #execute(chain: number, command: Command): string {
    const head = this.#chains.cut.get(chain)
    if (head === undefined) throw new RangeError(`there is no chain ${chain}`)
    const { areHashesOfText } = genesisIn(this.#chains.store)
    const context = contextOn(chain, head, { ...this.#rules.on(head), areHashesOfText })
    const state = this.#states.get(chain) ?? new Layer(genesisIn(this.#chains.store, chain).state)
    this.#states.set(chain, state)
    const layer = new Layer(state)
    const { blockGas, gasModel } = context.rules
    const gas = { used: sizeGas(command.size, gasModel) * 1000, limit: blockGas * 1000 }
    const evaluator = startTransaction(environmentOf(context, command), layer, gas)
    const about = { key: command.key, metaData: 'null', txId: null }
    const printed = attempt(() => {
      const value = runPayload(evaluator, context, command, noProofs)
      const { events } = evaluator.transaction
      const pact = evaluator.program.pact
      const used = Math.ceil(gas.used / 1000)
      return resultText({ ...about, gas: used, result: { value }, writes: layer.entries(), events, pact })
    })
    if ('error' in printed) {
      return resultText({ ...about, gas: blockGas, result: printed, writes: null, events: [], pact: null })
    }
    layer.mergeInto(state)
    return printed.value
  }
}

const keyOf = (chain: number, key: string) => `${chain} ${key}`

function noProofs(): never {
  throw evalError('Continuation error: private commands have no proofs of other chains')
}

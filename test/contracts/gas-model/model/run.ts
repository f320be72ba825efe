/** Runs the transactions of a program in the model. */
import type { Data, Program, SignedCapability, Transaction } from '../program/tree.ts'
import { readDecimal } from './desugar.ts'
import { runForm, topEnv } from './load.ts'
import { Machine } from './machine.ts'
import { continuePact } from './pacts.ts'
import { Database, Fatal, Recoverable, State, type Token } from './state.ts'
import { objectOf, UNIT, type Value } from './terms.ts'

export interface ModelOutcome {
  /** Milligas. */
  readonly gas: number
  readonly value: Value | null
  readonly pact: string | null
  /** The reason of a failure; empty if there is none. */
  readonly failure: string
}

export function valueOfData(data: Data): Value {
  if (typeof data === 'string') return { v: 'string', s: data }
  if (typeof data === 'bigint') return { v: 'integer', n: data }
  if (typeof data === 'boolean') return { v: 'bool', b: data }
  if ('decimal' in data) return { v: 'decimal', d: readDecimal(data.decimal) }
  if ('list' in data) return { v: 'list', items: data.list.map(valueOfData) }
  return objectOf(data.object.map(([field, value]) => [field, valueOfData(value)] as const))
}

const tokenOf = ({ name, args }: SignedCapability): Token => ({ name, args: args.map(valueOfData) })

export class Model {
  #db = new Database()
  readonly #areResultsChecked: boolean
  readonly #note: (what: string) => void

  constructor({ areResultsChecked }: Program, note: (what: string) => void = () => undefined) {
    this.#areResultsChecked = areResultsChecked
    this.#note = note
  }

  /** @param hash of the transaction; @param pactId the pact that it continues */
  run({ run, signers, data }: Transaction, hash: string, pactId: string | null): ModelOutcome {
    const db = this.#db.copy()
    const message = {
      hash,
      signers: signers.map(({ key, capabilities }) => ({ key, capabilities: capabilities.map(tokenOf) })),
      data: new Map(data.map(([field, value]) => [field, valueOfData(value)])),
    }
    const state = new State(db, message, this.#areResultsChecked, this.#note)
    try {
      let value: Value = UNIT
      if ('forms' in run) for (const form of run.forms) value = runForm(state, form)
      else {
        const scope = { step: run.step, isRollback: run.rollback, id: pactId ?? '' }
        value = continuePact(new Machine(state), topEnv(), scope)
      }
      this.#db = db
      return { gas: state.gas, value, pact: state.pact?.id ?? null, failure: '' }
    } catch (error) {
      if (!(error instanceof Fatal || error instanceof Recoverable)) throw error
      const failure = error instanceof Fatal ? error.message : 'recoverable'
      return { gas: state.gas, value: null, pact: null, failure }
    }
  }
}

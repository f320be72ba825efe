/** Runs a program in our evaluator and in the model, and compares gas, outcomes and values. */
import { ContractError } from '../../../src/language/contracts/errors.ts'
import { language } from '../../../src/language/contracts/language.ts'
import type { Message } from '../../../src/language/contracts/machine/environment.ts'
import { Evaluator } from '../../../src/language/contracts/machine/evaluate/evaluator.ts'
import { continuePact } from '../../../src/language/contracts/machine/evaluate/pacts.ts'
import { runText } from '../../../src/language/contracts/machine/load/execute.ts'
import { newTransaction } from '../../../src/language/contracts/machine/scopes.ts'
import { Layer } from '../../../src/language/contracts/machine/state.ts'
import { asValue, type Term } from '../../../src/language/contracts/machine/term.ts'
import { Decimal } from '../../../src/language/contracts/values/decimal.ts'
import { hashText } from '../../../src/language/contracts/values/hash.ts'
import { showValue } from '../../../src/language/contracts/values/print.ts'
import { CapabilityToken, type Value } from '../../../src/language/contracts/values/value.ts'
import { environment } from '../evaluator.ts'
import { Model, type ModelOutcome } from './model/run.ts'
import { render } from './model/values.ts'
import { printForms } from './program/print.ts'
import type { Data, Program, Transaction } from './program/tree.ts'

export interface Difference {
  /** Number of the transaction, from 0. */
  readonly transaction: number
  readonly kind: 'gas' | 'outcome' | 'value'
  readonly evaluator: string
  readonly model: string
}

export interface Comparison {
  readonly difference: Difference | null
  readonly transactions: number
  readonly failures: number
}

/** Milligas. Beyond all programs; without any limit, the search for dependencies is free. */
const LIMIT = 10 ** 15

interface EvaluatorOutcome {
  readonly gas: number
  readonly value: Term | null
  readonly pact: string | null
  readonly failure: string
}

function dataValue(data: Data): Value {
  if (typeof data !== 'object') return data
  if ('decimal' in data) return Decimal.parse(data.decimal) as Decimal
  if ('list' in data) return data.list.map(dataValue)
  return new Map(data.object.map(([field, value]) => [field, dataValue(value)]))
}

/** A chain of our evaluator without blocks. */
class Chain {
  readonly #state = new Layer()
  readonly #areResultsChecked: boolean

  constructor({ areResultsChecked }: Program) {
    this.#areResultsChecked = areResultsChecked
  }

  run({ run, signers, data }: Transaction, hash: string, pactId: string | null): EvaluatorOutcome {
    const message: Message = {
      ...environment.message,
      hash,
      data: new Map(data.map(([field, value]) => [field, dataValue(value)])),
      signers: new Map(
        signers.map(({ key, capabilities }) => [
          key,
          capabilities.map(({ name, args }) => new CapabilityToken(name, args.map(dataValue))),
        ]),
      ),
    }
    const { chain, rules } = environment.block
    const block = { chain, rules: { ...rules, areResultsChecked: this.#areResultsChecked } }
    const gas = { used: 0, limit: LIMIT }
    const layer = new Layer(this.#state)
    const evaluator = new Evaluator(language, block, newTransaction(message, layer, gas))
    try {
      const value =
        'forms' in run
          ? runText(evaluator, printForms(run.forms))
          : continuePact(evaluator, { id: pactId ?? '', step: run.step, isRollback: run.rollback, resumed: null })
      layer.mergeInto(this.#state)
      return { gas: gas.used, value, pact: evaluator.program.pact?.id ?? null, failure: '' }
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      return { gas: gas.used, value: null, pact: null, failure: error.message }
    }
  }
}

/** @param note is called for each native, form and look-up that the model runs */
export function compareProgram(program: Program, note?: (what: string) => void): Comparison {
  const chain = new Chain(program)
  const model = new Model(program, note)
  const pacts: (string | null)[] = []
  let failures = 0
  for (const [number, transaction] of program.transactions.entries()) {
    const hash = hashText(`transaction ${number}`)
    const { run } = transaction
    const pactId = 'forms' in run ? null : (pacts[run.startedBy] ?? hash)
    // The printer notes the lines that the model needs.
    const ours = chain.run(transaction, hash, pactId)
    const theirs = model.run(transaction, hash, pactId)
    pacts.push(theirs.pact)
    if (theirs.failure !== '') failures++
    const difference = differenceOf(number, ours, theirs)
    if (difference !== null) return { difference, transactions: number + 1, failures }
  }
  return { difference: null, transactions: program.transactions.length, failures }
}

/** A failed transaction costs its whole limit on a network, so its gas up to the failure is not compared. */
function differenceOf(transaction: number, ours: EvaluatorOutcome, theirs: ModelOutcome): Difference | null {
  if ((ours.failure === '') !== (theirs.failure === '')) {
    return {
      transaction,
      kind: 'outcome',
      evaluator: ours.failure === '' ? `succeeds, ${ours.gas}` : ours.failure,
      model: theirs.failure === '' ? `succeeds, ${theirs.gas}` : theirs.failure,
    }
  }
  if (ours.value === null || theirs.value === null) return null
  if (ours.gas !== theirs.gas) {
    return { transaction, kind: 'gas', evaluator: String(ours.gas), model: String(theirs.gas) }
  }
  const [ourText, theirText] = [showValue(asValue(ours.value)), render(theirs.value)].map(withoutHashes)
  return ourText === theirText ? null : { transaction, kind: 'value', evaluator: ourText, model: theirText }
}

/** The model does not compute all hashes. They are all as long. */
function withoutHashes(text: string): string {
  return text.replace(/[\w-]{43}/g, 'HASH')
}

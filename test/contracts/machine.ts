/** Runs code without test natives, as a node would. */
import { ContractError } from '../../src/contracts/errors.ts'
import { languageForms, nativesWith } from '../../src/contracts/language.ts'
import { runText } from '../../src/contracts/machine/execute.ts'
import { type Environment, type GasMeter, Machine } from '../../src/contracts/machine/machine.ts'
import { Layer } from '../../src/contracts/machine/state.ts'
import type { Term } from '../../src/contracts/machine/term.ts'
import { Decimal } from '../../src/contracts/values/decimal.ts'
import { Time } from '../../src/contracts/values/value.ts'

const natives = nativesWith()

export const environment: Environment = {
  data: new Map(),
  signers: new Map(),
  verifiers: new Map(),
  hash: 'hash-of-the-command',
  chain: {
    chainId: '0',
    blockHeight: 7n,
    blockTime: new Time(0n),
    prevBlockHash: '',
    sender: 'alice',
    gasLimit: 150_000n,
    gasPrice: Decimal.of(0n),
  },
  rules: {
    isRootOpen: true,
    areKeysetsInNamespaces: false,
    namespacePolicy: null,
    isLocal: false,
    areKeysChecked: false,
    areTypesChecked: true,
  },
}

export function freeGas(): GasMeter {
  return { used: 0, limit: Number.POSITIVE_INFINITY }
}

export function machineOn(state: Layer, gas: GasMeter = freeGas(), changes: Partial<Environment> = {}): Machine {
  return new Machine({ ...environment, ...changes }, state, gas, natives)
}

/** Runs a text on a machine. */
export function runOn(machine: Machine, text: string): Term {
  return runText(machine, languageForms, text)
}

/** What a text gives, or the error that it ends in. Throws what is no error of the language. */
export function outcome(machine: Machine, text: string): { readonly value: Term } | { readonly error: ContractError } {
  try {
    return { value: runOn(machine, text) }
  } catch (error) {
    if (error instanceof ContractError) return { error }
    throw error
  }
}

export { Layer }

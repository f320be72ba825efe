/** Runs contract code on a layer of the state: commands of users, and calls of the ledger itself. */
import { NewcutError } from '#ground/base/errors.ts'
import { ContractError, NOWHERE } from '#language/contracts/errors.ts'
import { FunctionDefinition, type Run } from '#language/contracts/machine/ast.ts'
import { emptyEnvironment, type LanguageRules } from '#language/contracts/machine/environment.ts'
import { DroppedRun } from '#language/contracts/machine/state.ts'
import type { Term } from '#language/contracts/run.ts'
import { CapabilityToken, type Value } from '#language/contracts/values/value.ts'
import type { BlockRules } from '../rules/network-rules.ts'

/** Rules of the first block, which defines modules and keysets outside of namespaces. */
export const genesisRules: LanguageRules = { ...emptyEnvironment.block.rules, areResultsChecked: false }

/** Rules of all blocks after the first one. */
export function blockRules({
  isLanguage541,
  hasSlhDsa,
  areHashesOfText,
}: Pick<BlockRules, 'isLanguage541' | 'hasSlhDsa' | 'areHashesOfText'>): LanguageRules {
  return {
    ...genesisRules,
    isRootOpen: false,
    areKeysetsInNamespaces: true,
    namespacePolicy: 'ns.validate',
    isHistoryLocal: true,
    isLanguage541,
    hasSlhDsa,
    areHashesOfText,
  }
}

/** Calls a function of the coin contract. @throws ContractError */
export function callCoin(run: Run, name: string, args: readonly Value[]): Term {
  const fun = run.findModule('coin')?.get(name)
  if (!(fun instanceof FunctionDefinition)) throw new Error(`the state has no function coin.${name}`)
  return run.callFun(fun, args, NOWHERE)
}

/** A capability of the coin contract. */
export function coinToken(name: string, ...args: Value[]): CapabilityToken {
  return new CapabilityToken(`coin.${name}`, args)
}

/**
 * Runs code of a user. An error other than ContractError is a bug of the evaluator: the command fails with it, and the
 * chain continues.
 * @returns the value of the code, or the error with which it failed
 * @throws NewcutError if the state cannot be read
 */
export function attempt<T>(run: () => T): { readonly value: T } | { readonly error: ContractError } {
  try {
    return { value: run() }
  } catch (error) {
    if (error instanceof ContractError) return { error }
    // The state cannot be read, or the run begins again: the code is not at fault.
    if (error instanceof NewcutError || error instanceof DroppedRun) throw error
    const { name, message } = error as Error
    return { error: new ContractError('EvalError', `Internal error: ${name}: ${message}`) }
  }
}

/** Mutants of texts in memory, and the verdicts of tests on them. */
import { resolve } from 'node:path'
import { applyEdits } from '../../src/language/mutation/fault.ts'
import { knownModules, moduleFactsOf } from '../../src/language/mutation/module-facts.ts'
import { type Mutant, mutantsOf } from '../../src/language/mutation/mutants.ts'
import { judgeMutant, type MutantVerdict } from '../../src/language/mutation/run-tests.ts'

const CONTRACT = resolve('m.pact')
const TEST = resolve('m.repl')
const LOAD = '(load "m.pact")\n'

/** A module `m` with these members. */
export const moduleOf = (members: string) => `(module m G\n(defcap G () true)\n${members})\n`

/** All mutants of a contract. */
export function mutantsIn(contract: string): Mutant[] {
  const known = knownModules(new Map([[CONTRACT, contract]]))
  return moduleFactsOf(CONTRACT, contract, known).flatMap(mutantsOf)
}

/** The changes of a mutant, as `before => after`. */
export function changesOf(contract: string, { edits }: Mutant): string[] {
  return edits.map(({ from, to, text }) => `${contract.slice(from, to)} => ${text}`)
}

export function mutatedText(contract: string, { edits }: Mutant): string {
  return applyEdits(contract, edits)
}

/** The verdict of a test on a mutant. Without bounds, a run may cost as much as it likes. */
export function judge(
  contract: string,
  mutant: Mutant,
  test: string,
  bounds = { milligas: Number.POSITIVE_INFINITY, work: Number.POSITIVE_INFINITY },
): MutantVerdict {
  const changed = { path: CONTRACT, text: mutatedText(contract, mutant), module: mutant.module }
  const texts = new Map([[TEST, LOAD + test]])
  return judgeMutant(TEST, changed, {
    texts,
    chance: { seed: 1, runs: 16 },
    match: null,
    bounds,
    excluded: [],
    start: {},
  })
}

/** Whether a test passes on the contract without a fault. */
export function passes(contract: string, test: string): MutantVerdict {
  const unchanged = { path: CONTRACT, text: contract, module: { line: 0, column: 0 } }
  const bounds = { milligas: Number.POSITIVE_INFINITY, work: Number.POSITIVE_INFINITY }
  const texts = new Map([[TEST, LOAD + test]])
  return judgeMutant(TEST, unchanged, {
    texts,
    chance: { seed: 1, runs: 16 },
    match: null,
    bounds,
    excluded: [],
    start: {},
  })
}

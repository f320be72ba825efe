/** Runs texts for the tests of what loading refuses. */
import { expect } from 'vitest'
import type { ContractError } from '../../src/language/contracts/errors.ts'
import { language } from '../../src/language/contracts/language.ts'
import type { LanguageRules } from '../../src/language/contracts/machine/environment.ts'
import { Evaluator } from '../../src/language/contracts/machine/evaluate/evaluator.ts'
import { runTests, type TestReport } from '../../src/language/contracts/repl/run.ts'
import { environment, evaluatorOn, Layer, outcome } from './evaluator.ts'

/**
 * The error of a text. `«` stands for the place of the error, and is removed.
 * @param state what earlier commands wrote
 */
export function refusal(text: string, state = new Layer()): ContractError {
  const at = text.indexOf('«')
  const result = outcome(evaluatorOn(state), text.replace('«', ''))
  if (!('error' in result)) throw new Error(`accepted: ${text}`)
  const before = text.slice(0, at).split('\n')
  const place = { line: before.length - 1, column: (before.at(-1) ?? '').length }
  if (at >= 0) expect(result.error.place, `${text}: ${result.error.message}`).toEqual(place)
  return result.error
}

/** Expects that a network accepts a text. */
export function expectAccepted(text: string, state = new Layer()): void {
  const result = outcome(evaluatorOn(state), text)
  expect('error' in result ? result.error.message : 'accepted', text).toBe('accepted')
}

/** The error of a text under other rules of the network. */
export function ruledRefusal(text: string, rules: Partial<LanguageRules>): ContractError {
  const { block } = environment
  const { transaction } = evaluatorOn(new Layer())
  const evaluator = new Evaluator(language, { ...block, rules: { ...block.rules, ...rules } }, transaction)
  const result = outcome(evaluator, text)
  if (!('error' in result)) throw new Error(`accepted: ${text}`)
  return result.error
}

/** Runs files by name; the first one is the test file. */
export function report(files: Readonly<Record<string, string>>): TestReport {
  const [first] = Object.keys(files)
  return runTests(first, { resolve: (_, path) => path, read: (file) => files[file] })
}

/** A module with these members. */
export const module = (members: string) => `(module m G (defcap G () true) ${members})`

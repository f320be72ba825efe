/** Messages between a thread that judges mutants and its owner. */
import type { RunBounds } from '../contracts/repl/test-start.ts'
import type { CoveredFiles } from '../testing/files.ts'
import type { MeasuredFile, MutantText, MutantVerdict, TestChoices, TestFault } from './run-tests.ts'

/** A task for a thread. Its answer has the fields of the result. */
export type MutationTask =
  | { readonly kind: 'measure'; readonly file: string; readonly choices: TestChoices; readonly covered: CoveredFiles }
  /** The texts of files stay until the next message of this kind. It has no answer. */
  | { readonly kind: 'texts'; readonly choices: TestChoices; readonly texts: ReadonlyMap<string, string> }
  | {
      /** `change` asks for the failures after a change that keeps what the contract does. */
      readonly kind: 'judge' | 'change'
      readonly file: string
      readonly mutant: MutantText
      readonly bounds: RunBounds
      readonly excluded: readonly string[]
    }

export type MutationAnswer =
  | { readonly measured: MeasuredFile | null }
  | { readonly verdict: MutantVerdict }
  | { readonly failures: readonly TestFault[] }

/** Messages between a thread that judges mutants and its owner. */
import type { RunBounds } from '../contracts/repl/test-start.ts'
import type { EnvForkCall } from '../testing/env-forks.ts'
import type { CoveredFiles } from '../testing/files.ts'
import type { plainError, TestForkOptions } from '../testing/run.ts'
import type { MeasuredFile, MutantText, MutantVerdict, TestChoices, TestFault } from './run-tests.ts'

/** A task for a thread. Its answer has the fields of the result. */
export type MutationTask =
  /** The fork that all files run on; null for none. It has no answer. */
  | { readonly kind: 'fork'; readonly options: TestForkOptions | null }
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
  | { readonly measured: MeasuredFile; readonly isForked: boolean }
  | { readonly verdict: MutantVerdict }
  | { readonly failures: readonly TestFault[] }
  | { readonly error: ReturnType<typeof plainError> }

/** A call of `env-fork`, which the owner of the thread answers. */
export interface ForkCallMessage {
  readonly call: EnvForkCall
}

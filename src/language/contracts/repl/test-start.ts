/** The beginning of the run of a test file: its chain, its block and its observer. */
import type { TextPlace } from '../errors.ts'
import { Module } from '../machine/ast.ts'
import { type BlockData, type BlockScope, emptyEnvironment, type Message } from '../machine/environment.ts'
import type { Language } from '../machine/expand/expander.ts'
import type { ReadableState } from '../machine/state.ts'
import type { ObservedRun, RunObserver } from '../trace/observer.ts'
import type { ObjectValue } from '../values/value.ts'
import type { TestFailure } from './test-results.ts'

/** Default transaction hash of tests. */
const TEST_HASH = 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g'

/** Rules of test files, unless they set others. */
export const testRules = { ...emptyEnvironment.block.rules, areKeysChecked: false, areSizesOfRunner: true }

/** Access to the files that a test loads. */
export interface TestFiles {
  /** Resolves `path` relative to the file `from`. */
  resolve(from: string, path: string): string
  read(file: string): string
  /** Name of a file in messages. Default: the name as resolved. */
  displayName?(file: string): string
}

/** Languages for the parts of test files. */
export interface TestLanguages {
  /** All natives: the commands of test files. */
  readonly all: Language
  /** No natives of tests: `.pact` files. */
  readonly core: Language
  /** Natives of tests are refused where they stand: modules in test files. */
  readonly guarded: Language
}

/** Number and name of a transaction, as `begin-tx` and `commit-tx` print them. */
export interface OpenTransaction {
  readonly id: number
  readonly name: string | null
}

/** Chain that a run begins with, instead of an empty one. */
export interface ForkedChain {
  readonly state: ReadableState
  /** The block that the run is in. */
  readonly block: BlockData
}

/** The operands of `(env-fork URL OPTIONS)`, and its place. */
export interface ForkRequest {
  /** The file of the call. Names of files in the options are relative to it. */
  readonly file: string
  readonly place: TextPlace
  readonly url: string
  readonly options: ObjectValue
}

/**
 * Ends a run that asks for a fork that is not open yet. It is not a failure of the code, so nothing in the file catches it:
 * the caller drops the run, opens the fork and runs the file again.
 */
export class MissingFork extends Error {
  readonly request: ForkRequest

  constructor(request: ForkRequest) {
    super(`the fork of ${request.url} is not open yet`)
    this.name = 'MissingFork'
    this.request = request
  }
}

/** Maximum cost of a run, in milligas and in units of work. */
export interface RunBounds {
  readonly milligas: number
  readonly work: number
}

/** Ends a run before its time. It is not a failure of the code, so nothing in the file catches it. */
export class RunEnded extends Error {
  /** The first failure of a run that ends there; null if the run has spent what its bounds allow. */
  readonly failure: TestFailure | null

  constructor(failure: TestFailure | null) {
    super(failure === null ? 'the run has spent what its bounds allow' : 'the run ends at its first failure')
    this.name = 'RunEnded'
    this.failure = failure
  }
}

/** Choices for the beginning of a run. */
export interface TestRunOptions {
  /**
   * Whether the run ends at a failed expectation of this name, with `RunEnded`. Properties are not shrunk then. Default: the
   * run goes on.
   */
  readonly endsAt?: ((name: string) => boolean) | null
  /** The run ends with `RunEnded` when it costs more. Default: none. */
  readonly bounds?: RunBounds | null
  /** Default: none. */
  readonly observe?: ((run: ObservedRun) => RunObserver) | null
  /** Clock for the times of tests, in milliseconds. Default: all times are 0. */
  readonly nowMs?: () => number
  /** Default: an empty chain. */
  readonly chain?: ForkedChain | null
  /**
   * The chain of a fork, always the same object for the same fork. Default: `env-fork` fails.
   * @throws MissingFork if it is not open yet
   */
  readonly fork?: ((request: ForkRequest) => ForkedChain) | null
  /**
   * Why a fork cannot give what ended the run. The run is then reported as stopped.
   * @returns null to throw `error` again
   */
  readonly refusal?: ((error: unknown) => string | null) | null
}

/** @throws RunEnded if the run ends at a failure of this name */
export function endAtFailure({ start }: { readonly start: TestRunOptions }, failure: TestFailure): void {
  if (start.endsAt?.(failure.name) === true) throw new RunEnded(failure)
}

/** A module for the definitions at the top level of test files. */
export function testDefinitions(): Module {
  const place = { line: 0, column: 0 }
  return new Module({ name: '#test', namespace: null, isInterface: false, code: '', hash: '', txHash: '', place })
}

export function initialBlock(forked: ForkedChain | null): BlockScope {
  const { block } = emptyEnvironment
  const chain = forked?.block ?? block.chain
  return { ...block, chain, rules: testRules }
}

export function initialMessage(): Message {
  return { ...emptyEnvironment.message, data: new Map(), hash: TEST_HASH }
}

/** Test files on the state of another network. */

import { resolve } from 'node:path'
import { operatingError } from '#ground/base/errors.ts'
import { MAX_CODE_BYTES, readUserText } from '#ground/base/user-file.ts'
import { NOWHERE, type TextPlace } from '../contracts/errors.ts'
import type { ExpansionProbe } from '../contracts/machine/expand/probe.ts'
import { MissingEntry, type ReadableState } from '../contracts/machine/state.ts'
import { type ForkedChain, type TestRunOptions, testRules } from '../contracts/repl/test-start.ts'
import { Time } from '../contracts/values/value.ts'
import { type ChainCopy, MAX_ROUNDS } from '../copy/chain-copy.ts'
import { type NetworkCopyOptions, openCopy } from '../copy/network-copy.ts'
import type { Pin } from '../copy/pin.ts'
import type { RemoteNode } from '../copy/remote-node.ts'
import { testingErrors } from './errors.ts'
import { type FileOutcome, type FileRequests, runTestFile } from './files.ts'

/** A forked chain that test files run on. */
export interface TestFork {
  readonly pin: Pin
  readonly remote: RemoteNode
  readonly source: ChainCopy
  readonly chain: ForkedChain
}

interface ModuleText {
  readonly code: string
  readonly place: TextPlace
}

/** Forks as the runs of one test file see them. A run that lacks something ends, and the next one begins again. */
export interface FileForks {
  /**
   * Choices for the next run.
   * @param probe follows the code of forked modules; null for none
   */
  startOf(probe: ExpansionProbe | null): Pick<TestRunOptions, 'chain' | 'fork' | 'refusal'>
  /** The text of a forked module, and its place in the command that deployed it; null for any other module. */
  textOf(module: string): ModuleText | null
  /**
   * Gets what a run lacks.
   * @param lack the error that ended the run
   * @param round number of runs of the same code so far
   * @throws the same error if no fork can give it, NewcutError if the node does not answer
   */
  supply(lack: unknown, round: number): Promise<void>
}

/** One fork, on which the whole file runs. */
export function forksOfFile(file: string, fork: TestFork): FileForks {
  const { source } = fork
  return {
    startOf: (probe) => ({ chain: chainFollowedBy(fork, probe) }),
    textOf: (module) => textInFork(fork, module),
    supply: async (lack, round) => {
      if (!(lack instanceof MissingEntry) || !isStateOf(fork, lack.state) || round > MAX_ROUNDS) throw lack
      await source.fetcher.fetch(lack, source.hints([hintText(resolve(file))]))
    },
  }
}

/** The chain of a fork, with modules whose code a probe follows. */
export function chainFollowedBy({ source, chain }: TestFork, probe: ExpansionProbe | null): ForkedChain {
  return probe === null ? chain : { ...chain, state: source.state.followedBy(probe) }
}

export function textInFork({ source }: TestFork, module: string): ModuleText | null {
  const { modules, origins } = source.entries
  const known = modules.get(module)
  return known === undefined ? null : { code: known.code, place: origins.get(module) ?? NOWHERE }
}

export function isStateOf({ source }: TestFork, state: ReadableState): boolean {
  return source.owns(state)
}

/** Runs a test file on a fork until it misses nothing. Rejects with NewcutError if the node does not answer. */
export async function runOnFork(
  file: string,
  questions: FileRequests,
  { source, chain }: TestFork,
): Promise<FileOutcome> {
  const text = hintText(resolve(file))
  await source.warm([text])
  return source.complete(
    () => runTestFile(file, questions, { chain }),
    () => source.hints([text]),
  )
}

/**
 * Pins one chain of a network.
 * @param name of the option that names the chain, for errors
 * @param onNotice called with lines such as that the node is slow
 * @throws NewcutError BAD_OPTION for several chains, and the errors of openCopy
 */
export async function openTestFork(
  options: NetworkCopyOptions,
  name: string,
  onNotice: (line: string) => void,
): Promise<TestFork> {
  const [chain = 0, ...others] = options.chains ?? []
  if (others.length > 0) {
    throw operatingError(testingErrors.severalChains, { option: name })
  }
  const fork = await openCopy({
    ...options,
    chains: [chain],
    rules: testRules,
    onNotice,
  })
  const { pin, remote } = fork
  const source = fork.chain(chain)
  const header = fork.headers.get(chain)
  if (header === undefined) throw new Error(`chain ${chain} has no header`)
  return {
    pin,
    remote,
    source,
    chain: {
      state: source.state,
      block: {
        chainId: String(chain),
        blockHeight: header.height + 1n,
        blockTime: new Time(header.creationTime),
        prevBlockHash: source.block.hash,
      },
    },
  }
}

/** The text of a test file, for hints alone: the run reports a file that cannot be read. */
export function hintText(file: string): string {
  try {
    return readUserText(file, MAX_CODE_BYTES)
  } catch {
    return ''
  }
}

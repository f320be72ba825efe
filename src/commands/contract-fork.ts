/** Test files on the state of another network. */
import { NewcutError } from '../base/errors.ts'
import { MAX_CODE_BYTES, readUserText } from '../base/user-file.ts'
import { type ForkValues, forkSetup } from '../cli/input/fork-setup.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { type ForkedChain, testRules } from '../contracts/repl/test-start.ts'
import { Time } from '../contracts/values/value.ts'
import type { ChainCopy } from '../copy/chain-copy.ts'
import { type NetworkCopyOptions, openCopy } from '../copy/network-copy.ts'
import { type Pin, pinText } from '../copy/pin.ts'
import type { RemoteNode } from '../copy/remote-node.ts'

/** Runs files where they find the state of a chain. */
export interface FileRunner {
  /** Runs `run` until it misses nothing. */
  readonly complete: <T>(file: string, run: (chain: ForkedChain | null) => T) => Promise<T>
  /** Tells what the fork has cost. */
  readonly end: () => void
}

/** A forked chain that test files run on. */
export interface TestFork {
  readonly pin: Pin
  readonly remote: RemoteNode
  readonly source: ChainCopy
  readonly chain: ForkedChain
}

const WITHOUT: FileRunner = { complete: async (_, run) => run(null), end: () => undefined }

/** Pins the network that the options name, or runs files on an empty state. */
export async function fileRunner(values: ForkValues, { err, environment }: Surroundings): Promise<FileRunner> {
  const options = forkSetup(values, environment)
  if (options === null) return WITHOUT
  const tell = printerTo(err)
  const { pin, remote, source, chain } = await openTestFork(options, '--fork-chains', tell)
  const at = `at height ${pin.height}, chain ${source.block.chain}`
  tell(`fork of ${pin.network} ${at}; again: --fork-cut '${pinText(pin)}'`)
  return {
    complete: async (file, run) => {
      const text = textOf(file)
      await source.warm([text])
      return source.complete(
        () => run(chain),
        () => source.hints([text]),
      )
    },
    end: () => tell(costOf(remote)),
  }
}

/**
 * Pins one chain of a network.
 * @param name of the option that names the chain, for errors
 */
export async function openTestFork(
  options: NetworkCopyOptions,
  name: string,
  tell: (line: string) => void,
): Promise<TestFork> {
  const [chain = 0, ...others] = options.chains ?? []
  if (others.length > 0) {
    throw new NewcutError('BAD_OPTION', `${name}: a test file runs on one chain`, { hint: 'name one of them' })
  }
  const fork = await openCopy({
    ...options,
    chains: [chain],
    rules: testRules,
    onNotice: tell,
  })
  const { pin, remote } = fork
  const source = fork.chain(chain)
  const header = fork.headers.get(chain)
  if (header === undefined) throw new Error(`chain ${chain} has no header`)
  return {
    ...{ pin, remote, source },
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

/** A line about the requests of a fork. */
export function costOf({ url, requests }: RemoteNode): string {
  return `requests to ${url}: ${requests}`
}

/** The text of a test file, for hints alone: the run reports a file that cannot be read. */
export function textOf(file: string): string {
  try {
    return readUserText(file, MAX_CODE_BYTES)
  } catch {
    return ''
  }
}

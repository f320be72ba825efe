/** Test files on the state of another network. */
import { readFileSync } from 'node:fs'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { type ForkedChain, testRules } from '../contracts/repl/test-start.ts'
import { Time } from '../contracts/values/value.ts'
import { NewcutError } from '../core/errors.ts'
import { openFork } from '../fork/fork.ts'
import { pinText } from '../fork/pin.ts'
import { type ForkValues, forkSetup } from './fork-setup.ts'

/** Runs files where they find the state of a chain. */
export interface FileRunner {
  /** Runs `run` until it misses nothing. */
  readonly complete: <T>(file: string, run: (chain: ForkedChain | null) => T) => Promise<T>
  /** Tells what the fork has cost. */
  readonly end: () => void
}

const WITHOUT: FileRunner = { complete: async (_, run) => run(null), end: () => undefined }

/** Pins the network that the options name, or runs files on an empty state. */
export async function fileRunner(values: ForkValues, { err, environment }: Surroundings): Promise<FileRunner> {
  const options = forkSetup(values, environment)
  if (options === null) return WITHOUT
  const tell = printerTo(err)
  const [chain = 0, ...others] = options.chains ?? []
  if (others.length > 0) {
    throw new NewcutError('BAD_OPTION', '--fork-chains: a test file runs on one chain', { hint: 'name one of them' })
  }
  const fork = await openFork({ ...options, chains: [chain], rules: testRules, onNotice: tell })
  const { pin, remote } = fork
  const one = fork.chain(chain)
  const header = fork.headers.get(chain)
  if (header === undefined) throw new Error(`chain ${chain} has no header`)
  tell(`fork of ${pin.network} at height ${pin.height}, chain ${chain}; again: --fork-cut '${pinText(pin)}'`)
  const forked: ForkedChain = {
    state: one.state,
    block: {
      chainId: String(chain),
      blockHeight: header.height + 1n,
      blockTime: new Time(header.creationTime),
      prevBlockHash: one.block.hash,
    },
  }
  return {
    complete: async (file, run) => {
      const text = textOf(file)
      await one.warm([text])
      return one.complete(
        () => run(forked),
        () => one.hints([text]),
      )
    },
    end: () => tell(`requests to ${remote.url}: ${remote.requests}`),
  }
}

/** The text of a test file, for hints alone: the run reports a file that cannot be read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

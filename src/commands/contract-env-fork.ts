/** Test files that fork a network themselves, with `env-fork`. */
import { dirname, resolve } from 'node:path'
import { describeError, NewcutError } from '../base/errors.ts'
import { type ForkValues, forkOf } from '../cli/input/fork-setup.ts'
import { forkOptions } from '../cli/options/fork.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { type ValueKind, valueIn } from '../cli/values.ts'
import { MissingEntry } from '../contracts/machine/state.ts'
import { type ForkRequest, MissingFork, type Start } from '../contracts/repl/test-start.ts'
import { showValue } from '../contracts/values/print.ts'
import type { Value } from '../contracts/values/value.ts'
import { MAX_ROUNDS } from '../copy/chain-copy.ts'
import type { NetworkCopyOptions } from '../copy/network-copy.ts'
import { pinText } from '../copy/pin.ts'
import { type FileOutcome, type FileQuestions, runTestFile } from '../testing/files.ts'
import { costOf, openTestFork, type TestFork, textOf } from './contract-fork.ts'

/** Field of the options of `env-fork` -> the option of the command line. */
const FIELDS = new Map<string, keyof typeof forkOptions>([
  ['chain', 'fork-chains'],
  ['cut', 'fork-cut'],
  ['cache', 'fork-cache'],
  ['limit', 'fork-limit'],
  ['timeout', 'fork-timeout'],
  ['table-rows', 'fork-table-rows'],
  ['pacts', 'fork-pact'],
])

/** The forks of one run of test files. Files with the same `env-fork` share a pin, and what it has fetched. */
export class EnvForks {
  readonly #environment: Surroundings['environment']
  readonly #tell: (line: string) => void
  /** Options as text -> the fork. */
  readonly #forks = new Map<string, TestFork>()
  /** Request as text -> its fork. */
  readonly #answers = new Map<string, TestFork>()

  constructor({ err, environment }: Surroundings) {
    this.#environment = environment
    this.#tell = printerTo(err)
  }

  /** Runs a file until it misses nothing. If a fork fails, the file stops at the form that needs it. */
  async run(file: string, questions: FileQuestions): Promise<FileOutcome> {
    let refused: string | null = null
    const start: Start = {
      fork: (request) => {
        const fork = this.#answers.get(keyOf(request))
        if (fork === undefined) throw new MissingFork(request)
        return fork.chain
      },
      refusal: () => refused,
    }
    for (let round = 1; ; round++) {
      try {
        return runTestFile(file, questions, start)
      } catch (error) {
        refused =
          round < MAX_ROUNDS ? await this.#fetched(error, file) : `env-fork: after ${round} runs it still misses`
      }
    }
  }

  /** Tells what the forks have cost. */
  end(): void {
    for (const { remote } of this.#forks.values()) this.#tell(costOf(remote))
  }

  /** Fetches what a run lacks. @returns why it cannot be had, or null */
  async #fetched(lack: unknown, file: string): Promise<string | null> {
    try {
      if (lack instanceof MissingFork) await this.#open(lack.request, file)
      else if (lack instanceof MissingEntry) await this.#fetch(lack, file)
      else throw lack
      return null
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      return `env-fork: ${describeError(error)}${error.hint === undefined ? '' : ` (${error.hint})`}`
    }
  }

  async #fetch(entry: MissingEntry, file: string): Promise<void> {
    const fork = [...this.#forks.values()].find(({ chain }) => chain.state === entry.state)
    if (fork === undefined) throw entry
    await fork.source.fetcher.fetch(entry, fork.source.hints([textOf(file)]))
  }

  async #open(request: ForkRequest, file: string): Promise<void> {
    const options = optionsOf(request, this.#environment)
    const key = JSON.stringify(options)
    const known = this.#forks.get(key)
    const fork = known ?? (await openTestFork(options, '"chain"', this.#tell))
    this.#forks.set(key, fork)
    this.#answers.set(keyOf(request), fork)
    await fork.source.warm([...new Set([file, request.file])].map(textOf))
    if (known !== undefined) return
    const { pin, source } = fork
    const at = `at height ${pin.height}, chain ${source.block.chain}`
    this.#tell(`fork of ${pin.network} ${at}; again: (env-fork ${showValue(request.url)} {"cut": ${pinText(pin)}})`)
  }
}

function keyOf({ file, url, options }: ForkRequest): string {
  return JSON.stringify([dirname(file), url, showValue(options)])
}

/** @throws NewcutError BAD_OPTION */
function optionsOf({ file, url, options }: ForkRequest, environment: Surroundings['environment']): NetworkCopyOptions {
  const node = valueIn(forkOptions.fork.kind, url, showValue(url))
  const given: Record<string, unknown> = {}
  for (const [field, value] of options) {
    const name = FIELDS.get(field)
    if (name === undefined) {
      const hint = `fields: ${[...FIELDS.keys()].join(', ')}`
      throw new NewcutError('BAD_OPTION', `${showValue(field)} is no option`, { hint })
    }
    const kind = forkOptions[name].kind as ValueKind<unknown>
    given[name] = valueIn(kind, typed(field, value, dirname(file)), `${showValue(field)}: ${showValue(value)}`)
  }
  const rest = Object.entries(forkOptions).flatMap(([name, { fallback }]) => (name in given ? [] : [[name, fallback]]))
  return forkOf(node, { ...Object.fromEntries(rest), ...given } as ForkValues, environment)
}

/** The value of a field as the command line has it. Files are relative to the folder of the test. */
function typed(field: string, value: Value, folder: string): unknown {
  const raw = plain(value)
  if (field === 'cut' && value instanceof Map) return JSON.stringify(raw)
  const text = typeof raw === 'number' ? String(raw) : raw
  if (typeof text !== 'string') return raw
  const isFile = field === 'cut' ? !/^\d+$|^\s*\{/.test(text) : field === 'cache' && text !== 'off'
  return isFile ? resolve(folder, text) : text
}

/** A value as JSON has it, for cuts and lists. */
function plain(value: Value): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, each]) => [name, plain(each as Value)]))
  return typeof value === 'bigint' ? Number(value) : value
}

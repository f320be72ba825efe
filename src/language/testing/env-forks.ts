/** Test files that fork a network themselves, with `env-fork`. */
import { dirname } from 'node:path'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import { MissingEntry } from '../contracts/machine/state.ts'
import { type ForkedChain, type ForkRequest, MissingFork } from '../contracts/repl/test-start.ts'
import { showValue } from '../contracts/values/print.ts'
import type { Value } from '../contracts/values/value.ts'
import { MAX_ROUNDS } from '../copy/chain-copy.ts'
import type { NetworkCopyOptions } from '../copy/network-copy.ts'
import { type FileOutcome, type FileRequests, runTestFile } from './files.ts'
import {
  chainFollowedBy,
  type FileForks,
  hintText,
  isStateOf,
  openTestFork,
  type TestFork,
  textInFork,
} from './fork.ts'

/** A call of `env-fork` as data, which threads can send to each other. */
export interface EnvForkCall {
  /** Folder of the file of the call. Names of files in its options are relative to it. */
  readonly folder: string
  readonly url: string
  readonly fields: readonly EnvForkField[]
}

/** A field of its options. */
export interface EnvForkField {
  readonly name: string
  /** The value as JSON has it. A value that JSON does not have is an empty object. */
  readonly value: unknown
  /** The value in source form, for errors. */
  readonly shown: string
}

/** Choices for the forks of test files. */
export interface EnvForkDependencies {
  /** The fork that a call means. @throws NewcutError BAD_OPTION for options that no fork has */
  readonly optionsOf: (call: EnvForkCall) => NetworkCopyOptions | Promise<NetworkCopyOptions>
  /** Called when a fork is pinned. */
  readonly onOpened: (fork: TestFork, call: EnvForkCall) => void
  /** Called with lines about a fork, such as that its node is slow. */
  readonly onNotice: (line: string) => void
}

/** The forks of one run of test files. Files with the same `env-fork` share a pin, and what it has fetched. */
export class EnvForks {
  readonly #ports: EnvForkDependencies
  /** Options as text -> the fork. */
  readonly #forks = new Map<string, TestFork>()
  /** Request as text -> its fork. */
  readonly #answers = new Map<string, TestFork>()

  constructor(ports: EnvForkDependencies) {
    this.#ports = ports
  }

  /** All forks so far. */
  get opened(): readonly TestFork[] {
    return [...this.#forks.values()]
  }

  /** The forks of one file. If a fork fails, the file stops at the form that needs it. */
  forksOf(file: string): FileForks {
    let refused: string | null = null
    return {
      startOf: (probe) => {
        // A run gets the same chain each time that it asks.
        const chains = new Map<TestFork, ForkedChain>()
        return {
          fork: (request) => {
            const fork = this.#answers.get(keyOf(request))
            if (fork === undefined) throw new MissingFork(request)
            const chain = chains.get(fork) ?? chainFollowedBy(fork, probe)
            chains.set(fork, chain)
            return chain
          },
          refusal: () => refused,
        }
      },
      textOf: (module) => {
        for (const fork of this.opened) {
          const text = textInFork(fork, module)
          if (text !== null) return text
        }
        return null
      },
      supply: async (lack, round) => {
        const isEnough = round >= MAX_ROUNDS
        refused = isEnough ? `env-fork: after ${round} runs it still misses` : await this.#supply(lack, file)
      },
    }
  }

  /** Runs a file until it misses nothing. */
  async run(file: string, questions: FileRequests): Promise<FileOutcome> {
    const { startOf, supply } = this.forksOf(file)
    for (let round = 1; ; round++) {
      try {
        return runTestFile(file, questions, startOf(null))
      } catch (error) {
        await supply(error, round)
      }
    }
  }

  /** Fetches what a run lacks. @returns why that fails, or null */
  async #supply(lack: unknown, file: string): Promise<string | null> {
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
    const fork = [...this.#forks.values()].find((each) => isStateOf(each, entry.state))
    if (fork === undefined) throw entry
    await fork.source.fetcher.fetch(entry, fork.source.hints([hintText(file)]))
  }

  async #open(request: ForkRequest, file: string): Promise<void> {
    const call = callOf(request)
    const options = await this.#ports.optionsOf(call)
    const key = JSON.stringify(options)
    const known = this.#forks.get(key)
    const fork = known ?? (await openTestFork(options, '"chain"', this.#ports.onNotice))
    this.#forks.set(key, fork)
    this.#answers.set(keyOf(request), fork)
    await fork.source.warm([...new Set([file, request.file])].map(hintText))
    if (known === undefined) this.#ports.onOpened(fork, call)
  }
}

function keyOf({ file, url, options }: ForkRequest): string {
  return JSON.stringify([dirname(file), url, showValue(options)])
}

function callOf({ file, url, options }: ForkRequest): EnvForkCall {
  const fields = [...options].map(([name, value]) => ({ name, value: plain(value), shown: showValue(value) }))
  return { folder: dirname(file), url, fields }
}

function plain(value: Value): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, each]) => [name, plain(each as Value)]))
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'object' ? {} : value
}

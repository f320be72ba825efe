/** A test file as a program to debug, with the files that it loads. */
import { dirname, isAbsolute, resolve } from 'node:path'
import { MAX_CODE_BYTES, readUserText } from '#ground/base/user-file.ts'
import { ContractError, type TextPlace } from '../contracts/errors.ts'
import type { Module } from '../contracts/machine/ast.ts'
import {
  languagesOf,
  type PropertyRuns,
  runTests,
  type TestFiles,
  type TestReport,
  type TestRun,
} from '../contracts/repl/run.ts'
import type { Form } from '../contracts/syntax/form.ts'
import { readProgram, readTest } from '../contracts/syntax/program.ts'
import { codeIn, displayPath } from '../testing/files.ts'
import type { FileForks } from '../testing/fork.ts'
import { CodeStops } from './code-stops.ts'
import { type DebuggedProgram, gasText, type ProgramEnd, type ProgramTest, placeWithin } from './debug-program.ts'
import type { ProgramFollower } from './program-follower.ts'

export class TestFileProgram implements DebuggedProgram {
  readonly #file: string
  readonly #chance: PropertyRuns
  readonly #forks: FileForks | null
  /** Texts of the files, which do not change while they are debugged. */
  readonly #texts = new Map<string, string>()
  /** Forked module -> its place in the command that deployed it. */
  readonly #origins = new Map<string, TextPlace>()
  readonly #stops = new Map<string, CodeStops>()
  #run: TestRun | null = null

  /**
   * @param chance how property tests draw values: the same ones in each run
   * @param forks of the file; default: it has none
   */
  constructor(file: string, chance: PropertyRuns, forks: FileForks | null = null) {
    this.#file = resolve(file)
    this.#chance = chance
    this.#forks = forks
  }

  get sources(): readonly string[] {
    return [...this.#texts.keys()]
  }

  get output(): readonly string[] {
    return this.#run?.output ?? []
  }

  get tests(): readonly ProgramTest[] {
    return (this.#run?.cases ?? []).map(({ name, what, file, place }) => ({ name, what, at: locationIn(file, place) }))
  }

  get failed(): number {
    return this.#run?.failures.length ?? 0
  }

  get gas() {
    const run = this.#run
    if (run === null) return []
    const { gas } = run
    const counted = gas.isCounted
      ? [{ name: 'counted', text: `${gasText(gas.used)} of ${gasText(gas.limit ?? 0)}` }]
      : []
    return [{ name: 'file so far', text: gasText(run.milligas) }, ...counted]
  }

  sourceOf(module: Module | null): string {
    const forked = module === null || module.file !== null ? null : this.#forkedText(module.name)
    return forked === null ? (this.#run?.file ?? this.#file) : (module?.name ?? '')
  }

  /** The text of a forked module, which is a source under the name of the module. */
  #forkedText(name: string): string | null {
    const known = this.#origins.has(name) ? this.#texts.get(name) : undefined
    if (known !== undefined) return known
    const found = this.#forks?.textOf(name) ?? null
    if (found === null) return null
    this.#texts.set(name, found.code)
    this.#origins.set(name, found.place)
    return found.code
  }

  placeIn(source: string, place: TextPlace): TextPlace {
    const origin = this.#origins.get(source)
    return origin === undefined ? place : placeWithin(origin, place)
  }

  stopsIn(source: string): CodeStops {
    let stops = this.#stops.get(source)
    if (stops === undefined) {
      stops = new CodeStops(formsIn(source, this.textOf(source) ?? ''))
      this.#stops.set(source, stops)
    }
    return stops
  }

  textOf(source: string): string | null {
    const known = this.#texts.get(source)
    if (known !== undefined) return known
    if (!isAbsolute(source)) return this.#forkedText(source)
    try {
      const text = readUserText(source, MAX_CODE_BYTES)
      this.#texts.set(source, text)
      return text
    } catch {
      return null
    }
  }

  run(follower: ProgramFollower): ProgramEnd {
    const files: TestFiles = {
      resolve: (from, path) => resolve(dirname(from), path),
      // A file that cannot be read fails in the words of a test run.
      read: (path) => this.textOf(path) ?? codeIn(path),
      displayName: displayPath,
    }
    const languages = (test: TestRun) => {
      this.#run = test
      return languagesOf(test, this.#chance)
    }
    return endOf(runTests(this.#file, files, languages, { ...this.#forks?.startOf(follower), observe: () => follower }))
  }

  async supply(error: unknown): Promise<boolean> {
    if (this.#forks === null) return false
    await this.#forks.supply(error, 1)
    return true
  }
}

function endOf({ passed, failures, stopped }: TestReport): ProgramEnd {
  const counts = `${passed} passed, ${failures.length + (stopped === null ? 0 : 1)} failed`
  const where = stopped === null ? '' : `${locationIn(stopped.file, stopped.place)}: ${stopped.message}\n`
  return { text: where + counts, hasFailed: failures.length > 0 || stopped !== null }
}

function locationIn(file: string, place: { readonly line: number; readonly column: number } | null): string {
  const name = displayPath(file)
  return place === null ? name : `${name}:${place.line + 1}:${place.column + 1}`
}

/** The forms of a text; none if it does not parse: its run says why. */
function formsIn(file: string, text: string): readonly Form[] {
  try {
    return isAbsolute(file) && !file.endsWith('.pact') ? readTest(text) : readProgram(text)
  } catch (error) {
    if (error instanceof ContractError) return []
    throw error
  }
}

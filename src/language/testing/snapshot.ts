/**
 * `.gas-snapshot`: the gas of each test, one sorted line a test, to see changes from one commit to the next. A run changes
 * the lines of what ran, and keeps the others.
 */

import { operatingError } from '#ground/base/errors.ts'
import type { TestCase } from '../contracts/repl/run.ts'
import { testingErrors } from './errors.ts'

/** The file in the working directory. */
export const SNAPSHOT = '.gas-snapshot'

/** Test as `file.repl:name` -> its gas, rounded up. */
export type GasSnapshot = ReadonlyMap<string, number>

/** A run, as a snapshot sees it. */
export interface SnapshotRun {
  /** The tests that ran. */
  readonly gas: GasSnapshot
  /** Whether this test of an older snapshot is gone: its file ran whole, without it. */
  readonly isGone: (test: string) => boolean
}

/** The files that decide whether tests are gone. */
interface RanFiles {
  /** Files that were run to their ends, and those that they read, as names of a snapshot have them. */
  readonly whole: ReadonlySet<string>
  /** Files among them that were run for themselves. */
  readonly own: ReadonlySet<string>
  /** Whether a file does not exist any more, though a run of its folder would have found it. */
  readonly isDeleted: (file: string) => boolean
}

/** A test that may have a number, because its file repeats its name. */
const NUMBERED = /^(.*) \((\d+)\)$/s

/**
 * Gas of all tests but property tests, whose gas depends on chance. A name that a file repeats gets a number.
 * @param isChosen whether the user asks for a test; others count for the numbers alone
 */
export function snapshotOf(
  cases: readonly TestCase[],
  shown: (file: string) => string,
  isChosen: (test: TestCase) => boolean = () => true,
): GasSnapshot {
  const gas = new Map<string, number>()
  const counts = new Map<string, number>()
  for (const each of cases) {
    const { file, name, milligas } = each
    if (milligas === null) continue
    const bare = `${shown(file)}:${name.replace(/\s+/g, ' ')}`
    const count = (counts.get(bare) ?? 0) + 1
    counts.set(bare, count)
    if (isChosen(each)) gas.set(count === 1 ? bare : `${bare} (${count})`, Math.ceil(milligas / 1000))
  }
  return sorted(gas)
}

const sorted = (gas: GasSnapshot): GasSnapshot => new Map([...gas].sort(([one], [other]) => (one < other ? -1 : 1)))

/** @returns whether a test of an older snapshot is gone, as the files that ran show */
export function goneTests({ whole, own, isDeleted }: RanFiles): SnapshotRun['isGone'] {
  // A name may have colons, and so may the path of its file.
  const filesOf = (test: string) => [...test.matchAll(/:/g)].map(({ index }) => test.slice(0, index))
  return (test) => {
    const files = filesOf(test)
    const file = files.find((each) => whole.has(each))
    if (file === undefined) return files.some((each) => each.endsWith('.repl') && isDeleted(each))
    // Another file that loads this one gives its tests the next numbers, and may not have run.
    return own.has(file) || !NUMBERED.test(test)
  }
}

/** The older snapshot with the tests that ran, and without those that are gone. */
export function mergeSnapshot(before: GasSnapshot, { gas, isGone }: SnapshotRun): GasSnapshot {
  const stay = [...before].filter(([test]) => gas.has(test) || !isGone(test))
  return sorted(new Map([...stay, ...gas]))
}

/** The text of the file: a line for each test. */
export function snapshotText(snapshot: GasSnapshot): string {
  return [...snapshot].map(([test, gas]) => `${test} ${gas}\n`).join('')
}

/**
 * Reads the text of the file.
 * @throws NewcutError BAD_OPTION for a malformed line
 */
export function parseSnapshot(text: string): GasSnapshot {
  const lines = text.split('\n').filter((line) => line !== '')
  return new Map(
    lines.map((line, i) => {
      const [, test, gas] = /^(.+) (\d+)$/.exec(line) ?? []
      if (test !== undefined) return [test, Number(gas)]
      throw operatingError(testingErrors.malformedSnapshot, { file: SNAPSHOT, line: i + 1, content: line.slice(0, 80) })
    }),
  )
}

/**
 * Compares gas with a snapshot.
 * @param tolerance per cent by which the gas of a test may differ
 * @returns a line for each test that differs
 */
export function snapshotDifferences(before: GasSnapshot, { gas, isGone }: SnapshotRun, tolerance: number): string[] {
  const tests = [...new Set([...before.keys(), ...gas.keys()])].sort((one, other) => (one < other ? -1 : 1))
  return tests.flatMap((test) => {
    const [was, is] = [before.get(test), gas.get(test)]
    if (was === undefined) return [`${test}: new, gas ${is}`]
    if (is === undefined) return isGone(test) ? [`${test}: gone, gas was ${was}`] : []
    if (Math.abs(is - was) * 100 <= tolerance * was) return []
    const sign = is > was ? '+' : ''
    const percent = was === 0 ? '' : `, ${sign}${(((is - was) * 100) / was).toFixed(2)} %`
    return [`${test}: gas ${was} -> ${is} (${sign}${is - was}${percent})`]
  })
}

/** `.gas-snapshot`: the gas of each test, one sorted line a test, to see changes from one commit to the next. */

import { operatingError } from '#ground/base/errors.ts'
import type { TestCase } from '../contracts/repl/run.ts'
import { testingErrors } from './errors.ts'

/** The file in the working directory. */
export const SNAPSHOT = '.gas-snapshot'

/** Test as `file.repl:name` -> its gas, rounded up. */
export type GasSnapshot = ReadonlyMap<string, number>

/** Gas of all tests but property tests, whose gas depends on chance. A name that a file repeats gets a number. */
export function snapshotOf(cases: readonly TestCase[], shown: (file: string) => string): GasSnapshot {
  const gas = new Map<string, number>()
  const counts = new Map<string, number>()
  for (const { file, name, milligas } of cases) {
    if (milligas === null) continue
    const bare = `${shown(file)}:${name.replace(/\s+/g, ' ')}`
    const count = (counts.get(bare) ?? 0) + 1
    counts.set(bare, count)
    gas.set(count === 1 ? bare : `${bare} (${count})`, Math.ceil(milligas / 1000))
  }
  return new Map([...gas].sort(([one], [other]) => (one < other ? -1 : 1)))
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
 * @param files files that ran: tests of others are not compared
 * @returns a line for each test that differs
 */
export function snapshotDifferences(
  before: GasSnapshot,
  now: GasSnapshot,
  { tolerance, files }: { readonly tolerance: number; readonly files: readonly string[] },
): string[] {
  const tests = [...new Set([...before.keys(), ...now.keys()])].sort((one, other) => (one < other ? -1 : 1))
  return tests.flatMap((test) => {
    const [was, is] = [before.get(test), now.get(test)]
    if (was === undefined) return [`${test}: new, gas ${is}`]
    if (is === undefined)
      return files.some((file) => test.startsWith(`${file}:`)) ? [`${test}: gone, gas was ${was}`] : []
    if (Math.abs(is - was) * 100 <= tolerance * was) return []
    const sign = is > was ? '+' : ''
    const percent = was === 0 ? '' : `, ${sign}${(((is - was) * 100) / was).toFixed(2)} %`
    return [`${test}: gas ${was} -> ${is} (${sign}${is - was}${percent})`]
  })
}

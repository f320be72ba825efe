/**
 * Suites of the contract language by name: cases of the language, and those of other projects.
 *
 * Suites of others are not part of this project. NEWCUT_SUITES names a folder with them; CONTRIBUTING.md names
 * some. Each file may fail as many expectations as known-suites.json says, and no more. A file that fails
 * fewer must be written there with its new number, so that the list only shrinks.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runTests, type TestReport } from '../../src/language/contracts/repl/run.ts'
import { describeWith } from '../needs.ts'

const CASES = join(import.meta.dirname, '../contracts/suites/cases')
const OUTSIDE = process.env.NEWCUT_SUITES

/** Expectations of a suite that pass and fail. A file that ends early fails one more. */
interface Known {
  readonly passed: number
  readonly failed: number
}

const known: Readonly<Record<string, Known>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'known-suites.json'), 'utf8'),
)

function suitesIn(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return all.filter((name) => name.endsWith('.repl')).sort()
}

function run(file: string): TestReport {
  return runTests(file, {
    resolve: (from, path) => resolve(dirname(from), path),
    read: (path) => readFileSync(path, 'utf8'),
  })
}

/** The result of a suite, which is printed with its name. */
function resultOf(folder: string, name: string): Known {
  const { passed, failures, stopped } = run(join(folder, name))
  const failed = failures.length + (stopped === null ? 0 : 1)
  const end = stopped === null ? '' : `, ended early: ${stopped.message}`
  console.log(`suite ${name}: ${passed} of ${passed + failed}${end}`)
  return { passed, failed }
}

describe('cases of the language', () => {
  it.each(suitesIn(CASES))('the cases of the language in %s pass', (name) => {
    const { passed, failed } = resultOf(CASES, name)
    expect(failed).toBe(0)
    expect(passed).toBeGreaterThan(0)
  })
})

describeWith(OUTSIDE === undefined ? 'NEWCUT_SUITES names no folder' : null, 'suites of others', () => {
  const folder = OUTSIDE ?? ''
  it.each(suitesIn(folder))('the suite %s passes as many expectations as listed', (name) => {
    const { passed, failed } = resultOf(folder, name)
    const { passed: least, failed: most } = known[name] ?? { passed: 0, failed: 0 }
    expect({ passed, failed }).toEqual({ passed: Math.max(passed, least), failed: most })
  })
})

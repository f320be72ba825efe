/** Files of `newcut test --mutate-report`, by the schema that viewers of mutation testing reports have. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Compile } from 'typebox/schema'
import { expect, it, onTestFinished } from 'vitest'
import { contractIn } from '../contracts/contract-in.ts'

const SCHEMA = 'node_modules/mutation-testing-report-schema/dist/src/mutation-testing-report-schema.json'

/** One fault of each end: killed, survived, silenced, not reached, and one that does not load. */
const CONTRACT = `(module m G
  (defcap G () true)
  (defconst PART:decimal (/ 1.0 1.0))
  (defun pay (n:integer)
    (enforce (> n 0) "positive")
    (* n PART)) ; newcut-mutate: ignore arithmetic: by 1.0
  (defun unused () 7))
`

it('a report of planted faults is valid by the schema of viewers, with every status', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-report-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'm.pact'), CONTRACT)
  writeFileSync(join(folder, 'm.repl'), '(load "m.pact")\n(expect "pays" 2.0 (m.pay 2))')
  const { stderr } = await contractIn(folder, [
    'm.repl',
    '--mutate',
    '--mutate-report',
    'r.json',
    '--mutate-cache',
    'off',
  ])
  expect(stderr).toBe('')
  const report = JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8'))
  const statuses = report.files['m.pact'].mutants.map(({ status }: { status: string }) => status)
  expect([...new Set(statuses)].toSorted()).toEqual(['CompileError', 'Ignored', 'Killed', 'NoCoverage', 'Survived'])

  const schema = JSON.parse(readFileSync(new URL(`../${SCHEMA}`, import.meta.url), 'utf8'))
  const validator = Compile(schema)
  expect(validator.Check(report)).toBe(true)
  report.files['m.pact'].mutants[0].status = 'Unknown'
  expect(validator.Check(report)).toBe(false)
})

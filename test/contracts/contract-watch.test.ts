/** `newcut contract --watch`, without a process: which changes count, and how it ends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Output } from '../../src/cli/line.ts'
import { watchFiles } from '../../src/commands/contract-watch.ts'
import { until } from '../wait.ts'

it('counts each file once, leaves out others beside them, and ends with the last exit code', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-watch-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [test, loaded, other] = ['a.repl', 'b.pact', 'c.txt'].map((name) => join(folder, name))
  writeFileSync(loaded, '1')
  const stopped = new AbortController()
  let out = ''
  let runs = 0
  const write = (text: string) => {
    out += text
    return true
  }
  const run = async () => ({ status: ++runs, read: [test, test, loaded] })
  const ended = watchFiles(run, { write } as unknown as Output, stopped.signal)
  const watching = 'watching 2 files: Ctrl-C ends\n'
  await until(() => out === watching)
  writeFileSync(loaded, '2')
  writeFileSync(other, '2')
  await until(() => out.split(watching).length > 2)
  expect(out).toBe(`${watching}\nb.pact has changed\n${watching}`)
  stopped.abort()
  expect(await ended).toBe(2)
})

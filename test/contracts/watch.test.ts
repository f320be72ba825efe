/** Watched test files: which changes count, and how it ends. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type WatchEvents, watchFiles } from '../../src/language/testing/watch.ts'
import { until } from '../wait.ts'

/** Watches the files in a new folder. `until` waits for a text, and resolves with all that was written. */
function watched(...names: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-watch-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const stopped = new AbortController()
  let out = ''
  let runs = 0
  const events: WatchEvents = {
    onWatching: (files) => {
      out += `watching ${files}\n`
    },
    onChange: (name) => {
      out += `${name} has changed\n`
    },
  }
  const run = async () => ({ status: ++runs, read: names.map((name) => join(folder, name)) })
  const ended = watchFiles(run, events, stopped.signal)
  const sees = async (text: string) => {
    await until(() => out.includes(text))
    return out
  }
  return { at: (name: string) => join(folder, name), sees, stop: () => stopped.abort(), ended }
}

it('the watch counts each file once, ignores others beside them, and ends with the last result', async () => {
  const { at, sees, stop, ended } = watched('a.repl', 'a.repl', 'b.pact')
  const watching = 'watching 2\n'
  await sees(watching)
  writeFileSync(at('b.pact'), '2')
  writeFileSync(at('c.txt'), '2')
  expect(await sees(`has changed\n${watching}`)).toBe(`${watching}b.pact has changed\n${watching}`)
  stop()
  expect((await ended)?.status).toBe(2)
})

it('the watch waits for a file whose folders are missing', async () => {
  const { at, sees, stop, ended } = watched('none/in/a.repl')
  const watching = 'watching 1\n'
  await sees(watching)
  mkdirSync(at('none'))
  await sees(`none has changed\n${watching}`)
  mkdirSync(at('none/in'))
  await sees(`in has changed\n${watching}`)
  writeFileSync(at('none/in/a.repl'), '1')
  await sees(`a.repl has changed\n${watching}`)
  stop()
  expect((await ended)?.status).toBe(4)
})

/** Watched test files: which changes count, what runs again, and how it ends. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findTestFiles } from '../../src/language/testing/find.ts'
import { type WatchWish, watchFiles } from '../../src/language/testing/watch.ts'
import { until } from '../wait.ts'

/**
 * Watches the files and folders of these names in a new folder. `until` waits for a text, and resolves with all that was
 * written.
 * @param reads name of a test file -> names of other files that it reads
 * @param failing names of files whose tests fail
 */
function watched(
  names: readonly string[],
  {
    reads = {},
    failing = [],
  }: { reads?: Readonly<Record<string, readonly string[]>>; failing?: readonly string[] } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-watch-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  const stopped = new AbortController()
  let out = ''
  let runs = 0
  let wish: (which: WatchWish) => void = () => undefined
  const ended = watchFiles(
    {
      find: () => findTestFiles(names.map(at), true),
      run: async (files) => {
        out += `run ${files.map((file) => basename(file)).join(' ')}\n`
        const read = new Map(files.map((file) => [file, [file, ...(reads[basename(file)] ?? []).map(at)]]))
        return { status: ++runs, read, failed: files.filter((file) => failing.includes(basename(file))) }
      },
      onWatching: (files) => {
        out += `watching ${files}\n`
      },
      onChange: (paths) => {
        out += `${paths.map((path) => basename(path)).join(', ')} has changed\n`
      },
      listen: (onWish) => {
        wish = onWish
        return () => {
          out += 'left\n'
        }
      },
    },
    stopped.signal,
  )
  const sees = async (text: string) => {
    await until(() => out.includes(text))
    return out
  }
  return { at, sees, stop: () => stopped.abort(), ended, press: (which: WatchWish) => wish(which) }
}

it('the watch counts each file once, ignores others beside them, and ends with the last result', async () => {
  const { at, sees, stop, ended } = watched(['a.repl', 'a.repl', 'b.repl'], { reads: { 'b.repl': ['b.pact'] } })
  const watching = 'run a.repl b.repl\nwatching 3\n'
  await sees(watching)
  writeFileSync(at('b.pact'), '2')
  writeFileSync(at('c.txt'), '2')
  writeFileSync(at('other.repl'), '2')
  const again = 'b.pact has changed\nrun b.repl\nwatching 3\n'
  expect(await sees(again)).toBe(`${watching}${again}`)
  stop()
  expect((await ended)?.status).toBe(2)
  expect(await sees('left')).toBe(`${watching}${again}left\n`)
})

it('the watch waits for a file whose folders are missing', async () => {
  const { at, sees, stop, ended } = watched(['none/in/a.repl'])
  const watching = 'watching 1\n'
  await sees(watching)
  mkdirSync(at('none'))
  await sees(`none has changed\nrun a.repl\n${watching}`)
  mkdirSync(at('none/in'))
  await sees(`in has changed\nrun a.repl\n${watching}`)
  writeFileSync(at('none/in/a.repl'), '1')
  await sees(`a.repl has changed\nrun a.repl\n${watching}`)
  stop()
  expect((await ended)?.status).toBe(4)
})

it('the watch runs new test files of a folder, and of folders that are new in it', async () => {
  const { at, sees, stop, ended } = watched([''])
  await sees('run \nwatching 0\n')
  writeFileSync(at('a.repl'), '1')
  await sees('a.repl has changed\nrun a.repl\nwatching 1\n')
  mkdirSync(at('sub'))
  writeFileSync(at('sub/b.repl'), '1')
  await sees('run b.repl\nwatching 2\n')
  writeFileSync(at('sub/b.repl'), '2')
  await sees('b.repl has changed\nrun b.repl\nwatching 2\n')
  rmSync(at('a.repl'))
  writeFileSync(at('sub/b.repl'), '3')
  await sees('run b.repl\nwatching 1\n')
  stop()
  await ended
})

it('the watch runs what the user asks for: all files, or those that failed last', async () => {
  const { sees, stop, ended, press } = watched(['a.repl', 'b.repl'], { failing: ['b.repl'] })
  await sees('run a.repl b.repl\nwatching 2\n')
  press('failed')
  await sees('watching 2\nrun b.repl\nwatching 2\n')
  press('all')
  await sees('run b.repl\nwatching 2\nrun a.repl b.repl\nwatching 2\n')
  stop()
  expect((await ended)?.status).toBe(3)
})

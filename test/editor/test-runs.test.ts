/** Test files that an editor runs: in a thread of their own, with a limit of time, on forks that they call for. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { CodeLens } from 'vscode-languageserver/node'
import { Editor, uriOf } from './client.ts'

/** An editor with a test file in a folder of its own. */
async function opened(text: string, limitMs?: number) {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-runs-'))
  const file = join(folder, 'a.repl')
  writeFileSync(file, text)
  const editor = new Editor(null, {}, limitMs)
  onTestFinished(async () => {
    await editor.close()
    rmSync(folder, { recursive: true })
  })
  await editor.initialize(folder)
  await editor.open(uriOf(file), text)
  return {
    editor,
    file,
    uri: uriOf(file),
    run: () => editor.ask('workspace/executeCommand', { command: 'newcut.runTest', arguments: [uriOf(file)] }),
    titles: async () => {
      const lenses = await editor.of<CodeLens[]>('codeLens', uriOf(file))
      return lenses.map(({ command }) => command?.title)
    },
  }
}

it('an editor shows the results of a run', async () => {
  const { run, titles } = await opened('(expect "sum" 3 (+ 1 2))\n')
  await run()
  expect(await titles()).toEqual(['run test: 1 passed, 0 failed', 'passed'])
})

it('an editor shows what failed, and where the file ended', async () => {
  const { editor, uri, run, titles } = await opened(
    '(expect "sum" 4 (+ 1 2))\n(enforce false "no more")\n(expect "late" 1 1)\n',
  )
  await run()
  expect(await titles()).toEqual([
    'run test: 0 passed, 1 failed, ended early',
    'failed: expected 4, got 3',
    'not reached',
  ])
  const { diagnostics } = await editor.publishes(uri, (params) => params.diagnostics.length > 1)
  expect(diagnostics.map(({ message, range }) => [range.start.line, message])).toEqual([
    [0, 'sum: expected 4, got 3'],
    [1, 'the test ended here: no more'],
  ])
})

/** More than 10^10 steps. */
const ENDLESS = `(map (lambda (x:integer) (map (lambda (y:integer) (* x y)) (enumerate 1 100000))) (enumerate 1 100000))`

it('an editor ends a run that takes too long, and runs the corrected file', async () => {
  const { editor, file, run, titles } = await opened(ENDLESS, 1500)
  await run()
  expect(editor.messages).toEqual([
    expect.stringMatching(/a\.repl cannot run: the test file ran longer than 1\.5 s and was stopped$/),
  ])
  expect(await titles()).toEqual(['run test'])
  writeFileSync(file, '(expect "sum" 3 (+ 1 2))')
  await run()
  expect(await titles()).toEqual(['run test: 1 passed, 0 failed'])
})

it('an editor shows why a file gets no fork', async () => {
  const { editor, uri, run, titles } = await opened('(env-fork "http://127.0.0.1:9" {"limits": 1})\n')
  await run()
  expect(editor.messages).toEqual([])
  expect(await titles()).toEqual(['run test: 0 passed, 0 failed, ended early'])
  const { diagnostics } = await editor.publishes(uri, (params) => params.diagnostics.length > 0)
  expect(diagnostics[0].message).toMatch(
    /^the test ended here: env-fork: "limits" is not an option; did you mean limit\? \(fields: chain, cut, /,
  )
})

/** Files that change on disk while an editor is open: the editor watches them if it can, else the server does. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { CodeLens } from 'vscode-languageserver/node'
import { FolderWatcher } from '../../src/language/editor/workspace/folder-watcher.ts'
import { until } from '../wait.ts'
import { EditorOfProcess, uriOf } from './client.ts'

const WATCHES = { didChangeWatchedFiles: { dynamicRegistration: true } }
const TEST = '(load "lib/m.pact")\n(expect "one" 1 (m.f))\n'
const moduleWith = (member: string) => `(module m G (defcap G () true) ${member})`
const GOOD = moduleWith('(defun f () 1)')

const NO_MEMBER = /^Module m has no such member: f$/
const NO_FILE = [/^cannot read lib\/m\.pact/, /^Cannot find module: {2}m /]

/** An editor that refuses to watch. */
class RefusingEditor extends EditorOfProcess {
  protected override register(): never {
    throw new Error('no')
  }
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-watched-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** An editor with a test file that loads `lib/m.pact`, which is on disk. */
async function opened(editor: EditorOfProcess, more: object = {}) {
  onTestFinished(() => void editor.child.kill('SIGKILL'))
  const folder = newFolder()
  const [file, library] = [join(folder, 'a.repl'), join(folder, 'lib', 'm.pact')]
  mkdirSync(dirname(library))
  writeFileSync(library, GOOD)
  writeFileSync(file, TEST)
  await editor.initialize(folder, more)
  const { diagnostics } = await editor.open(uriOf(file), TEST)
  expect(diagnostics).toEqual([])
  /** Waits until the test file has these findings. */
  const findsOnly = async (...texts: readonly RegExp[]) => {
    const { diagnostics: found } = await editor.publishes(uriOf(file), (params) => {
      const messages = params.diagnostics.map(({ message }) => String(message))
      return messages.length === texts.length && texts.every((text, i) => text.test(messages[i] ?? ''))
    })
    expect(found).toHaveLength(texts.length)
  }
  return { file, library, findsOnly }
}

it('an editor that can watch is asked to, and its reports are seen at once', async () => {
  const editor = new EditorOfProcess()
  const { library, findsOnly } = await opened(editor, WATCHES)
  await until(() => editor.registrations.length > 0)
  expect(editor.registrations).toMatchObject([
    { method: 'workspace/didChangeWatchedFiles', registerOptions: { watchers: [{ globPattern: '**/*.{pact,repl}' }] } },
  ])
  const report = (type: number) =>
    editor.tell('workspace/didChangeWatchedFiles', { changes: [{ uri: uriOf(library), type }] })
  writeFileSync(library, moduleWith('(defun g () 1)'))
  await report(2)
  await findsOnly(NO_MEMBER)
  rmSync(library)
  await report(3)
  await findsOnly(...NO_FILE)
  writeFileSync(library, GOOD)
  await report(1)
  await findsOnly()
  expect(await editor.exit()).toBe(0)
})

it.each([
  ['cannot watch', () => new EditorOfProcess(), {}],
  ['refuses to watch', () => new RefusingEditor(), WATCHES],
] as const)(
  'a server whose editor %s sees files and folders that are written, deleted and created',
  async (_, make, more) => {
    const editor = make()
    const { library, findsOnly } = await opened(editor, more)
    if (more === WATCHES) await until(() => editor.registrations.length > 0)
    writeFileSync(library, moduleWith('(defun g () 1)'))
    await findsOnly(NO_MEMBER)
    rmSync(library)
    await findsOnly(...NO_FILE)
    // As editors and git write files.
    writeFileSync(`${library}.new`, GOOD)
    renameSync(`${library}.new`, library)
    await findsOnly()
    rmSync(dirname(library), { recursive: true })
    await findsOnly(...NO_FILE)
    mkdirSync(dirname(library))
    writeFileSync(library, GOOD)
    await findsOnly()
    writeFileSync(library, moduleWith('(defun g () 1)'))
    await findsOnly(NO_MEMBER)
    expect(editor.err).toBe('')
    expect(await editor.exit()).toBe(0)
  },
)

it('a test that shows results runs again when a file that it loads changes on disk', async () => {
  const editor = new EditorOfProcess()
  const { file, library, findsOnly } = await opened(editor)
  await editor.ask('workspace/executeCommand', { command: 'newcut.runTest', arguments: [uriOf(file)] })
  writeFileSync(library, moduleWith('(defun f () 2)'))
  await findsOnly(/one: expected 1, got 2/)
  rmSync(library)
  await findsOnly(...NO_FILE, /the test ended here/)
  const lenses = await editor.of<CodeLens[]>('codeLens', uriOf(file))
  expect(lenses[0].command?.title).toBe('run test: 0 passed, 0 failed, ended early')
})

it('a watcher leaves folders to the editor, and is silent about other files and after it is closed', async () => {
  const folder = newFolder()
  const [own, other] = [join(folder, 'own'), join(folder, 'other')]
  for (const each of [own, other]) mkdirSync(each)
  const later = join(own, 'later')
  const changed: string[] = []
  const onChange = (path: string) => {
    changed.push(path)
    // As a server that lists its folders again.
    watcher.add(later)
  }
  const watcher: FolderWatcher = new FolderWatcher({ onChange, onTrouble: () => undefined }, (each) => each !== other)
  watcher.add(other)
  watcher.add(join(later, 'deep'))
  expect(watcher.folders).toEqual([own])
  writeFileSync(join(own, 'notes.txt'), '')
  writeFileSync(join(other, 'a.pact'), '')
  writeFileSync(join(own, 'b.pact'), '')
  await until(() => changed.length > 0)
  expect(new Set(changed)).toEqual(new Set([join(own, 'b.pact')]))
  mkdirSync(later)
  await until(() => watcher.folders.includes(later))
  // A folder that is replaced is another one.
  renameSync(later, join(own, 'earlier'))
  await until(() => !watcher.folders.includes(later))
  mkdirSync(later)
  await until(() => watcher.folders.includes(later))
  writeFileSync(join(later, 'c.pact'), '')
  await until(() => changed.includes(join(later, 'c.pact')))
  watcher.close()
  watcher.add(own)
  expect(watcher.folders).toEqual([])
})

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type {
  CodeLens,
  CompletionItem,
  DocumentSymbol,
  FoldingRange,
  Hover,
  Location,
  TextEdit,
  WorkspaceEdit,
} from 'vscode-languageserver/node'
import { rotating } from '../rotation.ts'
import { coinText, Editor, EditorOfProcess, hundredths, type Point, pointOf, system, uriOf } from './client.ts'

const coin = uriOf(`${system}coin.pact`)
/** The editor of a test. */
let editor: Editor

async function started(folder: string | null = null): Promise<void> {
  editor = new Editor()
  await editor.initialize(folder)
}

/** Starts a server as a process. */
function startedProcess(): EditorOfProcess {
  const made = new EditorOfProcess()
  onTestFinished(() => void made.child.kill('SIGKILL'))
  editor = made
  return made
}

const hoverAt = async (uri: string, position: Point) => {
  const hover = await editor.at<Hover | null>('hover', uri, position)
  return hover === null ? null : (hover.contents as { value: string }).value
}

describe('an editor at newcut lsp', () => {
  it('a session opens a sound contract without findings, and ends with exit code 0 after shutdown', async () => {
    const editor = startedProcess()
    await editor.initialize()
    const { diagnostics } = await editor.open(coin, coinText)
    expect(diagnostics).toEqual([])
    expect(await editor.exit()).toBe(0)
    expect(editor.err).toBe('')
  })

  it('a session refuses requests before initialize, after shutdown, without a method, and with wrong parameters', async () => {
    const editor = startedProcess()
    const refusal = (method: string, params: object = {}) =>
      editor.ask(method, params).then(
        () => null,
        ({ code, message }) => [code, message],
      )
    const document = { textDocument: { uri: coin } }
    const there = { ...document, position: { line: 0, character: 0 } }
    expect(await refusal('textDocument/hover', there)).toEqual([-32002, 'textDocument/hover before initialize'])
    await editor.initialize()
    expect(await refusal('initialize', { processId: null, rootUri: null, capabilities: {} })).toEqual([
      -32600,
      'a second initialize',
    ])
    expect(await refusal('textDocument/unknown', document)).toMatchObject([-32601, expect.stringContaining('unknown')])
    const noText = 'textDocument/hover: textDocument/uri: expected a text'
    for (const params of [{}, { textDocument: null }, { textDocument: { uri: 5 } }]) {
      expect(await refusal('textDocument/hover', params)).toEqual([-32602, noText])
    }
    const noPlace = 'textDocument/hover: position: expected a line and a character'
    for (const position of [undefined, {}, { line: '0', character: 0 }, { line: 0 }]) {
      expect(await refusal('textDocument/hover', { ...document, position })).toEqual([-32602, noPlace])
    }
    await editor.tell('textDocument/didOpen', {})
    expect((await editor.open(coin, coinText)).diagnostics).toEqual([])
    await editor.ask('shutdown')
    expect(await refusal('textDocument/hover', there)).toEqual([-32600, 'textDocument/hover after shutdown'])
    await editor.tell('exit')
    expect(await editor.ended()).toBe(0)
  })

  it('a session ends with exit code 1 when the editor closes stdin without an exit message', async () => {
    const editor = startedProcess()
    await editor.initialize()
    editor.child.stdin?.end()
    expect(await editor.ended()).toBe(1)
  })

  it('a session shows an error of a change at its place, and removes it when it is fixed', async () => {
    await started()
    await editor.open(coin, coinText)
    const at = pointOf(coinText, 'DEBIT', 0, '(compose-capability (')
    const range = { start: at, end: { line: at.line, character: at.character + 5 } }
    const broken = await editor.change(coin, 2, [{ range, text: 'DEBITT' }])
    expect(broken.diagnostics).toMatchObject([
      { range: { start: at, end: { line: at.line, character: at.character + 6 } }, severity: 1, source: 'newcut' },
    ])
    expect(broken.diagnostics[0].message).toBe('Cannot find module:  DEBITT (DEBIT is similar)')
    const mended = await editor.change(coin, 3, [
      { range: { ...range, end: broken.diagnostics[0].range.end }, text: 'DEBIT' },
    ])
    expect(mended.diagnostics).toEqual([])
  })

  it('a session counts columns in UTF-16 units', async () => {
    await started()
    const text = '(module m G\n  (defcap G () true)\n  (defun f () "\u{1f600}" nothing))\n'
    const { diagnostics } = await editor.open('untitled:m.pact', text)
    expect(diagnostics[0].range).toEqual({ start: { line: 2, character: 19 }, end: { line: 2, character: 26 } })
  })

  it('a session hovers members with their documentation, and natives with their gas', async () => {
    await started()
    await editor.open(coin, coinText)
    const member = await hoverAt(coin, pointOf(coinText, 'DEBIT', 1, '(compose-capability ('))
    expect(member).toContain('(defcap DEBIT (sender:string))')
    expect(member).toContain('Allows taking from an account. Its guard must agree.')
    const managed = await hoverAt(coin, pointOf(coinText, 'TRANSFER:bool', 1))
    expect(managed).toContain('@managed amount TRANSFER-mgr')
    expect(await hoverAt(coin, pointOf(coinText, '(enforce-guard', 3))).toContain('Gas: 2 a call')
    expect(await hoverAt(coin, pointOf(coinText, 'sender', 1, '(DEBIT sender'))).toContain('(parameter) sender:string')
    expect(await hoverAt(coin, { line: 5, character: 2 })).toBe(null)
  })

  it('a session finds definitions in the file, in system contracts and in schemas', async () => {
    await started()
    await editor.open(coin, coinText)
    const own = await editor.at<Location>('definition', coin, pointOf(coinText, 'DEBIT', 1, '(compose-capability ('))
    expect(own).toMatchObject({ uri: coin, range: { start: pointOf(coinText, 'DEBIT', 0, '(defcap ') } })
    const face = await editor.at<Location>('definition', coin, pointOf(coinText, 'fungible-v2', 1))
    expect(face.uri).toBe(uriOf(`${system}fungible-v2.pact`))
    const field = await editor.at<Location>('definition', coin, pointOf(coinText, '"balance" := balance', 2))
    expect(field).toMatchObject({ uri: coin, range: { start: pointOf(coinText, 'balance:decimal') } })
    const schema = await editor.at<Location>('definition', coin, pointOf(coinText, '{coin-schema}', 3))
    expect(schema.range.start).toEqual(pointOf(coinText, 'coin-schema'))
  })

  it('a session finds references in test files and the contracts that they load', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'newcut-'))
    const contract = '(module m G\n  (defcap G () true)\n  (defun twice (n) (* 2 n))\n  (defun four () (twice 2)))\n'
    writeFileSync(join(folder, 'm.pact'), contract)
    const test = '(load "m.pact")\n(expect "2" 2 (m.twice 1))\n(expect "4" 4 (four))\n'
    await started(folder)
    const uri = uriOf(join(folder, 'm.repl'))
    expect((await editor.open(uri, test)).diagnostics).toEqual([])
    const at = pointOf(test, 'twice', 1)
    const found = await editor.at<Location[]>('references', uri, at, { context: { includeDeclaration: true } })
    expect(found.map(({ uri: where, range }) => [where.split('/').at(-1), range.start])).toEqual([
      ['m.pact', pointOf(contract, 'twice')],
      ['m.pact', pointOf(contract, 'twice', 0, 'four')],
      ['m.repl', pointOf(test, 'twice')],
    ])
    const edit = await editor.at<WorkspaceEdit>('rename', uri, at, { newName: 'double' })
    expect(
      Object.values(edit.changes ?? {})
        .flat()
        .map(({ newText }) => newText),
    ).toEqual(['double', 'double', 'double'])
  })

  it('a session completes natives, variables, members after a module, and fields within quotes', async () => {
    await started()
    const text = `(module m G
  (defcap G () true)
  (defschema row amount:decimal owner:string)
  (deftable rows:{row})
  (defun f (somebody:string) (coin.tran) (read rows "o"  s)))
`
    await editor.open('untitled:m.pact', text)
    const labels = async (position: Point) => {
      const items = await editor.at<CompletionItem[]>('completion', 'untitled:m.pact', position)
      return items.map(({ label }) => label)
    }
    const behind = await labels(pointOf(text, '(coin.tran', 10))
    expect(behind).toContain('transfer')
    expect(behind).not.toContain('with-read')
    const free = await labels(pointOf(text, ' s))', 2))
    expect(free).toEqual(expect.arrayContaining(['somebody', 'rows', 'f', 'with-read', 'format', 'coin']))
    expect(free).not.toContain('env-data')
    expect(await labels(pointOf(text, '"o"', 2))).toEqual(expect.arrayContaining(['amount', 'owner']))
  })

  it('a session lists symbols as a tree, and folds forms and comments', async () => {
    await started()
    await editor.open(coin, coinText)
    const [module] = await editor.of<DocumentSymbol[]>('documentSymbol', coin)
    expect(module.name).toBe('coin')
    const names = module.children?.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['COIN_CHARSET', 'coin-schema', 'coin-table', 'TRANSFER', 'transfer']))
    const folds = await editor.of<FoldingRange[]>('foldingRange', coin)
    expect(folds[0]).toEqual({ startLine: 0, endLine: coinText.trimEnd().split('\n').length - 1 })
    expect(folds.some(({ kind }) => kind === 'comment')).toBe(true)
  })

  it('a session formats a document, and leaves an unreadable one', async () => {
    await started()
    await editor.open('untitled:a.repl', '(expect   "a" 1\n1) ; one\n\n\n(+ 1 2)')
    const options = { options: { tabSize: 2, insertSpaces: true } }
    const [edit] = await editor.of<TextEdit[]>('formatting', 'untitled:a.repl', options)
    expect(edit.newText).toBe('(expect "a" 1\n  1) ; one\n\n(+ 1 2)\n')
    await editor.open('untitled:b.repl', '(expect   "a" 1')
    expect(await editor.of<TextEdit[]>('formatting', 'untitled:b.repl', options)).toEqual([])
  })

  it('a session runs a test file when it is saved, and shows each result', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'newcut-'))
    const file = join(folder, 'sums.repl')
    const text = '(expect "right" 3 (+ 1 2))\n(expect "wrong" 4 (+ 1 2))\n'
    writeFileSync(file, text)
    await startedProcess().initialize(folder)
    await editor.open(uriOf(file), text)
    const lensesOf = async () => {
      const lenses = await editor.of<CodeLens[]>('codeLens', uriOf(file))
      return lenses.map(({ command, range }) => [range.start.line, command?.title])
    }
    expect(await lensesOf()).toEqual([[0, 'run test']])
    await editor.tell('textDocument/didSave', { textDocument: { uri: uriOf(file) } })
    const { diagnostics } = await editor.publishes(uriOf(file), (params) => params.diagnostics.length > 0)
    expect(diagnostics).toMatchObject([
      { range: { start: { line: 1, character: 0 } }, message: 'wrong: expected 4, got 3', source: 'newcut test' },
    ])
    expect(await lensesOf()).toEqual([
      [0, 'run test: 1 passed, 1 failed'],
      [0, 'passed'],
      [1, 'failed: expected 4, got 3'],
    ])
    expect(editor.refreshes).toBe(1)
  })

  it('a session reports a module in a folder that no file loads', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'newcut-'))
    writeFileSync(join(folder, 'other.pact'), '(module other G (defcap G () true) (defun f (x) x))')
    await started(folder)
    const text = '(module m G (defcap G () true) (defun g () (other.f 1)))'
    const file = join(folder, 'm.pact')
    expect((await editor.open(uriOf(file), text)).diagnostics).toEqual([])
    const found = await editor.at<Location>('definition', uriOf(file), pointOf(text, 'other.f', 6))
    expect(found.uri).toBe(uriOf(join(folder, 'other.pact')))
  })
})

describe('input that is no protocol', () => {
  it.each([
    ['a header without a length', 'Content-Type: text\r\n\r\n{}'],
    ['a header without a colon', 'hello\r\n\r\n'],
    ['a length that is no number', 'Content-Length: many\r\n\r\n'],
    ['a body that is no JSON', 'Content-Length: 5\r\n\r\n{"a":'],
    ['a body that is no message', 'Content-Length: 2\r\n\r\n[]'],
  ])('malformed input does not end the server: %s', async (_, bytes) => {
    await started()
    editor.raw(bytes)
    await editor.tell('textDocument/didOpen', {
      textDocument: { uri: 'untitled:x.pact', version: 1, languageId: 'pact', text: '(' },
    })
    await editor.tell('textDocument/didOpen', {
      textDocument: { uri: coin, version: 1, languageId: 'pact', text: coinText },
    })
    expect((await editor.published(coin, 1)).diagnostics).toEqual([])
    expect(editor.err).not.toMatch(/^ {4}at /m)
    await editor.close()
  })

  it('the server refuses unknown methods and strange parameters, and continues', async () => {
    await started()
    await expect(editor.ask('textDocument/nonsense')).rejects.toThrow('Unhandled method')
    const refused = async (params: unknown) => {
      await expect(editor.ask('textDocument/hover', params)).rejects.toThrow(/./)
    }
    await refused({})
    await refused({ textDocument: { uri: 5 }, position: { line: 1, character: 1 } })
    const nowhere = { textDocument: { uri: 'file://host/%zz' }, position: { line: 9e9, character: -1 } }
    expect(await editor.ask('textDocument/hover', nowhere)).toBe(null)
    await editor.tell('textDocument/didChange', {
      textDocument: { uri: 'file:///nowhere.pact', version: 2 },
      contentChanges: [],
    })
    await editor.tell('workspace/didChangeWatchedFiles', { changes: [] })
    expect((await editor.open(coin, coinText)).diagnostics).toEqual([])
    expect(editor.err).not.toMatch(/^ {4}at /m)
    await editor.close()
  })

  it('the server reports that a file is too large, and answers nothing about it', async () => {
    await started()
    const text = '(+ 1 2)\n'.repeat(60_000)
    const { diagnostics } = await editor.open('untitled:large.pact', text)
    expect(diagnostics.map(({ message }) => message)).toEqual(['Code of more than 400000 characters'])
    expect(await hoverAt('untitled:large.pact', { line: 0, character: 1 })).toBe(null)
    expect(await editor.of<DocumentSymbol[]>('documentSymbol', 'untitled:large.pact')).toEqual([])
  })

  it('the server reads brackets nested a thousand deep, and text of every byte', async () => {
    await started()
    const deep = `${'('.repeat(1000)}x`
    expect((await editor.open('untitled:deep.pact', deep)).diagnostics.length).toBeGreaterThan(0)
    const bytes = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('')
    expect((await editor.open('untitled:bytes.repl', bytes)).diagnostics.length).toBeGreaterThan(0)
    await editor.close()
  })
})

describe('broken prefixes of the coin contract', () => {
  it('each broken prefix of the coin contract has a finding, and keeps hover of what is above', async () => {
    await started()
    await editor.open(coin, coinText)
    const start = coinText.indexOf('(defcap ROTATE')
    const at = pointOf(coinText, 'coin-table', 1, '(defcap DEBIT')
    let version = 1
    for (const part of rotating(hundredths, 10)) {
      const text = coinText.slice(0, start + Math.floor((coinText.trimEnd().length - 1 - start) * part))
      const { diagnostics } = await editor.change(coin, ++version, [{ text }])
      expect(diagnostics.filter(({ severity }) => severity === 1).length, `prefix ${part}`).toBeGreaterThan(0)
      expect(await hoverAt(coin, at), `prefix ${part}`).toContain('(deftable coin-table:{coin-schema})')
    }
  })
})

/** Semantic tokens, positions in UTF-16 units, renames that are refused, and hover in broken texts. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { CodeAction, Hover, Range, SemanticTokens, WorkspaceEdit } from 'vscode-languageserver/node'
import { rotating } from '../rotation.ts'
import { coinText, Editor, hundredths, type Point, pointOf, system, uriOf } from './client.ts'

const coin = uriOf(`${system}coin.pact`)
let editor = new Editor()
const initialized = editor.initialize()
/** A new document for each test, since most tests share a server. */
let document = ''
let count = 0

beforeEach(async () => {
  await initialized
  document = `untitled:m${count++}.pact`
})

/** Starts a server that has seen no document yet. */
async function started() {
  editor = new Editor()
  await editor.initialize()
}

/** Tokens as `text type modifiers`, decoded as an editor does. */
async function tokensOf(uri: string, text: string, range: Range | null = null): Promise<string[]> {
  const { capabilities } = await initialized
  const { legend } = capabilities.semanticTokensProvider ?? { legend: { tokenTypes: [], tokenModifiers: [] } }
  await editor.open(uri, text)
  const method = range === null ? 'semanticTokens/full' : 'semanticTokens/range'
  const { data } = await editor.of<SemanticTokens>(method, uri, range === null ? {} : { range })
  const lines = text.split('\n')
  const found: string[] = []
  let [line, column] = [0, 0]
  for (let i = 0; i < data.length; i += 5) {
    const [down, right, length, type, bits] = data.slice(i, i + 5)
    column = down === 0 ? column + right : right
    line += down
    const modifiers = legend.tokenModifiers.filter((_, bit) => (bits & (1 << bit)) !== 0)
    found.push([lines[line].slice(column, column + length), legend.tokenTypes[type], ...modifiers].join(' '))
  }
  return found
}

it('the tokens classify each word of a module', async () => {
  const text = `; what it is
(module m G
  @doc "two \u{1f600}\\
    \\lines"
  (defcap G () true)
  (defconst ONE:integer 1)
  (defschema row amount:decimal)
  (deftable rows:{row})
  (defun f:string (x:object{row} y:[string])
    (with-read rows "\u{1f600}" { "amount" := a } (coin.details a))
    (if (= ONE 1.5) (at 'amount x) (f x y))))
`
  expect(await tokensOf(document, text)).toEqual([
    ...['; what it is comment', 'module keyword', 'm namespace declaration', 'G event'],
    ...['@doc decorator', '"two \u{1f600}\\ string', '    \\lines" string'],
    ...['defcap keyword', 'G event declaration', 'true keyword'],
    ...['defconst keyword', 'ONE variable declaration readonly', 'integer type', '1 number'],
    ...['defschema keyword', 'row struct declaration', 'amount property declaration', 'decimal type'],
    ...['deftable keyword', 'rows variable declaration', 'row struct'],
    ...['defun keyword', 'f function declaration', 'string type', 'x parameter declaration', 'object type'],
    ...['row struct', 'y parameter declaration', 'string type'],
    ...['with-read keyword', 'rows variable', '"\u{1f600}" string', 'amount property', 'a variable declaration'],
    ...['coin namespace', 'details function', 'a variable'],
    ...['if keyword', '= function defaultLibrary', 'ONE variable readonly', '1.5 number'],
    ...['at function defaultLibrary', 'amount property', 'x parameter', 'f function', 'x parameter', 'y parameter'],
  ])
})

it('the tokens of a range contain only its words', async () => {
  const text = '(+ 1 2)\n(abs 3)\n(dec 4)\n'
  const range = { start: { line: 1, character: 0 }, end: { line: 1, character: 7 } }
  expect(await tokensOf(document, text, range)).toEqual(['abs function defaultLibrary', '3 number'])
})

it('the tokens are in the order of the text, without overlap, in a contract of many lines', async () => {
  await started()
  await editor.open(coin, coinText)
  const { data } = await editor.of<SemanticTokens>('semanticTokens/full', coin)
  expect(data.length).toBeGreaterThan(1000)
  let length = 0
  for (let i = 0; i < data.length; i += 5) {
    if (data[i] === 0) expect(data[i + 1]).toBeGreaterThanOrEqual(length)
    length = data[i + 2]
    expect(length).toBeGreaterThan(0)
  }
})

it.each([
  ['the reader', '(module m G (defcap G () true) (defun f () "\u{1f600}\u{1f600}" `))', '`', 1],
  ['the grammar', '(module m G (defcap G () true) (defun f () "\u{1f600}") (defun g))', '(defun g)', 6],
  ['a form', '(module m G (defcap G () true) (defun f () "\u{1f600}" (if true 1)))', '(if true', 3],
  ['the loader', '"\u{1f600}" (module m G (defcap G () true) (implements fungible-v2))', '(module', 7],
  ['a name', '(module m G (defcap G () true) (defun f () "\u{1f600}" (nothing)))', 'nothing', 7],
])('errors of %s are counted in UTF-16 units', async (_, text, part, length) => {
  const { diagnostics } = await editor.open(document, text)
  const start = pointOf(text, part)
  expect(diagnostics.map(({ range }) => range)).toContainEqual({
    start,
    end: { line: 0, character: start.character + length },
  })
})

it('positions and changes are read in UTF-16 units', async () => {
  const text = '(module m G (defcap G () true)\n  (defun f (a) [ "\u{1f600}" (abs a) ]))'
  await editor.open(document, text)
  const at = pointOf(text, 'abs', 2)
  const hover = await editor.at<Hover>('hover', document, at)
  expect(hover.range).toEqual({ start: pointOf(text, 'abs'), end: pointOf(text, 'abs', 3) })
  const range = { start: pointOf(text, 'abs'), end: pointOf(text, 'abs', 3) }
  const { diagnostics } = await editor.change(document, 2, [{ range, text: 'absent' }])
  expect(diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining('absent')])
})

it('a rename refuses natives, members of system contracts, and invalid names', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-'))
  const text = '(module m G (defcap G () true)\n  (defun f (a) (coin.details (abs a))))'
  const file = join(folder, 'm.pact')
  writeFileSync(file, text)
  const uri = uriOf(file)
  await editor.open(uri, text)
  const rename = (part: string, newName: string) => {
    return editor.at<WorkspaceEdit>('rename', uri, pointOf(text, part, 1), { newName })
  }
  await expect(rename('details', 'x')).rejects.toThrow('coin.details is of a system contract')
  await expect(rename('abs', 'x')).rejects.toThrow('abs is a native of the language')
  await expect(rename(' (defun f', 'x')).rejects.toThrow('no name that newcut knows is here')
  await expect(rename('f (a)', '1x')).rejects.toThrow('1x is not a valid name')
  const { changes } = await rename('a)', 'account')
  expect(changes?.[uri].length).toBe(2)
  const prepared = await editor.at<Range>('prepareRename', uri, pointOf(text, 'a)'))
  expect(prepared.start).toEqual(pointOf(text, 'a)'))
})

it('prefixes of the coin contract keep errors and hover, however few lines they have', async () => {
  await started()
  const text = coinText.trimEnd()
  await editor.open(coin, text)
  // The last name in front of the cut whose definition is above it, too.
  const names = [...text.matchAll(/\((?:defun|defcap|defconst|defschema|deftable) ([^\s():]+)/g)]
  const first = names[1].index
  const hoverAt = async (position: Point) => {
    const hover = await editor.at<Hover | null>('hover', coin, position)
    return hover === null ? '' : (hover.contents as { value: string }).value
  }
  let version = 1
  for (const part of rotating(hundredths, 10)) {
    const cut = first + Math.floor((text.length - 1 - first) * part)
    const { diagnostics } = await editor.change(coin, ++version, [{ text: text.slice(0, cut) }])
    expect(diagnostics.filter(({ severity }) => severity === 1).length, `prefix of ${cut}`).toBeGreaterThan(0)
    for (const { 0: all, 1: name, index } of names.filter((each) => each.index + each[0].length < cut).slice(-3)) {
      const before = text.slice(0, index + all.length - 1)
      const position = { line: before.split('\n').length - 1, character: before.length - before.lastIndexOf('\n') - 1 }
      expect(await hoverAt(position), `${name} in the prefix of ${cut}`).toContain(name)
    }
  }
})

it('a code action offers the similar name, and a comment that silences the finding', async () => {
  const text =
    '(module m G (defcap G () true) (defschema s a:integer) (deftable t:{s})\n  (defun f () (list-modules) (keyss t)))'
  await editor.open(document, text)
  const fixesAt = async (part: string) => {
    const at = pointOf(text, part)
    const actions = await editor.of<CodeAction[]>('codeAction', document, {
      range: { start: at, end: at },
      context: { diagnostics: [] },
    })
    return actions.map(({ title, kind, isPreferred, edit }) => ({
      title,
      kind,
      isPreferred,
      edits: edit?.changes?.[document],
    }))
  }
  const start = { line: 1, character: 0 }
  const range = { start: pointOf(text, 'keyss'), end: pointOf(text, 'keyss', 5) }
  const silence = [{ range: { start, end: start }, newText: '  ; newcut-ignore unknown-name\n' }]
  expect(await fixesAt('keyss')).toEqual([
    { title: 'change to keys', kind: 'quickfix', isPreferred: true, edits: [{ range, newText: 'keys' }] },
    { title: 'silence unknown-name here', kind: 'quickfix', isPreferred: false, edits: silence },
  ])
  const [{ edits }] = await fixesAt('list-modules')
  expect(await fixesAt('(module m')).toEqual([])
  // The comment does what it says.
  const silenced = await editor.change(
    document,
    2,
    (edits ?? []).map((each) => ({ range: each.range, text: each.newText })),
  )
  expect(silenced.diagnostics.map(({ code }) => code)).toEqual(['unknown-name'])
})

it('a code action offers no comment within a string, and nothing for errors', async () => {
  const text = '(module m G (defcap G () true) (defun f () "a\\\n  \\b" (nothing)) (defun g () `))'
  const { diagnostics } = await editor.open(document, text)
  expect(diagnostics.length).toBe(2)
  const range = { start: { line: 0, character: 0 }, end: { line: 1, character: 40 } }
  expect(await editor.of<CodeAction[]>('codeAction', document, { range, context: { diagnostics: [] } })).toEqual([])
})

/** An editor at `newcut lsp --fork`: the modules of a network as documents, and networks that cannot be had. */
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type {
  CodeLens,
  CompletionItem,
  Hover,
  InitializeResult,
  Location,
  TextDocumentContentResult,
} from 'vscode-languageserver/node'
import { run } from '../cli/run.ts'
import { deployToken, folder, reorganise } from '../copy/network.ts'
import { honest, type Manner, type NodeProxy, proxyTo } from '../copy/proxy.ts'
import { makeBlocks } from '../devnet/commands-common.ts'
import { CheckedPeer } from '../devnet/common.ts'
import { type Devnet, startDevnet } from '../devnet/whole-node.ts'
import { until } from '../wait.ts'
import { Editor, EditorOfProcess, type Point, pointOf, uriOf } from './client.ts'

/** All tests fork one network. */
let devnet: Devnet
let peer: CheckedPeer

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'pair', autoMine: { kind: 'on-demand' } })
  peer = new CheckedPeer(devnet.url)
  await makeBlocks(peer, { 0: 1, 1: 1 })
  await deployToken(peer)
})

afterAll(async () => {
  peer.close()
  await devnet.close()
})

interface ForkOptions {
  readonly manner?: Manner
  readonly cache?: string
  readonly cut?: string
}

interface Fork {
  readonly proxy: NodeProxy
  readonly flags: readonly (readonly [name: string, value: string])[]
}

/** Flags for a fork of the network through a proxy. */
async function forkOf({ manner = honest, cache = folder(), cut = headCut() }: ForkOptions): Promise<Fork> {
  const proxy = await proxyTo(devnet.url)
  proxy.manner = manner
  const flags = { fork: proxy.url, 'fork-cache': cache, 'fork-limit': '1000/s', 'fork-cut': cut }
  return { proxy, flags: Object.entries(flags) }
}

const headCut = () => String(Math.min(...[...devnet.cut.values()].map(({ height }) => Number(height))))

/** Capabilities of an editor that asks the server for texts, and of one that shows files only. */
const workspaceOf = (areVirtual: boolean) => (areVirtual ? { textDocumentContent: {} } : {})

interface Forked<T extends Editor> {
  readonly editor: T
  readonly proxy: NodeProxy
  readonly began: InitializeResult
}

/** @param areVirtual true for an editor that asks the server for texts */
async function forked({
  areVirtual = true,
  ...options
}: ForkOptions & { areVirtual?: boolean } = {}): Promise<Forked<Editor>> {
  const { proxy, flags } = await forkOf(options)
  const editor = new Editor(null, Object.fromEntries(flags))
  const began = await editor.initialize(null, workspaceOf(areVirtual))
  return { editor, proxy, began }
}

/** Like `forked`, with the server as a process. */
async function forkedProcess({
  areVirtual = true,
  root = null,
  variables = {},
  ...options
}: ForkOptions & {
  areVirtual?: boolean
  root?: string | null
  variables?: Readonly<Record<string, string>>
} = {}): Promise<Forked<EditorOfProcess>> {
  const { proxy, flags } = await forkOf(options)
  const editor = new EditorOfProcess(
    flags.flatMap(([name, value]) => [`--${name}`, value]),
    variables,
  )
  onTestFinished(() => void editor.child.kill('SIGKILL'))
  const began = await editor.initialize(root, workspaceOf(areVirtual))
  return { editor, proxy, began }
}

const FILE = 'untitled:m.pact'
const TEXT = `(module m G
  (defcap G () true)
  (defun f () (free.fork-token.balance "alice"))
  (defun g () (free.fork-token.transfer "alice" "bob"))
  (defun h () (coin.nothing))
  (defun i () (free.nowhere.f)))
`

const hoverOf = async (at: Editor, uri: string, position: Point) => {
  const hover = await at.at<Hover | null>('hover', uri, position)
  return hover === null ? null : (hover.contents as { value: string }).value
}

it('the editor shows live modules as virtual documents, in which navigation works', async () => {
  const { editor, began, proxy } = await forked()
  expect(began.capabilities.workspace).toEqual({ textDocumentContent: { schemes: ['newcut-fork'] } })
  await editor.open(FILE, TEXT)
  const balance = pointOf(TEXT, 'balance', 1)
  expect(await hoverOf(editor, FILE, balance)).toContain('(defun balance:decimal (name:string))')
  const found = await editor.at<Location>('definition', FILE, balance)
  expect(found.uri).toMatch(/^newcut-fork:\/development\/0-[\w-]{43}\/free\.fork-token\.pact$/)
  const { text } = await editor.ask<TextDocumentContentResult>('workspace/textDocumentContent', { uri: found.uri })
  expect(text).toMatch(
    /^; free\.fork-token of development, chain 0, at height \d+\n; hash [\w-]{43}, deployed by [\w-]{43}\n/,
  )
  expect(found.range.start).toEqual(pointOf(text, 'balance:decimal', 0, '(defun balance'))

  // References are in the workspace and in all live modules that are here.
  const uses = await editor.at<Location[]>('references', FILE, balance, { context: { includeDeclaration: true } })
  expect(uses.map(({ uri }) => uri)).toContain(FILE)
  const inside = uses.filter(({ uri }) => uri === found.uri).map(({ range }) => range.start.line)
  expect(inside.length).toBe(text.match(/\(balance |defun balance/g)?.length)

  // The editor opens it: names within lead on, to another live module, and there are no findings.
  const opened = await editor.open(found.uri, text)
  expect(opened.diagnostics).toEqual([])
  const details = await editor.at<Location>('definition', found.uri, pointOf(text, '(details name)', 2))
  expect(details.uri).toMatch(/^newcut-fork:\/development\/0-[\w-]{43}\/coin\.pact$/)
  const coin = await editor.ask<TextDocumentContentResult>('workspace/textDocumentContent', { uri: details.uri })
  expect(details.range.start).toEqual(pointOf(coin.text, 'details', 0, '(defun details'))
  const field = await editor.at<Location>('definition', found.uri, pointOf(text, '"guard":= guard', 2))
  expect(field.range.start).toEqual(pointOf(text, 'guard:guard', 0, '(defschema account'))

  // Nothing is asked twice.
  const asked = proxy.seen.length
  await editor.at('references', FILE, balance, { context: { includeDeclaration: true } })
  expect(proxy.seen.length).toBe(asked)
  await expect(editor.at('rename', FILE, balance, { newName: 'sum' })).rejects.toThrow('deployed on the forked network')
  expect(editor.messages).toEqual([])
  await editor.close()
})

it('the editor checks calls of live modules, and reports nothing before their texts have arrived', async () => {
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { editor } = await forked({ manner: (_, forward) => held.then(forward) })
  expect((await editor.open(FILE, TEXT)).diagnostics).toEqual([])
  release()
  const { diagnostics } = await editor.publishes(FILE, (params) => params.diagnostics.length === 3)
  expect(diagnostics.map(({ range, severity, code, message }) => [range.start.line, severity, code, message])).toEqual([
    [3, 2, 'wrong-arguments', expect.stringMatching(/^free\.fork-token\.transfer takes 3 arguments, not 2/)],
    [4, 1, 'unknown-name', expect.stringMatching(/coin.*nothing/)],
    [5, 1, 'unknown-name', expect.stringMatching(/free\.nowhere/)],
  ])
})

it('the editor completes namespaces, modules and members of the network', async () => {
  const { editor } = await forked()
  const text = '(module m G (defcap G () true) (defun f () (free.fork) (free.fork-token.bal)))'
  await editor.open(FILE, text)
  const labels = async (position: Point) => {
    const items = await editor.at<CompletionItem[]>('completion', FILE, position)
    return items.map(({ label }) => label)
  }
  const modules = await labels(pointOf(text, '(free.fork)', 10))
  expect(modules).toEqual(expect.arrayContaining(['fork-token', 'fork-second']))
  const members = await labels(pointOf(text, 'fork-token.bal', 14))
  expect(members).toEqual(expect.arrayContaining(['balance', 'FIRST', 'TRANSFER']))
  expect(members).not.toContain('with-read')
})

it('the editor writes texts to files for clients that show files only, and navigates from there', async () => {
  const cache = folder()
  const { editor, began } = await forked({ areVirtual: false, cache })
  expect(began.capabilities.workspace).toBe(undefined)
  await editor.open(FILE, TEXT)
  const { uri, range } = await editor.at<Location>('definition', FILE, pointOf(TEXT, 'balance', 1))
  const file = fileURLToPath(uri)
  expect(file.startsWith(join(cache, 'texts', 'development'))).toBe(true)
  expect(statSync(file).mode & 0o222).toBe(0)
  const text = readFileSync(file, 'utf8')
  expect(range.start).toEqual(pointOf(text, 'balance:decimal', 0, '(defun balance'))
  expect((await editor.open(uri, text)).diagnostics).toEqual([])
  const details = await editor.at<Location>('definition', uri, pointOf(text, '(details name)', 2))
  expect(details.uri).toMatch(/coin\.pact$/)
})

it('the editor needs no node once everything is cached, and leaves no file without a cache', async () => {
  const cache = folder()
  // A pin of one chain is named by its text.
  const first = await forked({ cache })
  await first.editor.open(FILE, TEXT)
  expect(await hoverOf(first.editor, FILE, pointOf(TEXT, 'balance', 1))).toContain('balance')
  await first.editor.publishes(FILE, (params) => params.diagnostics.length === 3)
  const cut = /--fork-cut '(.*)'/.exec(first.editor.err)?.[1] ?? ''
  const second = await forkedProcess({ cache, cut })
  await second.editor.open(FILE, TEXT)
  expect(await hoverOf(second.editor, FILE, pointOf(TEXT, 'balance', 1))).toContain('balance')
  expect(second.proxy.seen).toEqual([])

  const temporary = mkdtempSync(join(tmpdir(), 'newcut-tmp-'))
  const third = await forkedProcess({ cache: 'off', areVirtual: false, variables: { TMPDIR: temporary } })
  await third.editor.open(FILE, TEXT)
  const { uri } = await third.editor.at<Location>('definition', FILE, pointOf(TEXT, 'balance', 1))
  expect(fileURLToPath(uri).startsWith(temporary)).toBe(true)
  expect(await third.editor.exit()).toBe(0)
  expect(readdirSync(temporary)).toEqual([])
})

it('the editor runs tests on the same fork', async () => {
  const root = mkdtempSync(join(tmpdir(), 'newcut-'))
  const file = join(root, 'live.repl')
  const text = '(expect "balance" 100.5 (free.fork-token.balance "alice"))\n'
  writeFileSync(file, text)
  const { editor } = await forkedProcess({ root })
  await editor.open(uriOf(file), text)
  expect(await hoverOf(editor, uriOf(file), pointOf(text, 'balance', 1, 'fork-token.'))).toContain('(defun balance')
  // The network has the module, so the file need not load it.
  expect((await editor.change(uriOf(file), 2, [{ text }])).diagnostics).toEqual([])
  await editor.ask('workspace/executeCommand', { command: 'newcut.runTest', arguments: [uriOf(file)] })
  const lenses = await editor.of<CodeLens[]>('codeLens', uriOf(file))
  expect(lenses.map(({ command }) => command?.title)).toEqual(['run test: 1 passed, 0 failed', 'passed'])
})

it('the editor reports once that a node is gone, keeps all other help, and retries when a file is saved', async () => {
  let isGone = true
  const manner: Manner = async (request, forward) => {
    return isGone ? { status: 404, body: '"nothing here"' } : honest(request, forward)
  }
  const { editor } = await forked({ manner })
  await editor.open(FILE, TEXT.replace('(coin.nothing)', '(unknown)'))
  await until(() => editor.messages.length > 0)
  expect(editor.messages[0]).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+ is not a chainweb node: GET \/info answers "nothing here"/,
  )
  // Errors that need no network still show. Names of other modules may or may not exist.
  const { diagnostics } = await editor.publishes(FILE, (params) => params.diagnostics.length > 0)
  expect(diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining('Cannot find module:  unknown')])
  expect(await hoverOf(editor, FILE, pointOf(TEXT, 'G', 1, '(defcap'))).toContain('(defcap G ())')
  expect(await hoverOf(editor, FILE, pointOf(TEXT, 'balance', 1))).toBe(null)
  expect(editor.messages.length).toBe(1)
  isGone = false
  await editor.tell('textDocument/didSave', { textDocument: { uri: FILE } })
  await editor.publishes(FILE, (params) => params.diagnostics.length === 3)
  expect(await hoverOf(editor, FILE, pointOf(TEXT, 'balance', 1))).toContain('balance')
  expect(editor.err).not.toMatch(/^ {4}at /m)
  await editor.close()
})

const isCall = ({ url }: { readonly url: string }) => url.includes('/local')

/** Changes the texts of modules in answers to calls. */
const withCode =
  (change: (code: string) => string): Manner =>
  async (request, forward) => {
    const answer = await forward()
    if (!isCall(request)) return answer
    const json = JSON.parse(answer.body, (key, value: unknown) => {
      return key === 'code' && typeof value === 'string' && value.includes('fork-token') ? change(value) : value
    })
    return { ...answer, body: JSON.stringify(json) }
  }

it.each<readonly [string, Manner, RegExp]>([
  [
    'gives the text of another module',
    withCode(() => '(module other G (defcap G () true))'),
    /^the network returned a text of free\.fork-token that does not define it$/,
  ],
  [
    'gives half of a text',
    withCode((code) => code.slice(0, 20)),
    /^the text of free\.fork-token cannot be read as a whole: Expected/,
  ],
  ['gives no text at all', withCode(() => ''), /free\.fork-token/],
  [
    'answers about another block',
    async (_, forward) => {
      const answer = await forward()
      return {
        ...answer,
        body: answer.body.replaceAll(/"prevBlockHash":"[^"]{43}"/g, `"prevBlockHash":"${'A'.repeat(43)}"`),
      }
    },
    /is not on the chain of the node .*: it was orphaned/,
  ],
  [
    'answers calls with something else',
    async (request, forward) => (isCall(request) ? { status: 200, body: '[]' } : forward()),
    /^the forked node .* returned /,
  ],
  [
    'refuses calls',
    async (request, forward) => (isCall(request) ? { status: 403, body: '"not for you"' } : forward()),
    /^the forked node .* refuses a call at height \d+ with status 403: "not for you"/,
  ],
])('the editor reports a node that %s, and continues', async (_, manner, wanted) => {
  const { editor } = await forked({ manner })
  await editor.open(FILE, TEXT)
  await until(() => editor.messages.length > 0)
  expect(editor.messages[0]).toMatch(wanted)
  expect(await hoverOf(editor, FILE, pointOf(TEXT, 'G', 1, '(defcap'))).toContain('(defcap G ())')
  expect(editor.err).not.toMatch(/^ {4}at /m)
  await editor.close()
})

it('the editor reports a pin that was orphaned', async () => {
  // The token stays.
  await makeBlocks(peer, { 0: 3, 1: 3 })
  const { editor } = await forked()
  await until(() => editor.err.includes('fork of development'))
  await reorganise({ devnet }, 3)
  await editor.open(FILE, TEXT)
  await until(() => editor.messages.length > 0)
  expect(editor.messages[0]).toMatch(/it was orphaned/)
})

it('newcut lsp refuses options of a fork without one, and two chains', async () => {
  const without = await run(['lsp', '--fork-chains', '1'])
  expect(without.code).not.toBe(0)
  expect(without.err).toContain('--fork-chains has no effect: nothing is forked')
  const two = await run(['lsp', '--fork', 'http://127.0.0.1:1', '--fork-chains', '0,1'])
  expect(two.code).not.toBe(0)
  expect(two.err).toContain('--fork-chains: an editor sees one chain')
})

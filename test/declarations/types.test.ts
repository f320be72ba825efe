/** `newcut types` as a user runs it: against a network with a token in a namespace, and from files. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { NodeClient } from '../../src/node/client.ts'
import { ask } from '../../src/wallet/ask.ts'
import { callsOf } from '../../src/wallet/contract-call.ts'
import { type Ended, exitCodeFor, run, stopAll } from '../cli/run.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'newcut-types-'))
let devnet: Devnet

/** A library, a token that implements an interface and uses the library, in one namespace. */
const LIBRARY = `(namespace "free")
(interface quoting "Prices." (defun quote:decimal (amount:decimal) "A price."))
(module pricing G
  (defcap G () true)
  (defcap PRICED:bool (rate:decimal) "A price was asked for." @event true)
  (defschema rate "A price and its time." value:decimal at:time tags:[string])
  (defconst BASE 1.5)
  (defun quoted:decimal (amount:decimal) (* amount BASE)))`
const TOKEN = `(namespace "free")
(module token G
  @doc "A token.\\nOf two lines, with */ in it."
  (implements free.quoting)
  (defcap G () true)
  (defschema account balance:decimal guard:guard nonce:integer)
  (defschema order "An order." owner:string rate:object{free.pricing.rate} lots:[integer])
  (deftable accounts:{account} "Accounts.")
  (defconst NAME:string "tok" "Its name.")
  (defcap TRANSFER:bool (sender:string receiver:string amount:decimal) "A transfer." @managed amount TRANSFER-mgr true)
  (defcap PLACED (order:object{order}) @event true)
  (defun TRANSFER-mgr:decimal (managed:decimal requested:decimal) managed)
  (defun quote:decimal (amount:decimal) "A price." (free.pricing.quoted amount))
  (defun open:string (account:string guard:guard since:time) "Opens an account." account)
  (defun echo:integer (new:integer flag:bool) (if flag new 0))
  (defun place:object{order} (order:object{order}) order)
  (defun pay (to:module{fungible-v2} who:string amount:decimal) (coin.transfer who who amount))
  (defpact swap:string (a:string b) (step a) (step "done")))`

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'pair', autoMine: { kind: 'constant', blockTimeMs: 100 } })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(root, 'node_modules/@kadena'), join(folder, 'node_modules/@kadena'))
  symlinkSync(root, join(folder, 'node_modules/newcut'))
  for (const [name, text] of [['library', LIBRARY] as const, ['token', TOKEN] as const]) {
    writeFileSync(join(folder, `${name}.pact`), text)
    const sent = await newcut('send', join(folder, `${name}.pact`), '--key', 'sender00', '--gas-limit', '150000')
    expect(sent.code, sent.err).toBe(0)
  }
})
afterAll(async () => {
  await stopAll()
  await devnet.close()
  rmSync(folder, { recursive: true })
})

const newcut = (...args: string[]): Promise<Ended> => run(args, { NEWCUT_NODE: devnet.url })

/** Runs `newcut types`, which must succeed, and returns the file. */
async function made(...args: string[]): Promise<string> {
  const ended = await newcut('types', ...args, '--out', join(folder, 'types.d.ts'))
  expect(ended).toMatchObject({ code: 0, err: '' })
  return readFileSync(join(folder, 'types.d.ts'), 'utf8')
}

async function failure(...args: string[]): Promise<string> {
  const ended = await newcut('types', ...args)
  expect(ended).toMatchObject({ code: exitCodeFor(ended), out: '' })
  return ended.err
}

/** Parsed files of libraries, which all programs share. */
const libraries = new Map<string, ts.SourceFile>()

/** Errors of `tsc --strict` for a program beside the generated file: line, code and text of each. */
function compiled(text: string, resolution: 'NodeNext' | 'Bundler' = 'NodeNext', at = folder): string[] {
  const file = join(at, 'program.ts')
  writeFileSync(file, text)
  writeFileSync(join(at, 'package.json'), '{"type":"module"}')
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    lib: ['lib.es2022.d.ts'],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind[resolution === 'NodeNext' ? 'NodeNext' : 'ESNext'],
    moduleResolution: ts.ModuleResolutionKind[resolution],
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const getSourceFile = host.getSourceFile.bind(host)
  host.getSourceFile = (name, ...rest) => {
    const isLibrary = name.includes('/node_modules/')
    const found = (isLibrary ? libraries.get(`${resolution}${name}`) : undefined) ?? getSourceFile(name, ...rest)
    if (isLibrary && found !== undefined) libraries.set(`${resolution}${name}`, found)
    return found
  }
  const program = ts.createProgram([file, join(at, 'types.d.ts')], options, host)
  return [file, join(at, 'types.d.ts')]
    .flatMap((name) => ts.getPreEmitDiagnostics(program, program.getSourceFile(name)))
    .map(({ code, file, start, messageText }) => {
      const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1
      return `${line}: TS${code}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    })
}

describe('newcut types MODULE', () => {
  it('declares a module with its interfaces and the modules that it names', async () => {
    const text = await made('free.token')
    expect(text).toContain("'free.token': {")
    for (const name of ['free.quoting', 'free.pricing', 'coin', 'fungible-v2']) expect(text).toContain(`'${name}': {`)
    expect(text).toMatch(/Of two lines, with \* \/ in it\./)
    expect(compiled('export {}')).toEqual([])
  })

  it('types functions, capabilities and tables for newcut/wallet', async () => {
    await made('free.token')
    const program = `import { callsOf, type Capability as Granted } from 'newcut/wallet'
import type { AnyCapability, Capabilities, Functions, Tables } from './types.d.ts'
const call = callsOf<Functions>()
export const codes: string[] = [
  call('free.token.quote', { decimal: '1.5' }),
  call('free.token.open', 'alice', () => '(read-keyset "ks")', new Date(0)),
  call('free.token.place', { owner: 'a', rate: { value: { decimal: '1.0' }, at: new Date(0), tags: ['x'] }, lots: [{ int: 1 }] }),
  call('coin.get-balance', 'alice'),
]
const transfer: Capabilities['free.token.TRANSFER'] = { name: 'free.token.TRANSFER', args: ['a', 'b', { decimal: '1.0' }] }
const any: AnyCapability[] = [transfer, { name: 'coin.GAS', args: [] }]
export const granted: Granted[] = any
export const row: Tables['free.token.accounts'] = {
  balance: { decimal: '1.0' }, guard: { keysetref: { ns: 'free', ksn: 'k' } }, nonce: { int: 1 },
}
`
    expect(compiled(program)).toEqual([])
    const wrong = `${program}
call('free.token.quote', '1.5')
call('free.token.quote')
call('free.token.echo', { int: 1 }, 'yes')
call('free.token.absent')
call('free.token.place', { owner: 'a' })
export const bad: AnyCapability = { name: 'free.token.TRANSFER', args: ['a', 'b', '1.0'] }
export const short: AnyCapability = { name: 'free.token.TRANSFER', args: ['a'] }
export const none: AnyCapability = { name: 'free.token.NONE', args: [] }
`
    const first = program.split('\n').length + 1
    const lines = compiled(wrong).map((text) => Number(text.split(':')[0]) - first)
    expect(lines).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it.each(['NodeNext', 'Bundler'] as const)('types Pact.modules of @kadena/client (%s)', async (resolution) => {
    await made('free.token')
    const program = `import { Pact, readKeyset } from '@kadena/client'
import type {} from './types.d.ts'
const { modules, builder } = Pact
export const command = builder
  .execution(modules['free.token'].pay(() => 'coin', 'alice', { decimal: '1.5' }))
  .addSigner('key', (withCapability) => [
    withCapability('coin.GAS'),
    withCapability('free.token.TRANSFER', 'a', 'b', { decimal: '1.0' }),
    withCapability('coin.TRANSFER', 'a', 'b', { decimal: '1.0' }),
  ])
modules['free.token'].open('alice', readKeyset('ks'), new Date(0))
modules['free.token'].defpact.swap('a', 'b')
`
    expect(compiled(program, resolution)).toEqual([])
    const wrong = `${program}
modules['free.token'].quote('1.5')
modules['free.token'].absent()
builder.execution(modules['free.token'].quote({ decimal: '1.5' })).addSigner('key', (cap) => [
  cap('free.token.TRANSFER', 'a', 'b', '1.0')])
`
    const first = program.split('\n').length + 1
    expect(compiled(wrong, resolution).map((text) => Number(text.split(':')[0]) - first)).toEqual([0, 1, 3])
  })

  it('compiles in a project without @kadena/client', async () => {
    const text = await made('free.token')
    const alone = join(folder, 'alone')
    mkdirSync(alone)
    writeFileSync(join(alone, 'types.d.ts'), text)
    const program = `import type { Functions } from './types.d.ts'
export const result: Functions['free.token.echo']['result'] = { int: 1 }
`
    expect(compiled(program, 'NodeNext', alone)).toEqual([])
  })

  it('writes calls that the node takes', async () => {
    const call = callsOf<{ 'free.token.echo': { args: [{ int: number }, boolean] } }>()
    const client = await NodeClient.connect({ url: devnet.url })
    const ofText = callsOf<{ format: { args: [string, (string | Date)[]] } }>()
    try {
      expect(await ask(client, 0, { code: call('free.token.echo', { int: 7 }, true) })).toBe(7n)
      expect(await ask(client, 0, { code: ofText('format', '{}', ['a "\\\n']) })).toBe('a "\\\n')
      const [time] = [ofText('format', '{}', [new Date(1500)])]
      expect(await ask(client, 0, { code: time })).toMatch(/1970-01-01T00:00:01/)
    } finally {
      await client.close()
    }
  })
})

describe('newcut types FILE', () => {
  it('declares files, with the contracts of every chain', async () => {
    const text = await made(join(folder, 'library.pact'), join(folder, 'token.pact'))
    for (const name of ['free.token', 'free.quoting', 'free.pricing', 'coin']) expect(text).toContain(`'${name}': {`)
    expect(compiled('export {}')).toEqual([])
  })

  it('needs no node for a contract of every chain beside files', async () => {
    const text = await made(join(folder, 'library.pact'), 'gas-payer-v1')
    for (const name of ['free.pricing', 'gas-payer-v1']) expect(text).toContain(`'${name}': {`)
    expect(text).toContain('library.pact, gas-payer-v1. */')
  })

  it('names interfaces of the same namespace in full', async () => {
    const file = join(folder, 'near.pact')
    writeFileSync(
      file,
      `(namespace "free")
      (interface near (defun f:string ()))
      (module user G (defcap G () true) (implements near) (defun f:string () "a"))`,
    )
    expect(await made(file)).toContain("implements: ['free.near']")
  })

  it('prints without --out', async () => {
    const { code, out } = await newcut('types', join(folder, 'library.pact'))
    expect(code).toBe(0)
    expect(out).toMatch(/^\/\* Types of contracts, made by newcut types\./)
  })

  it('takes the rest of a file from a node, if it is named', async () => {
    const text = await made(join(folder, 'token.pact'), '--node', devnet.url)
    expect(text).toContain("'free.pricing': {")
  })
})

describe('newcut types says what is wrong', () => {
  it.each([
    [['free.tokn'], /chain 0 of development has no module free\.tokn/],
    [['other.token'], /has no module other\.token.*is it free\.token\?/s],
    [['free.token', '--chain', '9'], /--chain 9: development has chains 0 to 1/],
    [['free.token', '--node', 'http://127.0.0.1:9'], /127\.0\.0\.1:9/],
    [['.'], /cannot read \.: it is a folder \(EISDIR\)/],
    [['absent.pact'], /cannot read absent\.pact: it does not exist \(ENOENT\)/],
  ])('%j', async (args, text) => {
    expect(await failure(...args)).toMatch(text)
  })

  it.each([
    ['(module m G (defcap G () true) (defun f (', /its text cannot be read at line 1, column \d+/],
    ['\ufffd', /^newcut: [^:]*: its text cannot be read at line 1, column 1: Unexpected character: "\S*\s?" \(newcut/],
    ['(+ 1 2)', /no module and no interface in it \(newcut types MODULE reads a contract from a node\)/],
    ['(namespace (read-msg "ns")) (module m G (defcap G () true))', /its namespace is not a plain text: \(namespace/],
  ])('file with %j', async (content, text) => {
    const file = join(folder, 'bad.pact')
    writeFileSync(file, content)
    expect(await failure(file)).toMatch(text)
  })

  it('keeps a file that it has not made, and overwrites its own', async () => {
    const file = join(folder, 'own.d.ts')
    writeFileSync(file, 'export type Mine = 1\n')
    const library = join(folder, 'library.pact')
    expect(await failure(library, '--out', file)).toMatch(/the file exists, and newcut types has not made it/)
    expect(readFileSync(file, 'utf8')).toBe('export type Mine = 1\n')
    expect(await failure(library, '--out', join(folder, 'none', 'x.d.ts'))).toMatch(/there is no folder/)
    rmSync(file)
    for (let i = 0; i < 2; i++) expect(await newcut('types', library, '--out', file)).toMatchObject({ code: 0 })
    expect(existsSync(file)).toBe(true)
  })
})

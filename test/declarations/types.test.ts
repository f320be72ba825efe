/** `newcut types` as a user runs it: against a network with a token in a namespace, and from files. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { ask } from '../../src/client/wallet/ask.ts'
import { callsOf } from '../../src/client/wallet/contract-call.ts'
import type { Devnet } from '../../src/compose/devnet.ts'
import { type Ended, exitCodeFor, run, stopAll } from '../cli/run.ts'
import { startTokenNetwork } from './token.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-types-'))
let devnet: Devnet

beforeAll(async () => {
  devnet = await startTokenNetwork(folder)
})
afterAll(async () => {
  await stopAll()
  await devnet.close()
  rmSync(folder, { recursive: true })
})

const newcut = (...args: string[]): Promise<Ended> => run(args, { NEWCUT_NODE: devnet.url })

/** Runs `newcut types`, which must succeed, and returns the file. */
async function generate(...args: string[]): Promise<string> {
  const ended = await newcut('types', ...args, '--out', join(folder, 'types.d.ts'))
  expect(ended).toMatchObject({ code: 0, err: '' })
  return readFileSync(join(folder, 'types.d.ts'), 'utf8')
}

async function failure(...args: string[]): Promise<string> {
  const ended = await newcut('types', ...args)
  expect(ended).toMatchObject({ code: exitCodeFor(ended), out: '' })
  return ended.err
}

describe('newcut types MODULE', () => {
  it('newcut types declares a module with its interfaces and the modules that it names', async () => {
    const text = await generate('free.token')
    expect(text).toContain("'free.token': {")
    for (const name of ['free.quoting', 'free.pricing', 'coin', 'fungible-v2']) expect(text).toContain(`'${name}': {`)
    expect(text).toMatch(/Of two lines, with \* \/ in it\./)
  })

  it('newcut types writes calls that the node takes', async () => {
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
  it('newcut types declares files, with the contracts of every chain', async () => {
    const text = await generate(join(folder, 'library.pact'), join(folder, 'token.pact'))
    for (const name of ['free.token', 'free.quoting', 'free.pricing', 'coin']) expect(text).toContain(`'${name}': {`)
  })

  it('newcut types needs no node for a contract of every chain beside files', async () => {
    const text = await generate(join(folder, 'library.pact'), 'gas-payer-v1')
    for (const name of ['free.pricing', 'gas-payer-v1']) expect(text).toContain(`'${name}': {`)
    expect(text).toContain('library.pact, gas-payer-v1. */')
  })

  it('newcut types names interfaces of the same namespace in full', async () => {
    const file = join(folder, 'near.pact')
    writeFileSync(
      file,
      `(namespace "free")
      (interface near (defun f:string ()))
      (module user G (defcap G () true) (implements near) (defun f:string () "a"))`,
    )
    expect(await generate(file)).toContain("implements: ['free.near']")
  })

  it('newcut types prints without --out', async () => {
    const { code, out } = await newcut('types', join(folder, 'library.pact'))
    expect(code).toBe(0)
    expect(out).toMatch(/^\/\* Types of contracts, made by newcut types\./)
  })

  it('newcut types takes the rest of a file from a node, if one is named', async () => {
    const text = await generate(join(folder, 'token.pact'), '--node', devnet.url)
    expect(text).toContain("'free.pricing': {")
  })
})

describe('newcut types says what is wrong', () => {
  it.each([
    [['free.tokn'], /chain 0 of development has no module free\.tokn .*did you mean free\.token\?/],
    [['other.token'], /has no module other\.token.*did you mean free\.token\?/s],
    [['free.token', '--chain', '9'], /--chain 9: development has chains 0 to 1/],
    [['free.token', '--node', 'http://127.0.0.1:9'], /127\.0\.0\.1:9/],
    [['.'], /cannot read \.: it is a folder \(EISDIR\)/],
    [['absent.pact'], /cannot read absent\.pact: it does not exist \(ENOENT\)/],
  ])('newcut types %j says what is wrong', async (args, text) => {
    expect(await failure(...args)).toMatch(text)
  })

  it.each([
    ['(module m G (defcap G () true) (defun f (', /cannot read \S+ at line 1, column \d+/],
    ['\ufffd', /^newcut: cannot read \S+ at line 1, column 1: Unexpected character: "\S*\s?" \(newcut/],
    ['(+ 1 2)', /no module and no interface in it \(newcut types MODULE reads a contract from a node\)/],
    ['(namespace (read-msg "ns")) (module m G (defcap G () true))', /its namespace is not a plain text: \(namespace/],
  ])('newcut types says what is wrong in a file with %j', async (content, text) => {
    const file = join(folder, 'bad.pact')
    writeFileSync(file, content)
    expect(await failure(file)).toMatch(text)
  })

  it('newcut types keeps a file that it has not made, and overwrites its own', async () => {
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

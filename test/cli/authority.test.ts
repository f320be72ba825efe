/** `--ca` names the authorities that may sign the node's certificate. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, it, onTestFinished } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import { paceSearch } from '../pace.ts'
import { exitCodeFor, run, SMALL_SEARCH, stopAll } from './run.ts'

paceSearch()

const folder = mkdtempSync(join(tmpdir(), 'newcut-authority-'))
afterEach(stopAll)
afterAll(() => rmSync(folder, { recursive: true }))

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
const AUTHORITY = fixture('tls-test-authority.pem')
/** A self-signed certificate. */
const OTHER = fixture('tls-test-cert.pem')

function fileWith(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** An embedded node behind TLS, with a certificate signed by the test authority. */
async function startSecureNode(): Promise<string> {
  const devnet = await startDevnet({ port: 0, graph: 'pair', difficulty: 100n })
  const { port } = new URL(devnet.url)
  const key = readFileSync(fixture('tls-test-key.pem'))
  const cert = readFileSync(fixture('tls-test-signed-cert.pem'))
  const proxy = createServer({ key, cert }, (outer) => {
    const inner = connect(Number(port), '127.0.0.1')
    outer.on('error', () => inner.destroy()).on('close', () => inner.destroy())
    inner.on('error', () => outer.destroy()).on('close', () => outer.destroy())
    outer.pipe(inner).pipe(outer)
  })
  proxy.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    proxy.close()
    await devnet.close()
  })
  return `https://localhost:${(proxy.address() as AddressInfo).port}`
}

it('--ca lets a miner and other commands trust a node whose certificate that authority signed', async () => {
  const node = await startSecureNode()
  const mining = ['mine', '--node', node, '--blocks', '2', '--http', 'off', '--fail-fast', ...SMALL_SEARCH]
  const mined = await run([...mining, '--ca', AUTHORITY])
  expect(mined).toMatchObject({ code: 0, err: '', out: expect.stringContaining('2 accepted') })
  const asked = ['local', '(+ 1 2)', '--node', node]
  expect(await run([...asked, '--ca', AUTHORITY])).toMatchObject({ code: 0, err: '' })
  const file = fileWith('ca.yaml', `ca: ${AUTHORITY}\nnode: ${node}\n`)
  expect(await run(['local', '(+ 1 2)', '--config', file])).toMatchObject({ code: 0, err: '' })
  expect(await run(asked, { NEWCUT_CA: AUTHORITY })).toMatchObject({ code: 0, err: '' })
  for (const args of [mining, asked, [...mining, '--ca', OTHER], [...asked, '--ca', OTHER]]) {
    const { code, err } = await run(args)
    expect(err).toMatch(/certificate not trusted .*--ca FILE.*\[NODE_UNREACHABLE\]/)
    expect(code).toBe(20)
  }
})

it.each([
  [['--ca', join(folder, 'missing.pem')], /--ca \S+missing\.pem: no such file \(expected the certificate, in PEM form/],
  [['--ca', folder], /cannot read \S+: it is a folder \(EISDIR\) .*\[BAD_INPUT\]/],
  [['--ca', fixture('tls-test-key.pem')], /--ca \S+ has no certificate in PEM form .*\[BAD_OPTION\]/],
  [
    ['--ca', fileWith('damaged.pem', readFileSync(AUTHORITY, 'utf8').replace('MII', 'MIX'))],
    /certificate 1 is damaged/,
  ],
  [['--ca', AUTHORITY, '--insecure'], /--ca and --insecure exclude each other: .* \(give one\) \[BAD_OPTION\]/],
  [['--ca', AUTHORITY, '--fingerprint', 'ab'.repeat(32)], /--ca has no effect: --fingerprint decides which/],
])('%j is refused by every command with one line', async (args, message) => {
  for (const command of [
    ['mine', '--http', 'off'],
    ['balance', 'k:x'],
  ]) {
    const ended = await run([...command, '--node', 'https://127.0.0.1:1', ...args])
    expect(ended).toMatchObject({ code: exitCodeFor(ended), out: '' })
    expect(ended.err).toMatch(/^newcut: .*\n$/)
    expect(ended.err).toMatch(message)
  }
})

it.each([
  [['--node', 'http://127.0.0.1:1'], '--ca has no effect: http://127.0.0.1:1 does not use TLS'],
  [[], '--ca has no effect: without --node there is only the embedded network'],
])('mine %j --ca FILE says why it has no effect', async (args, message) => {
  const { code, err } = await run(['mine', ...args, '--ca', AUTHORITY])
  expect(err).toContain(message)
  expect(code).toBe(2)
})

it('a file or the environment may name authorities for commands that need none', async () => {
  const quick = ['--blocks', '1', '--difficulty', '1k', '--graph', 'pair', '--http', 'off', ...SMALL_SEARCH]
  const { code, err } = await run(['mine', ...quick], { NEWCUT_CA: join(folder, 'missing.pem') })
  expect({ code, err }).toEqual({ code: 0, err: '' })
})

/** Request files: written by one command, signed by others, combined, and accepted by a node. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { developmentAccounts } from '../../src/ground/chain/development-accounts.ts'
import { run, startHere, stopAll } from './run.ts'

const [alice, bob, carol] = developmentAccounts.map(({ publicKey, secretKey }) => ({ publicKey, secretKey }))
const folder = mkdtempSync(join(tmpdir(), 'newcut-requests-'))
let url: string

beforeAll(async () => {
  const node = startHere(['devnet', '--port', '0', '--auto-mine', 'on-arrival', '--graph', 'pair'])
  url = (await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/))[1]
})
afterAll(async () => {
  await stopAll()
  rmSync(folder, { recursive: true })
})

let written = 0
function fileOf(text: string, name = `${++written}.yaml`): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const newcut = (...args: string[]) => run(args, { NEWCUT_NODE: url })

const META = { chainId: '0', sender: 'sender00', gasLimit: 2000, gasPrice: 1e-8, ttl: 28_800 }
const request = (parts: object) =>
  JSON.stringify({ publicMeta: META, networkId: 'development', signers: [{ public: alice.publicKey }], ...parts })

/** The output of a command that succeeds. */
async function output(...args: string[]): Promise<string> {
  const { code, out, err } = await newcut(...args)
  expect(code === 0 ? '' : err).toBe('')
  expect(code).toBe(0)
  return out
}

/** Prints the command of a file with the signatures of these keys, as another file. */
const sign = async (path: string, ...more: string[]) => fileOf(await output('sign', path, ...more))

const MULTI = `code: (coin.transfer "sender00" "sender01" 1.5)
publicMeta: { chainId: "0", sender: sender00, gasLimit: 2000, gasPrice: 0.00000001, ttl: 28800 }
networkId: development
nonce: by two
signers:
  - public: ${alice.publicKey}
    caps:
      - { name: coin.TRANSFER, args: [sender00, sender01, 1.5] }
      - { name: coin.GAS, args: [] }
  - public: ${bob.publicKey}
`

describe('a request file', () => {
  it('a request file is prepared without keys, signed by two owners, combined and sent', async () => {
    const unsigned = await sign(fileOf(MULTI))
    const [byAlice, byBob] = await Promise.all(['sender00', 'sender01'].map((key) => sign(unsigned, '--key', key)))
    const lacking = await newcut('send', '--request', byBob)
    expect(lacking.err).toMatch(new RegExp(`lacks the signatures of ${alice.publicKey} .*newcut sign FILE --key KEY`))
    expect(lacking.code).not.toBe(0)
    const whole = await sign(byAlice, byBob)
    expect(parse(await output('sign', whole)).sigs).toEqual([{ sig: expect.any(String) }, { sig: expect.any(String) }])
    expect(await output('send', '--request', whole)).toBe('"Write succeeded"\n')
  })

  it('a request file may be JSON, and its output too, and has the map of signatures of other tools', async () => {
    const path = fileOf(request({ code: '(+ 1 2)' }), 'sum.json')
    const { hash, cmd, sigs } = JSON.parse(await output('sign', path, '--json', '--key', 'sender00'))
    const map = fileOf(JSON.stringify({ hash, cmd, sigs: { [alice.publicKey]: sigs[0].sig } }), 'map.json')
    expect(await output('send', '--request', map)).toBe('3\n')
  })

  it('a request file has code and data in files beside it, and key pairs', async () => {
    fileOf('(at "n" (read-msg "row"))', 'code.pact')
    fileOf('{ "row": { "n": 1.10 } }', 'data.json')
    const keyPairs = [{ public: alice.publicKey, secret: alice.secretKey }]
    const path = fileOf(request({ codeFile: 'code.pact', dataFile: 'data.json', keyPairs, signers: undefined }))
    expect(await output('send', '--request', path)).toBe('1.1\n')
  })

  it('a request file keeps the digits of numbers', async () => {
    const number = '0.1234567890123456789012345678'
    const path = fileOf(`code: '1'
publicMeta: { chainId: 0, sender: s, gasLimit: 9, gasPrice: 0.000000010, ttl: 60, creationTime: 1700000000 }
networkId: development
nonce: n
data: { n: ${number}, big: 123456789012345678901234567890 }
signers: [{ public: ${alice.publicKey}, caps: [{ name: coin.TRANSFER, args: [a, b, ${number}] }] }]
`)
    const { cmd } = parse(await output('sign', path))
    expect(cmd).toContain(`"data":{"n":${number},"big":123456789012345678901234567890}`)
    expect(cmd).toContain(`"args":["a","b",${number}]`)
    expect(cmd).toContain('"gasPrice":0.000000010,')
  })

  it('a request file continues a pact, and rolls it back', async () => {
    const code = `(namespace "free") (module asked G (defcap G () true)
      (defpact steps () (step-with-rollback "first" "undone") (step "second")))`
    const deploy = ['--key', 'sender00', '--gas-limit', '60000']
    await output('send', code, ...deploy)
    const begin = async () => JSON.parse(await output('send', '(free.asked.steps)', ...deploy, '--json')).requestKey
    const next = { type: 'cont', step: 1, rollback: false }
    const over = fileOf(request({ ...next, pactTxHash: await begin() }))
    expect(await output('send', '--request', over, '--key', 'sender00')).toBe('"second"\n')
    const back = fileOf(request({ ...next, step: 0, rollback: true, proof: null, pactTxHash: await begin() }))
    expect(await output('send', '--request', back, '--key', 'sender00')).toBe('"undone"\n')
  })

  it('a request file is tried out first, unless --no-preflight is given', async () => {
    const path = fileOf(request({ code: '(enforce false "on purpose")' }))
    const tried = await newcut('send', '--request', path, '--key', 'sender00')
    expect(tried.err).toContain('it would fail on chain 0')
    expect(tried.code).not.toBe(0)
    const sent = await newcut('send', '--request', path, '--key', 'sender00', '--no-preflight')
    expect(sent.err).toContain('it failed on chain 0')
    expect(sent.code).not.toBe(0)
  })

  it('a request file takes its network from the node that it is sent to', async () => {
    const path = fileOf(request({ code: '"here"', networkId: undefined }))
    expect(await output('send', '--request', path, '--key', 'sender00')).toBe('"here"\n')
    expect((await newcut('sign', path)).err).toContain('networkId: expected the name of a network')
    const other = fileOf(request({ code: '1', networkId: 'mainnet01' }))
    const { err } = await newcut('send', '--request', other, '--key', 'sender00')
    expect(err).toContain('is for the network mainnet01, and the node is of development')
  })
})

const WRONG: readonly (readonly [string, string | object, RegExp])[] = [
  ['no object', '[1]', /expected an object with code, or with cmd/],
  ['broken YAML', 'a: [', /, line 1: /],
  ['an unknown field', { code: '1', cod: 2 }, /cod: expected none: known are code, codeFile/],
  ['code twice', { code: '1', codeFile: 'x' }, /code: expected either code or codeFile/],
  ['no code', {}, /code: expected either code or codeFile/],
  ['a missing file', { codeFile: 'none.pact' }, /cannot read .*none\.pact/],
  ['data twice', { code: '1', data: {}, dataFile: 'x' }, /data: expected either data or dataFile/],
  ['no metadata', { code: '1', publicMeta: undefined }, /publicMeta: expected an object/],
  ['a wrong chain', { code: '1', publicMeta: { ...META, chainId: 'a' } }, /publicMeta\.chainId: expected a chain/],
  [
    'a wrong price',
    { code: '1', publicMeta: { ...META, gasPrice: 'much' } },
    /publicMeta\.gasPrice: expected a number/,
  ],
  ['a wrong limit', { code: '1', publicMeta: { ...META, gasLimit: 1.5 } }, /publicMeta\.gasLimit: expected a whole/],
  ['no signers', { code: '1', signers: [] }, /signers: expected the public keys that sign/],
  ['a signer without a key', { code: '1', signers: [{}] }, /signers\.0\.public: expected 64 hex digits/],
  ['a signer that is a text', { code: '1', signers: ['ab'] }, /signers\.0: expected an object/],
  [
    'capabilities without a list of arguments',
    { code: '1', signers: [{ public: alice.publicKey, caps: [{ name: 'coin.GAS', args: 1 }] }] },
    /signers\.0\.caps\.0\.args: expected a list/,
  ],
  [
    'a secret key of another public key',
    { code: '1', signers: [], keyPairs: [{ public: bob.publicKey, secret: alice.secretKey }] },
    /keyPairs\.0\.public: expected 368820/,
  ],
  ['a short secret key', { code: '1', keyPairs: [{ public: bob.publicKey, secret: 'ab' }] }, /keyPairs\.0\.secret: /],
  ['a wrong pact', { pactTxHash: 'a', step: 1 }, /pactTxHash: expected a hash/],
  ['a wrong step', { pactTxHash: 'A'.repeat(43), step: -1 }, /step: expected a whole number/],
  ['a wrong rollback', { pactTxHash: 'A'.repeat(43), step: 1, rollback: 'no' }, /rollback: expected true or false/],
  ['a command that is not JSON', '{ "cmd": "x" }', /cmd: expected the JSON of a command/],
]

it.each(WRONG)('a request file with %s is refused with the place', async (_, parts, message) => {
  const { code, err } = await newcut('sign', fileOf(typeof parts === 'string' ? parts : request(parts)))
  expect(err).toMatch(message)
  expect(code).not.toBe(0)
})

describe('a signed file is refused', () => {
  const signedFile = async () => parse(await output('sign', fileOf(MULTI), '--key', 'sender00'))
  const refusal = async (...args: string[]) => (await newcut('sign', ...args)).err

  it('a signed file with another hash, or a signature of another command, is refused', async () => {
    const { hash, cmd, sigs } = await signedFile()
    const changed = (parts: object) => fileOf(JSON.stringify({ hash, cmd, sigs, ...parts }))
    expect(await refusal(changed({ hash: 'A'.repeat(43) }))).toContain(`hash: expected ${hash}, the hash of cmd`)
    const moved = [sigs[1], sigs[0]]
    expect(await refusal(changed({ sigs: moved }))).toMatch(new RegExp(`sigs\\.1 of ${bob.publicKey}: invalid`))
    expect(await refusal(changed({ sigs: [sigs[0], null, null] }))).toContain('sigs: expected at most 2')
    expect(await refusal(changed({ sigs: [7] }))).toContain('sigs.0: expected null, or an object with sig')
  })

  it('a signed file is refused beside the file of another command, and with a key that is not a signer', async () => {
    const path = fileOf(MULTI)
    const [first, second] = [await sign(path), await sign(fileOf(MULTI.replace('by two', 'again')))]
    expect(await refusal(first, second)).toMatch(/are different commands: .*sign one file/)
    expect(await refusal(first, '--key', 'sender02')).toContain(`has no signer ${carol.publicKey}`)
  })
})

it.each([
  [['send'], 'send takes either CODE or --request FILE'],
  [['send', '1', '--request', 'x'], 'send takes either CODE or --request FILE'],
  [['send', '--request', 'x', '--data', '{}'], '--data has no effect: the file of --request has it'],
  [['send', '--request', 'none.yaml'], 'cannot read none.yaml'],
])('newcut refuses %j with the text: %s', async (args, message) => {
  const { code, err } = await newcut(...args)
  expect(err).toContain(message)
  expect(code).not.toBe(0)
})

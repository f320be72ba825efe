/** The values of `--key` and the signing keys that they select. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { signingKeys } from '../../src/commands/input/signing-keys.ts'
import { keyLines } from '../../src/commands/keygen.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** RFC 8032, test vector 1. */
const secretKey = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'
const publicKey = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'

let files = 0
function fileWith(text: string): string {
  const file = join(folder, `${files++}.txt`)
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

const noWarning = (message: string) => {
  throw new Error(message)
}

const keysOf = (names: readonly string[] | undefined, network: string) => signingKeys(names, network, noWarning)
const accountsOf = (names: readonly string[], network = 'development') =>
  keysOf(names, network).map(({ account }) => account)

describe('--key', () => {
  it.each([
    ['the text of newcut keygen', `${keyLines({ publicKey, secretKey }).join('\n')}\n`],
    ['its JSON', JSON.stringify({ publicKey, secretKey, account: `k:${publicKey}` })],
    ['the account of its public key', `public-key: k:${publicKey}\nsecret-key: ${secretKey}\n`],
    ['JSON with that', JSON.stringify({ publicKey: `k:${publicKey}`, secretKey })],
    ['lines of other tools', `public: ${publicKey}\nsecret: ${secretKey}\n`],
    ['lines with quotes, and upper case', `public: "${publicKey.toUpperCase()}"\r\nsecret: '${secretKey}'\r\n`],
    ['a secret key alone', `secret-key: ${secretKey}`],
  ])('--key reads %s', (_name, text) => {
    const [{ account, key }] = keysOf([fileWith(text)], 'mainnet01')
    expect(account).toEqual(`k:${publicKey}`)
    expect(key.publicKey).toEqual(publicKey)
    // RFC 8032, test vector 1: the signature of the empty message.
    expect(key.sign(new Uint8Array(0))).toMatch(/^e5564300c360ac729086e2cc806e828a/)
  })

  it('--key knows the accounts of development networks, and only there', () => {
    expect(accountsOf(['sender01', 'sender00'])).toEqual(['sender01', 'sender00'])
    expect(accountsOf(['miner'])[0]).toMatch(/^k:3b6a27bc/)
    expect(() => accountsOf(['sender00'], 'mainnet01')).toThrow(
      '--key sender00 is a public key pair for development, and mainnet01 is not a development network',
    )
  })

  it('--key accepts a file that other users may read, with a warning', () => {
    const file = fileWith(`secret: ${secretKey}`)
    for (const mode of [0o640, 0o604, 0o644]) {
      chmodSync(file, mode)
      const warnings: string[] = []
      const [{ account }] = signingKeys([file], 'mainnet01', (message) => warnings.push(message))
      expect(account).toBe(`k:${publicKey}`)
      expect(warnings).toEqual([
        `other users may read the secret key in ${file} (mode ${mode.toString(8)}); chmod 600 removes that right`,
      ])
    }
  })

  it.each([
    [undefined, '--key is missing: a transaction needs a signature', 'BAD_OPTION'],
    [[secretKey], '--key takes the name of a file, not a key', 'BAD_OPTION'],
    [[`0x${secretKey}`], '--key takes the name of a file, not a key', 'BAD_OPTION'],
    [[secretKey + publicKey], '--key takes the name of a file, not a key', 'BAD_OPTION'],
    [['sender00', 'sender00'], 'is given twice', 'BAD_OPTION'],
    [[join(folder, 'nofile')], 'no such file or key', 'BAD_INPUT'],
    [[fileWith(`public-key: ${publicKey}\n`)], 'there is no secret key in it', 'BAD_INPUT'],
    [[fileWith(`{"secretKey": "${secretKey}0"}`)], 'there is no secret key in it', 'BAD_INPUT'],
    [[fileWith('null')], 'there is no secret key in it', 'BAD_INPUT'],
    [
      [fileWith(`public: ${'ab'.repeat(32)}\n\nsecret: ${secretKey}`)],
      `belongs to the public key ${publicKey}`,
      'BAD_INPUT',
    ],
    [[fileWith(`public: k:${'ab'.repeat(32)}\nsecret: ${secretKey}`)], `belongs to the public key`, 'BAD_INPUT'],
    [[fileWith(JSON.stringify({ publicKey: `k:${'ab'.repeat(32)}`, secretKey }))], 'belongs to', 'BAD_INPUT'],
    [[folder], 'cannot read', 'BAD_INPUT'],
  ])('--key refuses %j', (names, message, code) => {
    expect(() => keysOf(names, 'mainnet-development')).toThrow(expect.objectContaining({ code }))
    expect(() => keysOf(names, 'development')).toThrow(message)
    expect(() => keysOf(names, 'development')).not.toThrow(secretKey)
  })
})

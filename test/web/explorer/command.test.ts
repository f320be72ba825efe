/** Hashes, signatures, literals and shown values of the page. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoteForCode, readCapability } from '../../../src/client/wallet/capability.ts'
import { argumentOf, capabilityOf } from '../../../src/faces/web/explorer/browser/argument.ts'
import { keyPairOf } from '../../../src/faces/web/explorer/browser/ed25519.ts'
import { FieldFault } from '../../../src/faces/web/explorer/browser/field-fault.ts'
import { Keyring } from '../../../src/faces/web/explorer/browser/keyring.ts'
import { literalOf } from '../../../src/faces/web/explorer/browser/literal.ts'
import { pathWith } from '../../../src/faces/web/explorer/browser/query.ts'
import { type CommandDraft, type PageSigner, signedDraft } from '../../../src/faces/web/explorer/browser/signing.ts'
import { briefValue } from '../../../src/faces/web/explorer/browser/value-text.ts'
import { blake2b256 as judge } from '../../../src/ground/chain/blake2b.ts'
import { developmentAccounts } from '../../../src/ground/chain/development-accounts.ts'
import { read } from '../../../src/language/contracts/syntax/reader.ts'

const fault = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof FieldFault) return error.message
    throw error
  }
  return 'nothing'
}

describe('the hash of commands', () => {
  it('commands of the page are signed by the keys of the accounts, and the gas price keeps its spelling', async () => {
    const [first, second] = developmentAccounts
    const signerOf = async ({
      account: name,
      secretKey,
    }: (typeof developmentAccounts)[number]): Promise<PageSigner> => {
      return { name, group: '', ...(await keyPairOf(secretKey)) }
    }
    const unsigned: PageSigner = { name: 'k:ab', publicKey: 'ab'.repeat(32), group: '', sign: null }
    const exec = { code: '(+ 1 "ü")', data: { k: ['<&>'] } }
    const draft: CommandDraft = {
      networkId: 'development',
      chain: 3,
      payload: { code: exec.code, data: JSON.stringify(exec.data) },
      signers: [
        { key: await signerOf(first), capabilities: [{ name: 'coin.GAS', args: [] }] },
        { key: await signerOf(second), capabilities: [] },
        { key: unsigned, capabilities: [] },
      ],
      sender: 'sender00',
      gasLimit: 1000,
      gasPrice: '0.000000010000',
      ttl: 600,
      creationTime: 1_700_000_000,
      nonce: 'n',
    }
    const { hash, sigs, cmd } = await signedDraft(draft)
    expect(hash).toBe(Buffer.from(judge(new TextEncoder().encode(cmd))).toString('base64url'))
    expect(cmd).toContain('"gasPrice":0.000000010000,')
    expect(JSON.parse(cmd)).toMatchObject({
      networkId: 'development',
      payload: { exec },
      signers: [
        { pubKey: first.publicKey, clist: [{ name: 'coin.GAS', args: [] }] },
        { pubKey: second.publicKey },
        { pubKey: 'ab'.repeat(32) },
      ],
      meta: { chainId: '3', sender: 'sender00', gasLimit: 1000, ttl: 600, creationTime: 1_700_000_000 },
    })
    expect(JSON.parse(cmd).signers[1]).not.toHaveProperty('clist')
    expect(sigs[2]).toBeNull()
    const { createPublicKey, verify } = await import('node:crypto')
    for (const [i, { publicKey }] of [first, second].entries()) {
      const x = Buffer.from(publicKey, 'hex').toString('base64url')
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
      const signature = Buffer.from(sigs[i]?.sig ?? '', 'hex')
      expect(verify(null, Buffer.from(hash, 'base64url'), key, signature)).toBe(true)
    }
  })
})

describe('the keys of the page', () => {
  const [{ publicKey, secretKey }] = developmentAccounts
  const [own, other] = ['01'.repeat(32), '02'.repeat(32)]

  it('the page lists the keys of accounts, then added keys, then keys that the node does not check', async () => {
    let changes = 0
    const keyring = new Keyring(() => changes++)
    const { name } = await keyring.add(` ${own} `)
    keyring.impersonate(['cd'.repeat(32), name.slice(2)])
    expect(keyring.signers.slice(10).map((each) => [each.name, each.sign === null])).toEqual([
      [name, false],
      [`k:${'cd'.repeat(32)}`, true],
    ])
    expect(keyring.isUnchecked).toBe(false)
    keyring.impersonate(['*'])
    expect(keyring.isUnchecked).toBe(true)
    expect(keyring.signers.length).toBe(11)
    keyring.forget(name)
    expect(keyring.find(name)).toBeUndefined()
    expect(keyring.signers.length).toBe(10)
    expect(changes).toBe(4)
  })

  it('the page reads keys as 64 digits, or with the public key after them; no refusal repeats a key', async () => {
    const keyring = new Keyring(() => undefined)
    const { name } = await keyring.add(secretKey.toUpperCase() + publicKey)
    expect(name).toBe(`k:${publicKey}`)
    for (const text of [`${own}0`, own.replace('0', 'g'), own + other, '', secretKey]) {
      const told = await keyring.add(text).catch((error: unknown) => {
        expect(error).toBeInstanceOf(FieldFault)
        return (error as Error).message
      })
      expect(told, text).toMatch(/64|already/)
      expect(String(told).toLowerCase()).not.toContain(text.slice(0, 20) || 'undefined')
    }
  })
})

it('the query of a page keeps an empty key, and leaves out an empty search', () => {
  const parameters = { chain: 0, search: '', key: '', next: '', name: 'a&b', limit: undefined, order: null }
  expect(pathWith('/t', parameters)).toBe('/t?chain=0&key=&next=&name=a%26b')
  expect(pathWith('/t', { search: '' })).toBe('/t')
})

describe('arguments', () => {
  it('arguments of the form are read by the reader of the language as the same text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const [form] = read(quoteForCode(text))
        expect(form).toMatchObject({ form: 'string', value: text })
        expect(literalOf(quoteForCode(text)).json).toBe(text)
      }),
    )
  })

  it.each([
    ['integer', ' 12 ', '12', { int: 12 }],
    ['integer', '-9007199254740993', '-9007199254740993', { int: '-9007199254740993' }],
    ['decimal', '1', '1.0', { decimal: '1.0' }],
    ['decimal', '-0.10', '-0.10', { decimal: '-0.10' }],
    ['bool', 'false', 'false', false],
    ['string', 'a "b"\n', '"a \\"b\\"\\n"', 'a "b"\n'],
    ['time', '2027-01-31T12:00:00Z', '(time "2027-01-31T12:00:00Z")', { time: '2027-01-31T12:00:00Z' }],
    ['[integer]', '[1, 2]', '[1, 2]', [{ int: 1 }, { int: 2 }]],
    ['object{a}', '{"a": 1.5, "b": [true]}', '{"a": 1.5, "b": [true]}', { a: { decimal: '1.5' }, b: [true] }],
    ['', '"x"', '"x"', 'x'],
    [
      'module{fungible-v2}',
      'free.token',
      'free.token',
      { refSpec: [{ namespace: null, name: 'fungible-v2' }], refName: { namespace: 'free', name: 'token' } },
    ],
  ])('an argument of type %s is read: %j', (type, text, code, json) => {
    expect(argumentOf(type, text)).toEqual({ code, json })
  })

  it.each([
    ['integer', '1.5', 'a whole number, such as 12'],
    ['integer', '', 'a whole number, such as 12'],
    ['decimal', '1e3', 'a number, such as 1.5'],
    ['time', '2027-13-31T12:00:00Z', 'a time in UTC, such as 2027-01-31T12:00:00Z'],
    ['[integer]', '{"a": 1}', 'a list, such as [1 2 3]'],
    ['object{a}', '[1]', 'an object, such as {"field": 1}'],
    ['list', '[1', "a literal: Expected: [']'] (the [ of line 1, column 1 is not closed)"],
    ['', '(+ 1 2)', 'a literal: (+ 1 2) is none'],
    ['', '1 2', 'one literal: 2 is left'],
    ['', '{a: 1}', 'a literal: Unexpected input: a'],
    ['', '', 'a literal, such as "text", 1.5, [1 2] or {"name": true}'],
    ['', '{"a" 1}', 'a literal: Unexpected input: 1'],
    ['', '['.repeat(251), 'a literal: Nested more than 250 deep'],
    ['module{a}', 'free token', 'the name of a module, such as free.token'],
  ])('an argument of type %s is refused: %j', (type, text, message) => {
    expect(fault(() => argumentOf(type, text))).toBe(message)
  })

  it('arguments of capabilities are those that the wallet reads', () => {
    for (const text of [
      '(coin.GAS)',
      '(coin.TRANSFER "a" "b" 1.5)',
      '(free.t.C [1 2] {"a": true})',
      ' ( a.B "x)y" )',
    ]) {
      expect(capabilityOf(text)).toEqual(readCapability(text))
    }
    for (const text of ['coin.GAS', '(GAS)', '(coin.TRANSFER (f))', '(coin.GAS) (coin.GAS)']) {
      expect([text, fault(() => capabilityOf(text))]).not.toEqual([text, 'nothing'])
    }
  })
})

it.each([
  [1, '1.0'],
  [1e-8, '0.00000001'],
  [{ int: 3 }, '3'],
  [{ decimal: '1.123456789012345678' }, '1.123456789012345678'],
  [{ time: '2027-01-31T12:00:00Z' }, '(time "2027-01-31T12:00:00Z")'],
  [{ pred: 'keys-all', keys: ['ab'.repeat(32)] }, 'keys-all [abababab…]'],
  [{ keysetref: { ns: 'free', ksn: 'admin' } }, 'keyset free.admin'],
  [{ keysetref: 'admin' }, 'keyset admin'],
  [{ refName: { namespace: null, name: 'coin' }, refSpec: [] }, 'coin'],
  [[{ a: 'x"' }, null, true], '[{"a": "x\\""} null true]'],
])('the explorer shows the value %j as %s', (json, text) => {
  expect(briefValue(json)).toBe(text)
})

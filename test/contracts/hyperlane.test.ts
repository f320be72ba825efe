/** Natives for messages of Hyperlane, and the hash that they use. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { describe, expect, it } from 'vitest'
import { Guard, type ObjectValue, type Value } from '../../src/language/contracts/values/value.ts'
import { dec, failure, obj, run, runWith } from './native-call.ts'

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
const text = (value: string) => base64(Buffer.from(value))
const metered = (name: string, arg: Value) => {
  const meter = { limit: Number.POSITIVE_INFINITY, used: 0, work: 0 }
  runWith(meter, name, arg)
  return meter
}
const cost = (name: string, arg: Value) => metered(name, arg).used
const workOf = (name: string, arg: Value) => metered(name, arg).work

const KEY = 'da1a339bd82d2c2e9180626a00dc043275deb3ababb27b5738abf6b9dcee8db6'
const keyset = new Guard({ kind: 'keyset', keys: [KEY], predicate: 'keys-all' })
const message: Record<string, Value> = {
  version: 1n,
  nonce: 0x01020304n,
  originDomain: 626n,
  sender: base64(Buffer.alloc(32, 0xa1)),
  destinationDomain: 0xffff_ffffn,
  recipient: base64(Buffer.alloc(32, 0xb2)),
  messageBody: base64(Buffer.from('body')),
}

describe('hyperlane-message-id', () => {
  const id = (changes: Record<string, Value> = {}) => run('hyperlane-message-id', obj({ ...message, ...changes }))

  it('hyperlane-message-id hashes all fields, big-endian', () => {
    const parts = ['01', '01020304', '00000272', 'a1'.repeat(32), 'ffffffff', 'b2'.repeat(32)]
    const whole = Buffer.from(parts.join('') + Buffer.from('body').toString('hex'), 'hex')
    expect(id()).toBe(base64(keccak_256(whole)))
    expect(id({ other: 'ignored' })).toBe(id())
    expect(id({ messageBody: '' })).toBe(base64(keccak_256(whole.subarray(0, -4))))
  })

  it.each<[Record<string, Value>, string, string]>([
    [{ version: 256n }, 'Object key version was out of bounds', 'Object key version was out of bounds.'],
    [{ nonce: -1n }, 'Object key nonce was out of bounds', 'Object key nonce was out of bounds.'],
    [{ originDomain: dec('1.0') }, ...twice('Failed to find key in object: originDomain')],
    [{ destinationDomain: 1n << 32n }, ...twice('Object key destinationDomain was out of bounds', '.')],
    [{ sender: 7n }, ...twice('Failed to find key in object: sender')],
    [{ recipient: '!' }, 'Invalid base64 encoding on field recipient', 'Invalid base64 encoding on field: recipient'],
    [
      { sender: base64(Buffer.alloc(31)) },
      'Incorrect binary data size sender. Expected: 32, but got 31',
      'Incorrect binary data size. sender. Expected: 32, but got: 31',
    ],
    [
      { messageBody: 'A' },
      'Invalid base64 encoding on field messageBody',
      'Invalid base64 encoding on field: messageBody',
    ],
  ])('hyperlane-message-id refuses %o', (changes, shown, wire) => {
    expect(failure('hyperlane-message-id', obj({ ...message, ...changes }))).toMatchObject({
      kind: 'EvalError',
      message: `Hyperlane native error: ${shown}`,
      wireMessage: `Hyperlane native error: ${wire}`,
    })
  })

  it('hyperlane-message-id charges the length of the id; a long body is work', () => {
    const body = (bytes: number) => obj({ ...message, messageBody: base64(Buffer.alloc(bytes)) })
    expect([300, 30_000].map((bytes) => cost('hyperlane-message-id', body(bytes)))).toEqual([43, 43])
    expect(workOf('hyperlane-message-id', body(30_000))).toBeGreaterThan(300_000)
  })
})

function twice(message: string, end = ''): [string, string] {
  return [message, message + end]
}

describe('token messages', () => {
  const encode = (fields: Record<string, Value>) => run('hyperlane-encode-token-message', obj(fields)) as string
  const decode = (message: string) => Object.fromEntries(run('hyperlane-decode-token-message', message) as ObjectValue)
  const recipient = text(JSON.stringify({ pred: 'keys-all', keys: [KEY] }))

  it('a token message has the amount, the chain and the recipient', () => {
    const encoded = encode({ amount: dec('123.0'), chainId: '4', recipient })
    const parts = ['7b'.padStart(64, '0'), '0004', Buffer.from(recipient, 'base64url').toString('hex')]
    expect(Buffer.from(encoded, 'base64url').toString('hex')).toBe(parts.join(''))
    expect(decode(encoded)).toEqual({ amount: dec('0.000000000000000123'), chainId: '4', recipient: keyset })
  })

  it('token messages round amounts half to even, and wrap around at 2^256', () => {
    const amountOf = (amount: string) => {
      const bytes = Buffer.from(encode({ amount: dec(amount), chainId: '0', recipient: '' }), 'base64url')
      return BigInt(`0x${bytes.subarray(0, 32).toString('hex')}`)
    }
    expect(['0.5', '1.5', '2.5', '2.51'].map(amountOf)).toEqual([0n, 2n, 2n, 3n])
    expect(amountOf('-1.0')).toBe((1n << 256n) - 1n)
    expect(amountOf(`${(1n << 256n) + 5n}.0`)).toBe(5n)
  })

  it('a token message has its chain in the digits at the start, modulo 2^16', () => {
    const chainOf = (chainId: string) => {
      return Buffer.from(encode({ amount: dec('0.0'), chainId, recipient: '' }), 'base64url').readUInt16BE(32)
    }
    expect(['7', '19xyz', '65536', '65541', `1${'0'.repeat(40)}`, `${'9'.repeat(30)}12`].map(chainOf)).toEqual([
      7,
      19,
      0,
      5,
      0,
      Number(BigInt(`${'9'.repeat(30)}12`) % 65_536n),
    ])
    const bad = obj({ amount: dec('0.0'), chainId: 'x1', recipient: '' })
    expect(failure('hyperlane-encode-token-message', bad)).toMatchObject({
      message: expect.stringContaining('Hyperlane native error: Failed to decode chainId: '),
      wireMessage: 'Hyperlane native error: Failed to decode chainId.',
    })
  })

  it('a token message decodes to the largest amount, with 18 places', () => {
    const whole = Buffer.concat([Buffer.alloc(32, 0xff), Buffer.from([0xff, 0xff]), Buffer.from(`["${KEY}"]`)])
    const { amount, chainId, recipient: keys } = decode(base64(whole))
    expect(amount).toEqual(dec(`${(1n << 256n) - 1n}`.replace(/(\d{18})$/, '.$1')))
    expect(chainId).toBe('65535')
    expect(keys).toEqual(keyset)
  })

  it('a token message may have any guard as recipient', () => {
    const guardOf = (json: string) => {
      return decode(base64(Buffer.concat([Buffer.alloc(34), Buffer.from(json)]))).recipient as Guard
    }
    expect(guardOf('{"keysetref":{"ns":"free","ksn":"admins"}}').is).toEqual({ kind: 'keysetRef', name: 'free.admins' })
    expect(guardOf('{"fun":"free.m.f","args":[{"int":7}]}').is).toEqual({ kind: 'user', fun: 'free.m.f', args: [7n] })
  })

  it.each([
    ['!', 'Failed to base64-decode token message'],
    [base64(Buffer.alloc(33)), 'Decoding error: binary decoding failed'],
    [base64(Buffer.alloc(34)), 'Could not parse recipient into a guard', ''],
    [base64(Buffer.concat([Buffer.alloc(34), Buffer.from('k:abc')])), 'Could not parse recipient into a guard', ''],
    [
      base64(Buffer.concat([Buffer.alloc(34), Buffer.from('{"keys":1}')])),
      'Could not parse recipient into a guard',
      '',
    ],
    [base64(Buffer.concat([Buffer.alloc(34), Buffer.from('"k"')])), 'Could not parse recipient into a guard', ''],
    [base64(Buffer.concat([Buffer.alloc(34), Buffer.from([0xff])])), 'Could not parse recipient into a guard', ''],
    [
      base64(Buffer.concat([Buffer.alloc(34), Buffer.from('['.repeat(300))])),
      'Could not parse recipient into a guard',
      '',
    ],
  ])('a malformed token message is refused: %s', (bad, shown, end = '.') => {
    expect(failure('hyperlane-decode-token-message', bad)).toMatchObject({
      message: `Hyperlane decode error: ${shown}`,
      wireMessage: `Hyperlane decode error: ${shown}${end}`,
    })
  })

  it('a token message is charged by its characters', () => {
    const fields = obj({ amount: dec('1.0'), chainId: '0', recipient })
    const encoded = run('hyperlane-encode-token-message', fields) as string
    expect(cost('hyperlane-encode-token-message', fields)).toBe(encoded.length)
    expect(cost('hyperlane-decode-token-message', encoded)).toBe(encoded.length)
    const long = base64(Buffer.concat([Buffer.alloc(34), Buffer.from(`["${'k'.repeat(9000)}"]`)]))
    expect(cost('hyperlane-decode-token-message', long)).toBe(long.length)
    expect(workOf('hyperlane-decode-token-message', long)).toBeGreaterThan(4 * long.length)
  })
})

describe('hash-keccak256', () => {
  const hash = (...pieces: string[]) => run('hash-keccak256', pieces)

  it('hash-keccak256 hashes the decoded pieces one after the other', () => {
    expect(hash(text('ab'), text('c'))).toBe(base64(keccak_256(Buffer.from('abc'))))
    expect(hash()).toBe(base64(keccak_256(Buffer.alloc(0))))
    expect(hash('', text('abc'), '')).toBe(hash(text('abc')))
  })

  it('hash-keccak256 costs 2,120 for each piece, and 146 for each 100 bytes of all, rounded up', () => {
    const costOf = (...pieces: string[]) => cost('hash-keccak256', pieces)
    expect(costOf()).toBe(0)
    expect(costOf('')).toBe(2_120)
    expect(costOf('A'.repeat(100))).toBe(2_120 + 146)
    expect(costOf('A'.repeat(96), 'AAAA')).toBe(2 * 2_120 + 146)
    expect(costOf('A'.repeat(96), 'AAAAAAAA')).toBe(2 * 2_120 + 2 * 146)
  })

  it('hash-keccak256 refuses pieces that are not base64url', () => {
    expect(failure('hash-keccak256', ['QQ', 'a+b'])).toMatchObject({
      message: expect.stringContaining('Base64URL decode failed'),
      wireMessage: 'Keccak256 Hashing failure: Base64URL decode failed',
    })
    expect(failure('hash-keccak256', ['QQ', 1n]).message).toMatch(/^Type error/)
  })
})

import { describe, expect, it } from 'vitest'
import { mayMoveTo, readPoolAddress } from '../../../src/source/pool/address.ts'

describe('the address of a pool', () => {
  it.each([
    [
      'stratum+tcp://k:ab12.rig1@pool.example:1917',
      { user: 'k:ab12.rig1', password: '', host: 'pool.example', port: 1917, tls: false },
    ],
    [
      'stratum+ssl://alice:x@pool.example:443',
      { user: 'alice', password: 'x', host: 'pool.example', port: 443, tls: true },
    ],
    [
      'stratum+tcp://k:ab:secret@10.0.0.1:1',
      { user: 'k:ab', password: 'secret', host: '10.0.0.1', port: 1, tls: false },
    ],
    ['STRATUM+TCP://a%40b@[::1]:3333/', { user: 'a@b', password: '', host: '::1', port: 3333, tls: false }],
  ])('is read: %s', (text, expected) => {
    expect(readPoolAddress(text)).toMatchObject(expected)
  })

  it('is shown without user and password', () => {
    expect(readPoolAddress('stratum+tcp://alice:secret@pool.example:1917').url).toBe('stratum+tcp://pool.example:1917')
  })

  it.each([
    ['http://pool.example:80', /cannot be read/],
    ['stratum+tcp://pool.example', /cannot be read/],
    ['stratum+tcp://pool.example:1917', /nobody would be paid/],
    ['stratum+tcp://a@pool.example:99999', /port 99999, expected 1 to 65535/],
    ['stratum+tcp://a:secret word@pool.example:1917', /cannot be read/],
  ])('that is none is refused, and its password not repeated: %s', (text, complaint) => {
    expect(() => readPoolAddress(text)).toThrow(complaint)
    expect(() => readPoolAddress(text)).not.toThrow(/secret/)
  })
})

describe('a pool may send its miners', () => {
  it.each([
    ['pool.example.org', 'pool.example.org', true],
    ['pool.example.org', 'eu.example.org', true],
    ['pool.example.org', 'a.b.example.org', true],
    ['pool.example.org', 'example.org', true],
    ['example.org', 'eu.example.org', true],
    ['pool.example.org', 'example.com', false],
    ['pool.example.org', 'evilexample.org', false],
    ['example.org', 'other.org', false],
    ['localhost', 'elsewhere', false],
    ['10.0.0.1', '10.0.0.2', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['::1', '::2', false],
  ])('from %s to %s: %s', (host, other, may) => {
    expect(mayMoveTo({ host }, other)).toBe(may)
  })
})

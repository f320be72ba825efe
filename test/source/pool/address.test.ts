import { describe, expect, it } from 'vitest'
import { accountOf, mayMoveTo, readPoolAddress } from '../../../src/mining/source/pool/address.ts'

const KEY = `k:${'ab12'.repeat(16)}`
const HASH = 'eLOS-gEULTmjQvGwlCMgMgVyLfRZEfFdXYs-eyF1_qA'

describe('address of a pool', () => {
  it.each([
    [
      `stratum+tcp://${KEY}.rig1@pool.example:1917`,
      { user: `${KEY}.rig1`, password: '', host: 'pool.example', port: 1917, tls: false },
    ],
    [
      'stratum+ssl://alice:x@pool.example:443',
      { user: 'alice', password: 'x', host: 'pool.example', port: 443, tls: true },
    ],
    [
      `stratum+tcp://${KEY}:secret@10.0.0.1:1`,
      { user: KEY, password: 'secret', host: '10.0.0.1', port: 1, tls: false },
    ],
    ['STRATUM+TCP://a%40b@[::1]:3333/', { user: 'a@b', password: '', host: '::1', port: 3333, tls: false }],
  ])('the address of a pool is read: %s', (text, expected) => {
    expect(readPoolAddress(text)).toMatchObject(expected)
  })

  it.each([
    ['a:secret', 'a', 'secret'],
    ['k%3Asecret:more', 'k:secret', 'more'],
    [KEY, KEY, ''],
    [`${KEY}.rig:x:y`, `${KEY}.rig`, 'x:y'],
    [`w:${HASH}:keys-any`, `w:${HASH}:keys-any`, ''],
    [`w:${HASH}:keys-any.rig:x`, `w:${HASH}:keys-any.rig`, 'x'],
    [`c:${HASH}.rig:x`, `c:${HASH}.rig`, 'x'],
    [`u:free.guards.own:${HASH}:x`, `u:free.guards.own:${HASH}`, 'x'],
    [`r:n_${'0a'.repeat(20)}.admin:x`, `r:n_${'0a'.repeat(20)}.admin`, 'x'],
    [`m:n_${'0a'.repeat(20)}.bank:guard:x`, `m:n_${'0a'.repeat(20)}.bank:guard`, 'x'],
    ['k%3Aab.rig:x', 'k:ab.rig', 'x'],
    ['alice:x,d=1024', 'alice', 'x,d=1024'],
    ['alice:p@ss@word', 'alice', 'p@ss@word'],
    ['alice:a/b%2C%40', 'alice', 'a/b,@'],
    ['alice:', 'alice', ''],
  ])('the credentials %s have the user %s and the password %s', (credentials, user, password) => {
    const address = readPoolAddress(`stratum+tcp://${credentials}@pool.example:1917`)
    expect(address).toMatchObject({ user, password, host: 'pool.example', port: 1917 })
    expect(address.url).toBe('stratum+tcp://pool.example:1917')
  })

  it('the address of a pool is shown without user and password', () => {
    expect(readPoolAddress('stratum+tcp://alice:secret@pool.example:1917').url).toBe('stratum+tcp://pool.example:1917')
  })

  it.each([
    ['http://pool.example:80', /cannot be read/],
    ['stratum+tcp://pool.example', /cannot be read/],
    ['stratum+tcp://pool.example:1917', /the user is missing, so nobody would be paid/],
    ['stratum+tcp://@pool.example:1917', /the user is missing, so nobody would be paid/],
    ['stratum+tcp://:secret@pool.example:1917', /the user is missing, so nobody would be paid/],
    ['stratum+tcp://a@pool.example:1,b:secret@pool.example:2', /the user contains an @/],
    ['stratum+tcp://a@pool.example:99999', /99999 is not a port/],
    ['stratum+tcp://a:secret word@pool.example:1917', /cannot be read/],
    ['stratum+tcp://k:secret@pool.example:1917', /looks like an account, but its key or hash is not valid/],
    [`stratum+tcp://${KEY}ab:secret@pool.example:1917`, /looks like an account, but its key or hash is not valid/],
    ['stratum+tcp://r:free.secret.rig@pool.example:1917', /looks like an account, but its key or hash is not valid/],
  ])('an invalid address is refused, without its password in the error: %s', (text, complaint) => {
    expect(() => readPoolAddress(text)).toThrow(complaint)
    expect(() => readPoolAddress(text)).not.toThrow(/secret/)
  })
})

describe('redirection to another host', () => {
  it.each([
    ['pool.example.org', 'pool.example.org', true],
    ['pool.example.org', 'eu.example.org', true],
    ['pool.example.org', 'a.b.example.org', true],
    ['pool.example.org', 'example.org', true],
    ['example.org', 'eu.example.org', true],
    ['pool.example.org', 'example.com', false],
    ['pool.example.org', 'evilexample.org', false],
    ['example.org', 'other.org', false],
    ['mypool.co.uk', 'evil.co.uk', false],
    ['eu.mypool.co.uk', 'us.mypool.co.uk', true],
    ['eu.mypool.co.uk', 'evil.co.uk', false],
    ['pool.github.io', 'evil.github.io', false],
    ['pool.duckdns.org', 'eu.pool.duckdns.org', true],
    ['co.uk', 'evil.co.uk', false],
    ['Pool.Example.org', 'EU.example.ORG.', true],
    ['pool.example.org', 'evil.com/example.org', false],
    ['pool.internal', 'eu.pool.internal', true],
    ['pool.internal', 'other.internal', false],
    ['localhost', 'elsewhere', false],
    ['10.0.0.1', '10.0.0.2', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['::1', '::2', false],
  ])('a redirection from the pool %s to %s is allowed: %s', (host, other, may) => {
    expect(mayMoveTo({ host }, other)).toBe(may)
  })
})

describe('account of a user', () => {
  const KEY = 'ab'.repeat(32)
  const OWNED = `n_${'cd'.repeat(20)}.pool-keyset`
  it.each([
    ['alice', 'alice'],
    ['alice.rig.1', 'alice'],
    [`k:${KEY}`, `k:${KEY}`],
    [`k:${KEY}.rig1`, `k:${KEY}`],
    [`r:${OWNED}`, `r:${OWNED}`],
    [`r:${OWNED}.rig1`, `r:${OWNED}.rig1`],
    ['.rig1', ''],
  ])('the account of the user %s is %s', (user, account) => {
    expect(accountOf(user)).toBe(account)
  })
})

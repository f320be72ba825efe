import { describe, expect, it } from 'vitest'
import {
  decodePercents,
  foreignPage,
  hostOf,
  isHostOf,
  isLoopback,
  isPort,
  withoutSecrets,
} from '../../src/ground/base/host.ts'

it.each([
  ['localhost:1848', 'localhost'],
  ['LocalHost', 'localhost'],
  ['127.0.0.1:80', '127.0.0.1'],
  ['[::1]:1848', '::1'],
  ['[::1]', '::1'],
  ['[::FFFF:127.0.0.1]:80', '::ffff:127.0.0.1'],
  ['evil.example:1848', 'evil.example'],
  ['127.0.0.1:80:90', '127.0.0.1:80'],
  ['', ''],
  [undefined, ''],
])('the host of the Host header %j is %j', (header, host) => {
  expect(hostOf(header)).toBe(host)
})

it.each([
  [1, true],
  [65_535, true],
  [0, false],
  [65_536, false],
  [80.5, false],
  [Number.NaN, false],
])('whether a client can connect to port %s: %s', (port, can) => expect(isPort(port)).toBe(can))

it.each([
  ['a%40b', 'a@b'],
  ['100%', '100%'],
])('the part %s of an address is %s', (part, text) => expect(decodePercents(part)).toBe(text))

it.each(['localhost', 'LocalHost', '127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])(
  '%s is a loopback',
  (host) => {
    expect(isLoopback(host)).toBe(true)
  },
)

it.each(['', '0.0.0.0', '::', '127.0.0', '10.127.0.0.1', '127.0.0.1.2', '::ffff:10.0.0.1', 'localhost.example'])(
  '%j is not a loopback address',
  (host) => expect(isLoopback(host)).toBe(false),
)

it.each([
  ['--node http://me:pw@node:1848: expected', '--node http://***@node:1848: expected'],
  ['"https://token@node"', '"https://***@node"'],
  ['NEWCUT_NODE=ftp://me:pw@node', 'NEWCUT_NODE=ftp://***@node'],
  ['--node me:pw@node:1848: expected', '--node ***@node:1848: expected'],
  ['http://me:p@w/x?y#z@node', 'http://***@node'],
  ['http://me:p w@node', 'http://***@node'],
  ['a.yaml, node: "http://node/?key=abc": expected', 'a.yaml, node: "http://node/?***": expected'],
  ['http://no de/?key=abc', 'http://no de/?***'],
  ['https://node/#abc', 'https://node/#***'],
  ['stratum+tcp://USER@HOST:1', 'stratum+tcp://***@HOST:1'],
  ['http://me:a@one and http://me:b@two', 'http://***@two'],
])('the cleaned text has no secret of %s', (text, shown) => {
  expect(withoutSecrets(text)).toBe(shown)
})

it.each([
  '--node http://127.0.0.1:1848/path: expected',
  '--threads abc: expected',
  '--data @file',
  '--node http://node:x: bad; did you mean y?',
  'NEWCUT_THREADS=x: no',
  'name the user: stratum+tcp://USER@HOST:PORT',
])('the cleaned text equals %s', (text) => {
  expect(withoutSecrets(text)).toBe(text)
})

it.each(['http://'.repeat(2000), 'a'.repeat(15_000), 'x:'.repeat(7000)])(
  'the search for secrets in a text of another machine takes linear time',
  (text) => {
    // 16 KB took two seconds of processor time.
    expect(withoutSecrets(text)).toBe(`*** (${text.length} characters)`)
    const short = `http://me:secret@node/${'a'.repeat(1900)}`
    expect(withoutSecrets(short)).toBe(`http://***@node/${'a'.repeat(1900)}`)
  },
)

describe('the Host header of a server on a loopback address', () => {
  const server = { anyAddress: false, names: ['Rig.example'] }

  it.each(['localhost', 'localhost:1848', 'page.localhost', '127.0.0.1:1848', '[::1]:1848', 'rig.example:80'])(
    'a Host header names the server: %s',
    (header) => expect(isHostOf(header, server)).toBe(true),
  )

  it.each([
    '',
    undefined,
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.7',
    'notlocalhost',
  ])('a Host header names another server: %s', (header) => expect(isHostOf(header, server)).toBe(false))

  it('any Host header is accepted if others reach the server', () => {
    expect(isHostOf('10.0.0.7:80', { anyAddress: true, names: [] })).toBe(true)
    expect(isHostOf('[2001:db8::1]', { anyAddress: true, names: [] })).toBe(true)
    expect(isHostOf('evil.example', { anyAddress: true, names: [] })).toBe(false)
  })
})

describe('a request', () => {
  const host = '127.0.0.1:1848'

  it.each([
    {},
    { origin: `http://${host}` },
    { origin: `https://${host}` },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ])('a request of a program or of our own page is accepted: %o', (headers) =>
    expect(foreignPage({ host, ...headers })).toBe(null),
  )

  it.each([
    [{ origin: 'http://evil.example' }, 'pages of http://evil.example'],
    [{ origin: 'null' }, 'pages of null'],
    [{ origin: 'http://127.0.0.1' }, 'pages of http://127.0.0.1'],
    [{ 'sec-fetch-site': 'cross-site' }, 'a request that is cross-site'],
    [{ origin: `http://${host}`, 'sec-fetch-site': 'same-site' }, 'a request that is same-site'],
    [{ 'sec-fetch-site': ['none', 'cross-site'] }, 'a request that is none,cross-site'],
  ])('a request of another page is refused: %o', (headers, page) =>
    expect(foreignPage({ host, ...headers })).toBe(page),
  )
})

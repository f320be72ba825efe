import { describe, expect, it } from 'vitest'
import { foreignPage, isHostOf } from '../../src/base/host.ts'

describe('the Host header of a server on a loopback address', () => {
  const server = { anyAddress: false, names: ['Rig.example'] }

  it.each(['localhost', 'localhost:1848', 'page.localhost', '127.0.0.1:1848', '[::1]:1848', 'rig.example:80'])(
    'names it: %s',
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
  ])('names another one: %s', (header) => expect(isHostOf(header, server)).toBe(false))

  it('may be any address if others reach the server', () => {
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
  ])('of a program or of our own page: %o', (headers) => expect(foreignPage({ host, ...headers })).toBe(null))

  it.each([
    [{ origin: 'http://evil.example' }, 'pages of http://evil.example'],
    [{ origin: 'null' }, 'pages of null'],
    [{ origin: 'http://127.0.0.1' }, 'pages of http://127.0.0.1'],
    [{ 'sec-fetch-site': 'cross-site' }, 'a request that is cross-site'],
    [{ origin: `http://${host}`, 'sec-fetch-site': 'same-site' }, 'a request that is same-site'],
    [{ 'sec-fetch-site': ['none', 'cross-site'] }, 'a request that is none,cross-site'],
  ])('of another page: %o', (headers, page) => expect(foreignPage({ host, ...headers })).toBe(page))
})

import { expect, it } from 'vitest'
import { hostOf, withoutSecrets } from '../../src/base/host.ts'

it.each([
  ['localhost:1848', 'localhost'],
  ['LocalHost', 'localhost'],
  ['127.0.0.1:80', '127.0.0.1'],
  ['[::1]:1848', '::1'],
  ['[::1]', '::1'],
  ['evil.example:1848', 'evil.example'],
  ['127.0.0.1:80:90', '127.0.0.1:80'],
  ['', ''],
  [undefined, ''],
])('the host of the Host header %j is %j', (header, host) => {
  expect(hostOf(header)).toBe(host)
})

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
])('removes every secret from %s', (text, shown) => {
  expect(withoutSecrets(text)).toBe(shown)
})

it.each([
  '--node http://127.0.0.1:1848/path: expected',
  '--threads abc: expected',
  '--data @file',
  '--node http://node:x: bad; did you mean y?',
  'NEWCUT_THREADS=x: no',
  'name the user: stratum+tcp://USER@HOST:PORT',
])('leaves %s unchanged', (text) => {
  expect(withoutSecrets(text)).toBe(text)
})

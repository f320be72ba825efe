/** `newcut local --set` as a user runs it: code finds rows, a time and signers that the chain does not have. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { funded } from '../devnet/command.ts'
import { exitCodeFor, type RunningHere, run, startHere, stopAll } from './run.ts'

let node: RunningHere
let url: string

beforeAll(async () => {
  node = startHere(['devnet', '--port', '0', '--auto-mine', 'on-demand', '--graph', 'singleton'])
  url = (await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/))[1]
})
afterAll(() => stopAll())

const newcut = (...args: string[]) => run(['local', ...args], { NEWCUT_NODE: url })
const BALANCE = '(coin.get-balance "sender00")'
const GUARD = '(enforce-guard (at "guard" (coin.details "sender00")))'

it.each([
  [BALANCE, ['coin.coin-table:sender00={"balance": 5.123456789012345678}'], '5.123456789012345678'],
  ['(coin.get-balance "k:a=b")', ['coin.coin-table:k:a=b={"balance": 2.0, "guard": {"keyset": 1}}'], null],
  [
    '(coin.get-balance "k:a=b")',
    ['coin.coin-table:k:a=b={"guard": {"keys": ["a"], "pred": "keys-all"}}', 'coin.coin-table:k:a=b={"balance": 2}'],
    '2.0',
  ],
  ['(at "block-time" (chain-data))', ['time=2030-01-01T00:00:00Z'], '"2030-01-01T00:00:00Z"'],
  [GUARD, [`key=${funded.publicKey}`], 'true'],
  [GUARD, [`key=k:${funded.publicKey.toUpperCase()}`], 'true'],
])('newcut local --set %s with %j prints %s', async (code, sets, value) => {
  const ended = await newcut(code, ...sets.flatMap((set) => ['--set', set]))
  if (value === null) expect(ended.err).toContain('/guard: {"keyset":1} is not of type guard')
  else expect([ended.code, ended.out], ended.err).toEqual([0, `${value}\n`])
})

it('newcut local --set prints value and gas as JSON, and leaves the chain as it is', async () => {
  const { out } = await newcut(BALANCE, '--set', 'coin.coin-table:sender00={"balance": 0.1}', '--json')
  const without = JSON.parse((await newcut(BALANCE, '--json')).out)
  expect(JSON.parse(out)).toEqual({ chain: 0, value: 0.1, gas: without.gas })
  expect(without.value).toBeGreaterThan(1)
})

it('newcut local --set explains code that fails', async () => {
  const { err } = await newcut(GUARD, '--set', `key=${'a'.repeat(64)}`)
  expect(err).toContain('the code failed: Keyset failure')
})

it.each([
  [['hello'], '--set hello: not a row, time or key (such as coin.coin-table:alice={"balance": 5.0}'],
  [['coin.coin-table:a={"balance": }'], 'not valid JSON'],
  [['key=12'], '--set key=12: a public key has 64 hex digits'],
  [['time=later'], '/overrides/time: "later" is not a time such as'],
  [['coin.coin-table:a={"balance": 1.0}'], 'a new row needs all fields, and has no guard'],
  [['time=2030-01-01T00:00:00Z', '--rewind', '2'], '--rewind has no effect with --set'],
])('newcut local --set refuses %j', async (sets, text) => {
  const [set, ...more] = sets
  const ended = await newcut('1', '--set', set, ...more)
  expect(ended.err).toContain(text)
  expect(ended.code).toEqual(exitCodeFor(ended))
  expect(ended.err).not.toContain('    at ')
})

it('newcut local --set says that another node has no overrides', async () => {
  const server = createServer(async (request, response) => {
    if (request.url === '/devnet/trace') return void response.writeHead(404).end()
    const answer = await fetch(url + request.url)
    response
      .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
      .end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { err } = await run(['local', '1', '--node', other, '--set', 'time=2030-01-01T00:00:00Z'])
  server.closeAllConnections()
  server.close()
  expect(err).toContain('this node has no overrides')
  expect(err).toContain('(only nodes of newcut devnet run code on another state)')
})

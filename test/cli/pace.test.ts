/** `newcut mine --pace`: blocks at a pace, at a node without proof of work. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { setupOf } from '../../src/commands/input/miner-setup.ts'
import { resolveLayers } from '../../src/faces/cli/config.ts'
import { mineOptions } from '../../src/faces/cli/options/mine.ts'
import { run, startHere, stopAll } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-pace-'))
afterAll(async () => {
  await stopAll()
  rmSync(folder, { recursive: true })
})

const KEY = 'ab'.repeat(32)
const forNode = ['--public-key', KEY, '--state', 'off', '--kernel', 'js']

async function node(...args: readonly string[]): Promise<string> {
  const devnet = startHere(['devnet', '--port', '0', '--no-pow', ...args])
  return (await devnet.sees(/ at (http:\/\/127\.0\.0\.1:\d+)/))[1]
}

it('newcut mine --pace constant:TIME makes blocks, and says at what pace', async () => {
  const url = await node('--graph', 'pair')
  const { code, out, err } = await run([
    ...['mine', '--node', url, '--pace', 'constant:20ms', '--blocks', '4', '--http', 'off'],
    ...forNode,
  ])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain('pace: a block on every chain each 20 ms\n')
  expect(out).toMatch(/summary {3}4 accepted/)
  expect(out).toContain(`paid: k:${KEY}`)
})

it('newcut mine --pace on-demand makes blocks of a network of a file, by the order that it prints', async () => {
  const file = join(folder, 'my-net.yaml')
  writeFileSync(file, 'network: 1\nname: my-net\ncode: 77\npublic: false\ngraphs: [{ from: 0, graph: singleton }]\n')
  const url = await node('--network-file', file)
  const args = [
    'mine',
    '--node',
    url,
    '--pace',
    'on-demand',
    '--network-file',
    file,
    '--http',
    '127.0.0.1:0',
    ...forNode,
  ]
  const miner = startHere(args)
  const [, body, path] = await miner.sees(/^make a block: curl -d '(\S+)' (http:\S+)$/m)
  const answer = await fetch(path, { method: 'POST', body })
  expect(await answer.json()).toMatchObject({ made: { 0: 1 }, heights: { 0: 1 } })
  await miner.sees(/accepted {2}chain 0/)
  await miner.stop()
  const unknown = await run(['mine', '--node', url, '--pace', 'on-demand', '--http', '127.0.0.1:0', ...forNode])
  expect(unknown.err).toContain('--pace: my-net is a network that newcut does not know')
})

it.each([
  ['an unknown pace', ['--pace', 'hourly'], '--pace hourly: expected on-demand, or constant:TIME such as constant:2s'],
  ['an invalid time', ['--pace', 'constant:0s'], 'expected on-demand, or constant:TIME such as constant:2s'],
  ['a pace of development nodes', ['--pace', 'on-arrival'], 'expected on-demand, or constant:TIME'],
  ['no address for orders', ['--pace', 'on-demand', '--http', 'off'], '--pace on-demand: --http off serves no POST'],
  ['a GPU', ['--pace', 'on-demand', '--gpu', 'all'], '--gpu has no effect: with --pace a CPU thread finds the nonces'],
  ['rigs', ['--pace', 'on-demand', '--stratum-listen', '127.0.0.1:0'], '--stratum-listen has no effect: with --pace'],
])('newcut mine --pace is refused with %s', async (_, args, message) => {
  const { code, err } = await run(['mine', '--node', 'http://127.0.0.1:1', ...args])
  expect(err).toContain(message)
  expect(code).not.toBe(0)
})

it.each([
  ['a pool', ['--pool', 'stratum+tcp://me@127.0.0.1:1'], 'with --pool the pools give the work'],
  ['the embedded network', [], 'without --node there is only the embedded network'],
])('newcut mine --pace is refused for %s', async (_, args, reason) => {
  const { err } = await run(['mine', '--pace', 'constant:2s', ...args])
  expect(err).toContain(`--pace has no effect: ${reason}`)
})

it.each([
  ['on-demand', true],
  ['constant:2s', false],
])('newcut mine --pace %s fails if the default address is taken: %s', (pace, isRequired) => {
  const flags = { node: ['http://127.0.0.1:1'], pace }
  const config = resolveLayers(mineOptions, { orders: {}, environment: {}, content: {}, file: null, flags })
  expect(setupOf(config, {}).http).toMatchObject({ port: 4148, isRequired })
})

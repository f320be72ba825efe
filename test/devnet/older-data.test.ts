/** Data directories and journals of version 0.1.0, from test/fixtures/0.1.0. They have no release and no votes. */
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { readRecords } from '../journal/records.ts'
import { failureOf } from '../node/fake-node.ts'
import { checkNode } from './checker.ts'
import { exec, local, makeBlocks, ok, poll, send } from './commands-common.ts'
import { jsonOf, PREFIX, start } from './common.ts'
import { temporaryDirectory } from './grow.ts'
import { mineBlock } from './miner.ts'
import { startDevnet } from './whole-node.ts'

const fixtures = fileURLToPath(new URL('../fixtures/0.1.0/', import.meta.url))

async function copyOf(name: string): Promise<string> {
  const copy = join(await temporaryDirectory(), name)
  await cp(join(fixtures, name), copy, { recursive: true })
  return copy
}

/** The one transfer in the fixture. */
const TRANSFER = '3INDA5Fi8on2Vhj1XI9m3t3QxkKka7v-KLtQE3fEeqA'
/** Hash of `coin` in the events of the fixture. */
const COIN_HASH = 'oOwyQEYaS8VBCwnHQ77Xc4j-5EKkieO9BQaYBwVayg4'

const kept = { graph: undefined, difficulty: undefined, blockDelayMs: undefined }

describe('a network of 0.1.0', () => {
  it('a network of 0.1.0 is complete, with all blocks and results, by the rules of release 2.32', async () => {
    const report = await checkDataDirectory(await copyOf('devnet'))
    expect(report).toMatchObject({ blocks: 44, orphans: 0, findings: [] })
  })

  it('a network of 0.1.0 continues unchanged: without votes, with every block and balance', async () => {
    const dataDir = await copyOf('devnet')
    const { devnet, peer } = await start({ ...kept, dataDir })
    expect(devnet.settings).toMatchObject({ release: '2.32', forkEpoch: 14_280, graph: 'pair' })
    const before = jsonOf(await peer.get(`${PREFIX}/cut`))
    for (let i = 0; i < 4; i++) await mineBlock(peer)
    expect(jsonOf(await peer.get(`${PREFIX}/cut`)).height).toBe(before.height + 4)
    const { headers, violations } = await checkNode({ url: devnet.url })
    expect(headers).toEqual(before.height + 6)
    expect(violations).toEqual([])
    for (const { featureFlags } of devnet.chains.cut.values()) expect(featureFlags).toBe(0n)
  })

  it('a network of 0.1.0 has its state after a loss, with the gas that its blocks name', async () => {
    const dataDir = await copyOf('devnet')
    await rm(join(dataDir, 'state'), { recursive: true })
    const { peer } = await start({ ...kept, dataDir })
    const results = await ok(poll(peer, [TRANSFER]))
    expect(results[TRANSFER]).toMatchObject({ gas: 149, result: { status: 'success', data: 'Write succeeded' } })
    const other = (await start({ ...kept, dataDir: await copyOf('devnet') })).peer
    const accounts = `["sender00" "sender01" "k:${'ab'.repeat(32)}"]`
    const [lost, whole] = await Promise.all(
      [peer, other].map((each) => ok(local(each, exec(`(map (coin.get-balance) ${accounts})`)))),
    )
    expect(whole.result).toMatchObject({
      status: 'success',
      data: [expect.anything(), 110_000_002.5, expect.anything()],
    })
    expect(lost.result).toEqual(whole.result)
  })

  it('a network of 0.1.0 has the module hashes of its first block in calls, preflight and new blocks', async () => {
    const { peer } = await start({ ...kept, dataDir: await copyOf('devnet') })
    // Code with a list needs a thread.
    const code = '(at 0 [(at "hash" (describe-module "coin"))])'
    const found = { status: 'success', data: COIN_HASH }
    expect((await ok(local(peer, exec(code)))).result).toMatchObject(found)
    for (let i = 0; i < 4; i++) await mineBlock(peer)
    const module = `(namespace "free") (module m G (use coin "${COIN_HASH}") (defcap G () true) (defun f () 1)) (m.f)`
    const command = exec(module, { gasLimit: 100_000 })
    const { preflightResult } = await ok(local(peer, command, '?preflight=true'))
    expect(preflightResult.result).toEqual({ status: 'success', data: { int: 1 } })
    expect(preflightResult.events.at(-1)).toMatchObject({ name: 'TRANSFER', moduleHash: COIN_HASH })
    await ok(send(peer, [command]))
    // An order waits for slow commands. Work for miners does not.
    await makeBlocks(peer, { 0: 1 })
    const mined = (await ok(poll(peer, [command.hash])))[command.hash]
    expect(mined).toMatchObject({ result: { status: 'success', data: { int: 1 } }, gas: preflightResult.gas })
    expect(mined.events.at(-1)).toMatchObject({ name: 'TRANSFER', moduleHash: COIN_HASH })
  })

  it('a network of 0.1.0 does not open under the rules of another release, and says so', async () => {
    const dataDir = await copyOf('devnet')
    expect(await failureOf(startDevnet({ port: 0, dataDir, nodeRelease: '3.2' }))).toMatchObject({
      message: expect.stringContaining('the rules of node release 2.32'),
    })
    // Nothing was written.
    expect(await checkDataDirectory(dataDir)).toMatchObject({ findings: [] })
  })
})

it('a journal of 0.1.0 is read completely', async () => {
  const { records, damaged } = await readRecords(await copyOf('journal'))
  expect(damaged).toBe(0)
  const states = [...records.values()].map(({ state, chain, height }) => [state, [0, 1].includes(chain), height > 15])
  expect(states).toEqual(Array(12).fill(['confirmed', true, true]))
})

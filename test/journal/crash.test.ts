/**
 * A miner that dies between finding a solution and the node's answer: the next start submits it, or reports its loss.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import { Journal } from '../../src/mining/journal/journal.ts'
import type { BlockRecord } from '../../src/mining/journal/record.ts'
import { runProcess, start, stopAll } from '../cli/run.ts'
import { until } from '../wait.ts'
import { readRecords } from './records.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  await stopAll()
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A node with a gate in front that holds back all submissions until it is opened. */
async function gatedNode() {
  const devnet = await startDevnet({ port: 0, graph: 'pair', difficulty: 2_000n })
  const gate = { isOpen: false }
  const server: Server = createServer((from, to) => {
    if (!gate.isOpen && from.url?.endsWith('/mining/solved')) return
    const { method, url, headers } = from
    const onward = request(new URL(url ?? '', devnet.url), { method, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(to)
    })
    onward.on('error', () => to.destroy())
    to.on('close', () => onward.destroy())
    from.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = mkdtempSync(join(tmpdir(), 'newcut-crash-'))
  cleanups.push(
    () => devnet.close(),
    () => server.closeAllConnections(),
    () => server.close(),
    () => rmSync(folder, { recursive: true }),
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const args = ['mine', '--node', url, '--state', folder, '--threads', '1', '--gpu', 'none', '--http', 'off']
  return { gate, args, folder }
}

async function recordsIn(folder: string): Promise<readonly BlockRecord[]> {
  return [...(await readRecords(folder)).records.values()]
}

async function foundIn(folder: string): Promise<BlockRecord> {
  let record: BlockRecord | undefined
  await until(async () => {
    ;[record] = await recordsIn(folder)
    return record !== undefined
  })
  return record as BlockRecord
}

it('the next start submits a solution that was found, but not submitted before kill -9', async () => {
  const { gate, args, folder } = await gatedNode()
  const first = start(args)
  const { hash } = await foundIn(folder)
  first.child.kill('SIGKILL')
  await first.ended
  expect((await recordsIn(folder)).map(({ state }) => state)).not.toContain('confirmed')
  gate.isOpen = true
  const { out, code } = await runProcess([...args, '--blocks', '3'])
  expect(code).toBe(0)
  expect(out).toMatch(/journal: .*, with [12] solutions? of earlier runs to settle/)
  const records = await recordsIn(folder)
  expect(records.find((record) => record.hash === hash)?.state).toBe('confirmed')
  // Solutions of the earlier run do not count for --blocks.
  expect(records.filter(({ state }) => state === 'confirmed').length).toBeGreaterThanOrEqual(4)
})

it('the next start submits a solution that the node had not answered when the miner was stopped', async () => {
  const { gate, args, folder } = await gatedNode()
  const first = start(args)
  const { hash } = await foundIn(folder)
  first.child.kill('SIGTERM')
  expect((await first.ended).out).toMatch(/lost {5}.*stopped: the miner stopped before the node answered/)
  gate.isOpen = true
  await runProcess([...args, '--blocks', '2'])
  expect((await recordsIn(folder)).find((record) => record.hash === hash)?.state).toBe('confirmed')
})

it('the next start submits a solution although the clock has jumped ten minutes ahead', async () => {
  const { gate, args, folder } = await gatedNode()
  const first = start(args)
  const { hash, work, foundAt, ...found } = await foundIn(folder)
  first.child.kill('SIGKILL')
  await first.ended
  // The same solution, with a time ten minutes earlier.
  const older = mkdtempSync(join(tmpdir(), 'newcut-crash-'))
  cleanups.push(() => rmSync(older, { recursive: true }))
  const at = new Date(Date.parse(foundAt) - 600_000).toISOString()
  const { network, account, issuer, chain, height, device, effort, difficulty } = found
  const fields = { network, account, issuer, chain, height, device, effort, difficulty }
  const silent = { onTrouble: () => undefined, onRecovered: () => undefined }
  Journal.open(older, silent).append({ at, hash, step: 'found', work, ...fields })
  gate.isOpen = true
  const { out } = await runProcess([...args.slice(0, 3), '--state', older, ...args.slice(5), '--blocks', '10'])
  expect(out).toContain('with 1 solution of earlier runs to settle')
  expect((await recordsIn(older)).find((record) => record.hash === hash)?.state).toBe('confirmed')
})

it('newcut blocks lists what the journal holds, as a table, JSON and CSV', async () => {
  const { gate, args, folder } = await gatedNode()
  gate.isOpen = true
  await runProcess([...args, '--blocks', '3'])
  const table = await runProcess(['blocks', '--state', folder])
  expect(table).toMatchObject({ code: 0, err: '' })
  expect(table.out).toMatch(/^found \(UTC\) +chain +height +state +reward +effort +device\n/)
  expect(table.out).toMatch(/\d confirmed; \d[\d.]* coins in \d blocks\n$/)
  expect(Math.max(...table.out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  const json = await runProcess(['blocks', '--state', folder, '--json', '--last', '2'])
  const objects = json.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(objects).toHaveLength(2)
  expect(objects[0]).toMatchObject({ network: 'development', state: 'confirmed', reward: expect.stringMatching(/^\d/) })
  const csv = await runProcess(['blocks', '--state', folder, '--csv'])
  expect(csv.out.split('\n')[0]).toBe(
    'foundAt,network,chain,height,hash,state,depth,reason,reward,fees,account,effort,difficulty,device,issuer',
  )
  expect(await runProcess(['blocks', '--state', join(folder, 'none')])).toMatchObject({
    code: 0,
    out: expect.stringContaining('no blocks in'),
  })
  expect(await runProcess(['blocks', '--json', '--csv'])).toMatchObject({
    code: 2,
    out: expect.stringContaining('--json has no effect: --csv decides what is printed'),
  })
})

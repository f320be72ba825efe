/**
 * Rigs behind a complete miner: when the chain of their work moves on, they get work of another one without a request
 * to the node.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { Rig, type RigJobSeen } from '../../bench/stratum-rig.ts'
import { decodeWork } from '../../src/core/header.ts'
import { startHere, stopAll } from '../cli/run.ts'
import { until } from '../wait.ts'
import { network } from './several-nodes.ts'

afterEach(stopAll)

/** A proxy to a node that can hold work requests. It forwards everything else. */
async function wayTo(port: number) {
  let isHeld = false
  let answered = 0
  /** Unanswered work requests. */
  const open = new Set<IncomingMessage>()
  const waiting: (() => void)[] = []
  const pass = (req: IncomingMessage, res: ServerResponse) => {
    const { method, url: path, headers } = req
    const there = request({ port, host: '127.0.0.1', method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 500, answer.headers)
      res.flushHeaders()
      answer.pipe(res)
    })
    there.on('error', () => res.destroy())
    res.on('close', () => there.destroy())
    req.pipe(there)
  }
  const server = createServer((req, res) => {
    const isWork = req.url?.includes('/mining/work') === true
    if (isWork) {
      open.add(req)
      res.on('finish', () => answered++)
      // Also when the miner gives up waiting.
      res.on('close', () => open.delete(req))
    }
    if (isWork && isHeld) waiting.push(() => open.has(req) && pass(req, res))
    else pass(req, res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get answered() {
      return answered
    },
    get isQuiet() {
      return open.size === 0
    },
    hold: () => {
      isHeld = true
    },
    pass: () => {
      isHeld = false
      for (const run of waiting.splice(0)) run()
    },
  }
}

const chainOf = ({ header }: RigJobSeen) => decodeWork(header).chainId

async function miningWith(difficulty: bigint) {
  const port = await network({ graph: 'petersen', difficulty, blockDelayMs: 30_000 })
  const way = await wayTo(port)
  const { sees } = startHere([
    ...['mine', '--node', way.url, '--http', 'off', '--threads', '0', '--gpu', 'none', '--state', 'off'],
    ...['--stratum-listen', '127.0.0.1:0'],
  ])
  const [, rigPort] = await sees(/rigs: stratum\+tcp:\/\/127\.0\.0\.1:(\d+)/)
  const rig = await Rig.login(Number(rigPort))
  onTestFinished(() => rig.close())
  const makeBlock = (chain: number) =>
    fetch(`http://127.0.0.1:${port}/devnet/make-blocks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ [chain]: 1 }),
    })
  await until(() => rig.jobs.length > 0)
  return { rig, way, makeBlock }
}

/** Resolves when the miner has work of two chains and no request is open. */
async function ready(way: { readonly answered: number; readonly isQuiet: boolean }, answers: number) {
  await until(() => way.answered >= answers && way.isQuiet)
}

it('rigs get work of another chain at New Cut, while no work request is answered', async () => {
  const { rig, way, makeBlock } = await miningWith(20_000n)
  let answers = 2
  for (let round = 0; round < 4; round++) {
    await ready(way, answers)
    answers = way.answered + 1
    way.hold()
    const job = rig.jobs.at(-1) as RigJobSeen
    const chain = chainOf(job)
    const made = await makeBlock(chain)
    expect(made.status).toBe(200)
    await until(() => chainOf(rig.jobs.at(-1) as RigJobSeen) !== chain)
    // The new job can become a block.
    expect(rig.jobs.at(-1)?.clean).toBe(true)
    // The old job is stale, since its chain has moved on.
    expect((await rig.submit(job.id, rig.nextShare(job, job.target))).error?.code).toBe(21)
    way.pass()
  }
})

it('rigs get work of another chain after a solution, while no work request is answered', async () => {
  const { rig, way } = await miningWith(2_000n)
  let answers = 2
  for (let round = 0; round < 4; round++) {
    await ready(way, answers)
    answers = way.answered + 1
    way.hold()
    const job = rig.jobs.at(-1) as RigJobSeen
    expect((await rig.submit(job.id, rig.nextShare(job, decodeWork(job.header).target))).result).toBe(true)
    await until(() => chainOf(rig.jobs.at(-1) as RigJobSeen) !== chainOf(job))
    way.pass()
  }
})

it('a job of another chain stays valid when the current chain moves on', async () => {
  const { rig, way, makeBlock } = await miningWith(20_000n)
  await ready(way, 2)
  const first = rig.jobs.at(-1) as RigJobSeen
  await makeBlock(chainOf(first))
  await until(() => chainOf(rig.jobs.at(-1) as RigJobSeen) !== chainOf(first))
  const second = rig.jobs.at(-1) as RigJobSeen
  await until(() => way.isQuiet)
  // A neighbour of the second chain has moved by one block; the job is still valid.
  expect((await rig.submit(second.id, rig.nextShare(second, second.target))).result).toBe(true)
  expect((await rig.submit(first.id, rig.nextShare(first, first.target))).error?.code).toBe(21)
})

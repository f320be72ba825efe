/**
 * Rigs of a complete miner: when the chain of their work moves on, they get work of another one without a request
 * to the node.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { decodeWork } from '../../src/ground/chain/header.ts'
import type { Response } from '../../src/mining/stratum/messages.ts'
import { startHere, stopAll } from '../cli/run.ts'
import { Rig, type RigJobSeen } from '../support/stratum-rig.ts'
import { staysSo, until } from '../wait.ts'
import { network } from './several-nodes.ts'

afterEach(stopAll)

/**
 * A proxy to a node that can hold work requests. It never answers requests for the cut: without the heads of the
 * chains, no chain seems better, so only news and solutions make the miner change chains.
 */
async function wayTo(port: number) {
  let isHeld = false
  let answered = 0
  /** Unanswered work requests, and streams that are not open yet. */
  const open = new Set<IncomingMessage>()
  const waiting: (() => void)[] = []
  /** Chains of the work that was answered after the last call of `hold`. */
  const given = new Set<number>()
  const pass = (req: IncomingMessage, res: ServerResponse) => {
    const { method, url: path, headers } = req
    const there = request({ port, host: '127.0.0.1', method, path, headers }, (answer) => {
      if (isStream(req)) open.delete(req)
      else if (open.has(req)) {
        answer.once('data', (bytes: Buffer) => {
          res.on('finish', () => {
            answered++
            if (answer.statusCode === 200) given.add(bytes.readUInt32LE())
          })
        })
      }
      res.writeHead(answer.statusCode ?? 500, answer.headers)
      res.flushHeaders()
      answer.pipe(res)
    })
    there.on('error', () => res.destroy())
    res.on('close', () => there.destroy())
    req.pipe(there)
  }
  const server = createServer((req, res) => {
    if (/\/cut(?:\?|$)/.test(req.url ?? '')) return
    const isWork = req.url?.includes('/mining/work') === true
    if (isWork || isStream(req)) {
      open.add(req)
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
    given: given as ReadonlySet<number>,
    get answered() {
      return answered
    },
    /** Whether no request is open, and the miner has taken all answers. It runs in this process. */
    isQuiet: () => staysSo(() => open.size === 0),
    hold: () => {
      isHeld = true
      given.clear()
    },
    pass: () => {
      isHeld = false
      for (const run of waiting.splice(0)) run()
    },
  }
}

const isStream = ({ url }: IncomingMessage) => url?.includes('/mining/updates') === true
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
  /** Waits for a condition, or fails with what is missing and what has happened. */
  const waitFor = (missing: string, condition: () => boolean | Promise<boolean>) => {
    const seen = () => rig.jobs.map((job) => `${job.id} of chain ${chainOf(job)}`).join(', ')
    const work = () => `${way.answered} work requests answered, last of chains ${[...way.given].join(', ')}`
    return until(condition, () => `${missing}; jobs: ${seen()}; ${work()}; rig closed: ${rig.hasEnded}`)
  }
  const newestJob = () => rig.jobs.at(-1) as RigJobSeen
  await waitFor('the rig gets no job', () => rig.jobs.length > 0)
  return {
    rig,
    way,
    newestJob,
    makeBlock: async (chain: number) => {
      const made = await fetch(`http://127.0.0.1:${port}/devnet/make-blocks`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ [chain]: 1 }),
      })
      expect(made.status, await made.text()).toBe(200)
    },
    /** Resolves when the node has a block of this job. */
    hasBlock: (job: RigJobSeen) =>
      waitFor(`the node has no block of job ${job.id}`, async () => {
        const cut = await fetch(`http://127.0.0.1:${port}/chainweb/0.0/development/cut`)
        const { hashes } = (await cut.json()) as { hashes: Record<string, { height: number }> }
        return hashes[chainOf(job)].height >= Number(decodeWork(job.header).height)
      }),
    /** Resolves when the miner has work of a second chain, and no request is open. */
    isReady: () =>
      waitFor('the miner has no work of a second chain', async () => {
        return (await way.isQuiet()) && [...way.given].some((chain) => chain !== chainOf(newestJob()))
      }),
    /** The first job of another chain than this one's. */
    jobAfter: async (job: RigJobSeen): Promise<RigJobSeen> => {
      const next = () => rig.jobs.slice(rig.jobs.indexOf(job)).find((other) => chainOf(other) !== chainOf(job))
      await waitFor(`no job of another chain after job ${job.id}`, () => next() !== undefined)
      return next() as RigJobSeen
    },
    /** The answer to a share of this job that meets the target. */
    submit: async (job: RigJobSeen, target = job.target): Promise<Response> => {
      let answer: Response | null = null
      void rig.submit(job.id, rig.nextShare(job, target)).then((response) => {
        answer = response
      })
      await waitFor(`no answer to the share of job ${job.id}`, () => answer !== null)
      return answer as unknown as Response
    },
  }
}

it('rigs get work of another chain at a new cut, while no work request is answered', async () => {
  const { way, newestJob, isReady, makeBlock, jobAfter, submit } = await miningWith(20_000n)
  for (let round = 0; round < 4; round++) {
    await isReady()
    way.hold()
    const { answered } = way
    const job = newestJob()
    await makeBlock(chainOf(job))
    const next = await jobAfter(job)
    expect(way.answered).toBe(answered)
    // The new job can become a block.
    expect(next.clean).toBe(true)
    // The old job is stale, since its chain has moved on.
    expect((await submit(job)).error?.code).toBe(21)
    way.pass()
  }
})

it('rigs get work of another chain after a solution, while no work request is answered', async () => {
  const { way, newestJob, isReady, hasBlock, jobAfter, submit } = await miningWith(2_000n)
  for (let round = 0; round < 4; round++) {
    await isReady()
    way.hold()
    const { answered } = way
    const job = newestJob()
    expect((await submit(job, decodeWork(job.header).target)).result).toBe(true)
    expect((await jobAfter(job)).clean).toBe(true)
    expect(way.answered).toBe(answered)
    // Otherwise the node may give the same work again.
    await hasBlock(job)
    way.pass()
  }
})

it('a job of another chain stays valid when the current chain moves on', async () => {
  const { newestJob, isReady, makeBlock, jobAfter, submit } = await miningWith(20_000n)
  await isReady()
  const first = newestJob()
  await makeBlock(chainOf(first))
  const second = await jobAfter(first)
  await isReady()
  // A neighbour of the second chain has moved by one block; the job is still valid.
  expect((await submit(second)).result).toBe(true)
  expect((await submit(first)).error?.code).toBe(21)
})

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { type Devnet, type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import type { Clock } from '../../src/ground/base/clock.ts'
import type { MinerAccount } from '../../src/ground/chain/payload.ts'
import type { LifeStep } from '../../src/ground/chain/solution.ts'
import { workFromBytes } from '../../src/ground/chain/work.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { miningNodeOf } from '../../src/mining/source/node/mining-node.ts'
import { NodeSource } from '../../src/mining/source/node/node-source.ts'
import type { Job, Source } from '../../src/mining/source/source.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { freePort } from '../ports.ts'
import { miss, solve } from '../solve.ts'
import { until } from '../wait.ts'
import { jobOf } from './job.ts'

const account: MinerAccount = { account: 'k:test', predicate: 'keys-all', publicKeys: ['ab'.repeat(32)] }
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function devnet(options: DevnetOptions = {}): Promise<Devnet> {
  const node = await startDevnet({ port: 0, difficulty: 20n, blockDelayMs: 1000, ...options })
  cleanups.push(() => node.close())
  return node
}

/** Options of a source over a running node. */
interface SourceOptions {
  readonly refreshMs?: number
  readonly confirmations?: number
  readonly chains?: number[]
  /**
   * Whether the source chooses chains by their chances. If not, it chooses at random, and only news changes the work.
   */
  readonly chooses?: boolean
  readonly clock?: Clock
}

async function sourceOf(url: string, { chooses = false, clock = systemClock, ...options }: SourceOptions = {}) {
  const client = await NodeClient.connect({ url })
  cleanups.push(() => client.close())
  const { view, ...blind } = miningNodeOf({ client, account, clock, stallMs: 0 })
  const node = chooses && view !== undefined ? { ...blind, view } : blind
  const source = new NodeSource({ node, clock, random: () => 0.5, ...options })
  const stop = new AbortController()
  const troubles: string[] = []
  const events = { onTrouble: (message: string) => troubles.push(message), onRecovered: () => undefined }
  const jobs = source.jobs(stop.signal, events)[Symbol.asyncIterator]()
  cleanups.push(() => stop.abort())
  const next = async (): Promise<Job | null> => {
    const { value, done } = await jobs.next()
    if (done) throw new Error('the source ended')
    return value
  }
  /** The next job, skipping moments without one. */
  const nextWork = async (): Promise<Job> => {
    for (;;) {
      const job = await next()
      if (job !== null) return job
    }
  }
  return { client, source, stop, troubles, next, nextWork }
}

/** Submits solved bytes. @returns the last step */
async function submit(source: Source, bytes: Uint8Array): Promise<LifeStep> {
  const [issuer] = source.description.split(' at ').slice(-1)
  const solution = { job: jobOf(workFromBytes(bytes), { issuer }), bytes }
  let last: LifeStep = await source.submit(solution)
  if (last.step !== 'acknowledged') return last
  for await (const step of source.follow(solution, new AbortController().signal)) last = step
  return last
}

const confirmed = { step: 'confirmed', depth: 1 }

/** Sends a command to the node. */
async function order(node: Devnet, path: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${node.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
}

/** Advances the clock of a source until the promise settles, but only while no request of its client is pending. */
function idleTime(client: NodeClient, clock: VirtualClock) {
  let underWay = 0
  const request = client.http.request.bind(client.http)
  client.http.request = (options) => {
    underWay++
    return request(options).finally(() => underWay--)
  }
  return async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false
    const end = promise.finally(() => {
      isOver = true
    })
    while (!isOver) {
      await until(() => underWay === 0)
      await clock.pass(10)
    }
    return end
  }
}

/** Mines a block on a chain for another account. */
async function mineElsewhere(node: Devnet, chain: number): Promise<void> {
  const other = await NodeClient.connect({ url: node.url })
  const { work } = await other.work({ ...account, account: 'k:other' }, chain)
  expect(work.fields.chainId).toBe(chain)
  await other.solved(solve(work.bytes))
  await other.close()
}

/** Delays the answers to requests for work while the gate is closed. Call it before the first work. */
function farAway({ client, source }: Pick<Awaited<ReturnType<typeof sourceOf>>, 'client' | 'source'>) {
  const ask = client.work.bind(client)
  // An aborted request ends without an answer.
  let [asked, ended, arrived] = [0, 0, 0]
  let gate = Promise.resolve()
  let open: () => void = () => undefined
  client.work = async (...args) => {
    asked++
    try {
      const answer = await ask(...args)
      await gate
      arrived++
      return answer
    } finally {
      ended++
    }
  }
  return {
    waiting: () => asked - ended,
    close: () => {
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    open: () => open(),
    /** Resolves when this much work has arrived, no request is pending, and the stream of the current chain is open. */
    settled: (count: number) => until(() => arrived >= count && ended === asked && source.connected),
  }
}

describe('work from a node', () => {
  it('a solution is followed by new work, and the node confirms it', async () => {
    const node = await devnet()
    const { source, nextWork } = await sourceOf(node.url)
    for (let i = 0; i < 5; i++) {
      const { work } = await nextWork()
      expect(await submit(source, solve(work.bytes))).toEqual(confirmed)
    }
    const heights = [...node.cut.values()].reduce((sum, { height }) => sum + Number(height), 0)
    expect(heights).toBe(5)
    expect(source.description).toContain('development (20 chains)')
    expect(source.workBytes).toBe(286)
  })

  it('a New Cut on its own chain is the only one that preempts work', async () => {
    const node = await devnet()
    const { source, nextWork } = await sourceOf(node.url)
    const first = await nextWork()
    const chain = first.work.fields.chainId
    await until(() => source.connected)
    const pending = nextWork()
    const elsewhere = node.network.graphHistory[0].graph.adjacents[chain][0]
    await mineElsewhere(node, elsewhere)
    // Without this wait, the first block could lead to work on the same parent.
    await until(() => source.chains().some((status) => status.chain === elsewhere && status.height === 1))
    const minedAtMs = systemClock.monotonicMs()
    await mineElsewhere(node, chain)
    const second = await pending
    expect(second.reason).toBe('newCut')
    expect(second.noticedAtMs).toBeGreaterThan(minedAtMs)
    expect(second.work.fields.parent).not.toEqual(first.work.fields.parent)
  })

  it('the miner switches to a chain that was just extended: nobody else is near its next block', async () => {
    // A block is due every 50 ms, so the latency of the node matters.
    const node = await devnet({ blockDelayMs: 1000, pow: false })
    const { client, source, nextWork } = await sourceOf(node.url, { chooses: true })
    const cut = client.cut.bind(client)
    client.cut = async (options) => {
      // Adds latency: a node on the same machine has none.
      await new Promise((resolve) => setTimeout(resolve, 20))
      return cut(options)
    }
    await nextWork()
    await until(() => source.chains().some(({ difficulty }) => difficulty !== null))
    const raised = node.network.graphHistory[0].graph.adjacents[0]
    for (const chain of [...raised, 0]) await mineElsewhere(node, chain)
    for (const chain of raised) expect(node.cut.get(chain)?.height).toBe(1n)
    for (;;) {
      const job = await nextWork()
      if (job.work.fields.chainId !== 0 || job.work.fields.height !== 2n) continue
      expect(['better', 'newCut']).toContain(job.reason)
      return
    }
  })

  it('the miner mines only the selected chains, and waits while they are blocked', async () => {
    const node = await devnet()
    const { source, next, nextWork } = await sourceOf(node.url, { chains: [3], chooses: true })
    const { work } = await nextWork()
    expect(work.fields.chainId).toBe(3)
    // The neighbours of its chain are behind from here.
    expect(await submit(source, solve(work.bytes))).toEqual(confirmed)
    expect(await next()).toBe(null)
    const pending = nextWork()
    for (const chain of node.network.graphHistory[0].graph.adjacents[3]) await mineElsewhere(node, chain)
    expect((await pending).work.fields).toMatchObject({ chainId: 3, height: 2n })
  })

  it('the work has a standby on another chain: a New Cut or a solution does not wait for a distant node', async () => {
    const node = await devnet()
    const { client, source, nextWork } = await sourceOf(node.url)
    const far = farAway({ client, source })
    const first = await nextWork()
    await far.settled(2)
    far.close()
    const verdict = submit(source, solve(first.work.bytes))
    const second = await nextWork()
    expect(second.reason).toBe('solved')
    expect(second.work.fields.chainId).not.toBe(first.work.fields.chainId)
    expect(await verdict).toEqual(confirmed)
    // The client may repeat a request whose answer takes long.
    await until(() => far.waiting() > 0)
    far.open()
    await far.settled(3)
    far.close()
    await mineElsewhere(node, second.work.fields.chainId)
    const third = await nextWork()
    expect(third.reason).toBe('newCut')
    far.open()
    expect(await submit(source, solve(third.work.bytes))).toEqual(confirmed)
  })

  it('solved work is not resumed when an answer from before its solution arrives after it', async () => {
    // Without a standby chain, every request is for the current chain.
    const node = await devnet({ graph: 'singleton' })
    const { client, source, nextWork } = await sourceOf(node.url, { refreshMs: 200 })
    const far = farAway({ client, source })
    const first = await nextWork()
    await far.settled(1)
    far.close()
    // The source checks its work. The node has answered that request before it receives the solution.
    await until(() => far.waiting() > 0)
    expect(await submit(source, solve(first.work.bytes))).toEqual(confirmed)
    far.open()
    expect((await nextWork()).work.fields.height).toBe(first.work.fields.height + 1n)
  })

  it('the source distinguishes solutions: stale, rejected for each reason, confirmed', async () => {
    const node = await devnet()
    // The source believes a refusal after 5 s of retries, and an unknown payload after 20 s.
    const clock = new VirtualClock()
    const { source, client, nextWork } = await sourceOf(node.url, { clock })
    const inTime = idleTime(client, clock)
    const submitted = (bytes: Uint8Array) => inTime(submit(source, bytes))
    const { work } = await inTime(nextWork())
    await mineElsewhere(node, work.fields.chainId)
    expect(await submitted(solve(work.bytes))).toEqual({ step: 'stale' })
    const { work: fresh } = await client.work(account)
    expect(await submitted(miss(fresh.bytes))).toMatchObject({ step: 'rejected', reason: 'invalid-pow' })
    // The refusal has used up the payload. The node makes it again on a request for the same work.
    expect(await submitted(solve(fresh.bytes))).toEqual(confirmed)
    // Requests for our account never make this payload again.
    const { work: foreign } = await client.work({ ...account, account: 'k:other' })
    await expect(client.solved(miss(foreign.bytes))).rejects.toMatchObject({ status: 400 })
    expect(await submitted(solve(foreign.bytes))).toMatchObject({ step: 'rejected', reason: 'no-payload' })
    const { work: again } = await client.work(account)
    expect(await submitted(solve(again.bytes))).toEqual(confirmed)
  })

  it('a solution is stale for the slower of two miners of one account on one chain', async () => {
    const node = await devnet({ graph: 'singleton' })
    const [fast, slow] = [await sourceOf(node.url), await sourceOf(node.url)]
    const [mine, theirs] = [await slow.nextWork(), await fast.nextWork()]
    expect(mine.work.fields.payloadHash).toEqual(theirs.work.fields.payloadHash)
    expect(await submit(fast.source, solve(theirs.work.bytes))).toEqual(confirmed)
    expect(await submit(slow.source, solve(mine.work.bytes, 1_000_000n))).toEqual({ step: 'stale' })
  })

  it('the source resubmits a solution, and keeps looking for it, while the node is too busy to answer', async () => {
    const node = await devnet()
    const { source, nextWork } = await sourceOf(node.url)
    const { work } = await nextWork()
    for (const [operation, status] of [
      ['solved', 429],
      ['cut', 408],
      ['header', 429],
    ]) {
      await order(node, '/devnet/faults', { operation, status, count: 1 })
    }
    expect(await submit(source, solve(work.bytes))).toEqual(confirmed)
  })

  it('the source refreshes work before the node forgets its payload', async () => {
    const node = await devnet({ workLifetimeMs: 300_000 })
    const { client, source, nextWork } = await sourceOf(node.url, { refreshMs: 100 })
    const { work } = await nextWork()
    let renewals = 0
    const ask = client.work.bind(client)
    client.work = async (...args) => {
      const answer = await ask(...args)
      if (args[1] === work.fields.chainId) renewals++
      return answer
    }
    // The node's clock decides about refreshes.
    for (const _ of Array(3)) {
      await order(node, '/devnet/clock', { advanceMs: 200_000 })
      // The source may have sent the first of these requests before the clock moved.
      const before = renewals
      await until(() => renewals > before + 1)
    }
    expect(await submit(source, solve(work.bytes))).toEqual(confirmed)
  })

  it('the source reports a time that the validator has surely reached', async () => {
    const node = await devnet()
    const { source, nextWork } = await sourceOf(node.url, { clock: new VirtualClock() })
    expect(source.validatorTime()).toBeNull()
    const { work } = await nextWork()
    const time = source.validatorTime() ?? 0n
    expect(time).toBeGreaterThan(work.fields.creationTime - 2000n)
    // The time of the node's clock, which does not follow a machine clock that is set back.
    const { clock } = (await (await fetch(`${node.url}/devnet/status`)).json()) as { clock: { nowMs: number } }
    const nowUs = BigInt(clock.nowMs) * 1000n
    expect(time).toBeLessThan(nowUs + 1000n)
  })

  it('the source survives update streams that end constantly', async () => {
    const node = await devnet({ updateStreamMs: 20 })
    const { client, source, nextWork } = await sourceOf(node.url)
    let opened = 0
    const open = client.http.stream.bind(client.http)
    client.http.stream = (request) => {
      opened++
      return open(request)
    }
    for (let i = 0; i < 10; i++) {
      const { work } = await nextWork()
      expect(await submit(source, solve(work.bytes))).toEqual(confirmed)
      const before = opened
      await until(() => opened > before)
    }
  })
})

describe('node in trouble', () => {
  it('an account that may not mine ends the source with an error that names it', async () => {
    const node = await devnet({ accounts: [{ ...account, account: 'k:somebody' }] })
    const { next } = await sourceOf(node.url)
    await expect(next()).rejects.toMatchObject({ code: 'NODE_REFUSED', hint: expect.stringContaining('k:test') })
  })

  it('an outage ends when the node is back, which then takes the solution of its earlier work', async () => {
    const port = await freePort()
    const node = await devnet({ port })
    const { source, next, troubles } = await sourceOf(node.url)
    const first = await next()
    await node.close()
    const verdict = submit(source, solve(first?.work.bytes ?? new Uint8Array()))
    expect(await next()).toBeNull()
    // Refused, or lost during a request.
    await until(() => /connection (refused|lost)/.test(troubles.join()))
    // The new node knows neither the chains nor the work, and makes the same block on request.
    await devnet({ port })
    let item = await next()
    while (item === null) item = await next()
    expect(item.work.fields.height).toBe(1n)
    expect(await verdict).toEqual(confirmed)
  })

  it('the source reports one clear error with a hint if nothing listens, or another server does', async () => {
    const node = await devnet()
    await node.close()
    await expect(NodeClient.connect({ url: node.url })).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringContaining('connection refused'),
      hint: expect.any(String),
    })
    for (const [status, body] of [
      [404, ''],
      [200, '<html>'],
      [200, '{"nodeVersion":1}'],
    ] as const) {
      const server: Server = createServer((_request, response) => response.writeHead(status).end(body))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      cleanups.push(() => server.close())
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      await expect(NodeClient.connect({ url })).rejects.toMatchObject({ code: 'NODE_NOT_RECOGNISED' })
    }
  })

  it('a node that calls itself ledger is as good', async () => {
    const node = await devnet({ product: 'ledger' })
    const { source, client, nextWork } = await sourceOf(node.url)
    expect(client.product).toBe('ledger')
    const { work } = await nextWork()
    expect(await submit(source, solve(work.bytes))).toEqual(confirmed)
  })
})

describe('accepted block', () => {
  /** Submits a solution, and collects all its steps. */
  const lived = async (node: Devnet) => {
    const { source, stop, nextWork } = await sourceOf(node.url, { confirmations: 3 })
    const job = await nextWork()
    const bytes = solve(job.work.bytes)
    expect(await source.submit({ job, bytes })).toEqual({ step: 'acknowledged' })
    const steps: LifeStep[] = []
    const end = (async () => {
      for await (const step of source.follow({ job, bytes }, stop.signal)) steps.push(step)
    })()
    await until(() => steps.length === 1)
    return { chain: job.work.fields.chainId, steps, end }
  }

  it('the source follows an accepted block to the requested depth', async () => {
    const node = await devnet({ graph: 'pair', pow: false })
    const { chain, steps, end } = await lived(node)
    await order(node, '/make-blocks', { [chain]: 2 })
    await end
    expect(steps).toEqual([confirmed, { step: 'confirmed', depth: 3 }])
  })

  it('the source reports an accepted block as an orphan when its chain continues without it', async () => {
    const node = await devnet({ graph: 'singleton', pow: false })
    const { chain, steps, end } = await lived(node)
    await order(node, '/devnet/fork', { chain, depth: 1 })
    await until(() => steps.length === 2)
    expect(steps).toEqual([confirmed, { step: 'orphaned', mayReturn: true }])
    await order(node, '/make-blocks', { [chain]: 3 })
    await end
    expect(steps.slice(2)).toEqual([{ step: 'orphaned' }])
  })
})

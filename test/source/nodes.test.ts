/** Several scripted nodes on virtual time: failover, and the verdicts of solutions. */
import { afterEach, describe, expect, it } from 'vitest'
import type { NodeClient } from '../../src/client/node/client.ts'
import { NodeRefusal } from '../../src/client/node/errors.ts'
import { UnreachableError } from '../../src/client/node/unreachable.ts'
import { NewcutError } from '../../src/ground/base/errors.ts'
import type { CutHeads } from '../../src/mining/source/node/mining-node.ts'
import type { NamedBlock } from '../../src/mining/source/nodes/continuity.ts'
import { NodeUpstream } from '../../src/mining/source/nodes/node-upstream.ts'
import { NodesSource } from '../../src/mining/source/nodes/nodes-source.ts'
import type { ReachedNode } from '../../src/mining/source/nodes/reached-node.ts'
import type { Job } from '../../src/mining/source/source.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { followed, solutionOf } from './job.ts'
import { ScriptedNode } from './scripted-node.ts'
import { hashOf, madeWork } from './simulated-node.ts'

const stops: AbortController[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort()
})

const NETWORK = { name: 'test (3 chains)', identity: 'test' }
const unreachable = () => new UnreachableError('refused', 'connection refused')

/** A node of a network that the test can take down, delay, or set back. */
class ScriptedMember {
  readonly url: string
  readonly node = new ScriptedNode(3)
  isDown = false
  /** Whether it accepts requests without answering. */
  hangs = false
  height = 10
  identity = 'test'
  /** If not 0, its chains have other blocks. */
  branch = 0
  latencyMs = 0
  isClosed = false
  /** Nodes that got blocks from it; c refuses them. */
  readonly given: string[] = []
  readonly #clock: VirtualClock

  constructor(url: string, clock: VirtualClock) {
    this.url = url
    this.#clock = clock
    Object.assign(this.node, { url })
  }

  readonly reached = {
    node: this.node,
    version: '2.32',
    heads: (signal: AbortSignal) =>
      this.#answer(signal, () => {
        const { height } = this
        const hash = hashOf(height + this.branch)
        const heads = new Map([0, 1, 2].map((chain) => [chain, { height, hash }]))
        return { heads, heights: new Map([0, 1, 2].map((chain) => [chain, height])), weight: BigInt(height) }
      }),
    knows: async ({ hash }: NamedBlock, signal: AbortSignal) => {
      if (this.isDown || this.hangs) return this.#answer(signal, () => false)
      return this.branch === 0 || hash === hashOf(this.height + this.branch)
    },
    network: (signal: AbortSignal) =>
      this.#answer(signal, () => ({ name: 'other (3 chains)', identity: this.identity })),
    client: null as unknown as NodeClient,
    giveTo: async ({ node: { url } }: ReachedNode) => {
      this.given.push(url)
      return url !== 'http://c'
    },
    close: async () => {
      this.isClosed = true
    },
  }

  readonly connect = (signal: AbortSignal) => this.#answer(signal, () => this.reached)

  /** Takes the node down: streams break, and requests are refused. */
  async fail(): Promise<void> {
    this.isDown = true
    while (this.node.asked.length > 0) this.node.fail()
    for (const { onBroken } of this.node.handlers.values()) onBroken(unreachable())
    await settle()
  }

  /** Answers the oldest request for work, opens the streams, and confirms the work to any checks. */
  async give(chain: number, parent: number): Promise<void> {
    const work = madeWork(chain, parent)
    expect(this.node.asked.length).toBeGreaterThan(0)
    this.node.answer(work)
    await settle()
    for (const { onOpen } of this.node.handlers.values()) onOpen()
    const checks = this.node.asked.filter((asked) => asked.chain === chain)
    for (const check of checks) {
      this.node.asked.splice(this.node.asked.indexOf(check), 1)
      check.resolve(work)
    }
    await settle()
  }

  #answer<T>(signal: AbortSignal, answer: () => T): Promise<T> {
    if (this.isDown) return Promise.reject(unreachable())
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      if (!this.hangs) this.#clock.after(this.latencyMs, () => resolve(answer()))
    })
  }
}

async function started(setUp: (members: readonly ScriptedMember[]) => void = () => undefined, count = 2) {
  const clock = new VirtualClock()
  const members = Array.from({ length: count }, (_, i) => new ScriptedMember(`http://${'abc'[i]}`, clock))
  setUp(members)
  const nodes = members.map(({ url, isDown, reached, connect }) => ({ url, reached: isDown ? null : reached, connect }))
  const source = new NodesSource({ nodes, network: NETWORK, clock, random: () => 0.5, failbackMs: 60_000 })
  const stop = new AbortController()
  stops.push(stop)
  const said: string[] = []
  const jobs: (Job | null)[] = []
  const events = {
    onTrouble: (message: string) => said.push(`trouble: ${message}`),
    onRecovered: (message: string) => said.push(`recovered: ${message}`),
  }
  const ended = (async () => {
    for await (const job of source.jobs(stop.signal, events)) jobs.push(job)
  })()
  await clock.pass(1)
  const issuer = () => jobs.at(-1)?.issuer
  const up = () => source.upstreams().map(({ up }) => up)
  const active = () => source.upstreams().findIndex(({ active }) => active)
  const [a, b, c] = members
  return { clock, a, b, c, source, stop, said, jobs, ended, issuer, up, active }
}

describe('work from several nodes', () => {
  it('the work comes from the first node, and from the second within moments when the first goes away', async () => {
    const { clock, a, b, issuer, jobs, said, active } = await started()
    await a.give(0, 5)
    expect(issuer()).toBe('http://a')
    expect(b.node.asked).toEqual([])
    await a.fail()
    await clock.pass(200)
    await b.give(1, 5)
    expect(jobs.at(-1)).toMatchObject({ issuer: 'http://b', reason: 'switched' })
    expect(active()).toBe(1)
    expect(said).toEqual([
      'trouble: http://a does not answer: connection refused',
      'recovered: work comes from http://b now',
    ])
  })

  it('the source does not leave a node for one broken connection', async () => {
    const { clock, a, b, up } = await started()
    await a.give(0, 5)
    for (const { onBroken } of a.node.handlers.values()) onBroken(unreachable())
    await clock.pass(5_000)
    expect(up()).toEqual([true, true])
    expect(b.node.asked).toEqual([])
  })

  it('the work comes from the second node when the first has not answered for 2 s', async () => {
    const { clock, a, b, issuer, said } = await started()
    await a.give(0, 5)
    a.hangs = true
    await clock.pass(2_900)
    expect(b.node.asked).toEqual([])
    await clock.pass(200)
    await b.give(1, 5)
    expect(issuer()).toBe('http://b')
    expect(said[0]).toBe('trouble: http://a does not answer: http://a: no answer within 2 s')
  })

  it('the source gives the old work until the new node has some', async () => {
    const { clock, a, b, jobs, active } = await started()
    await a.give(0, 5)
    a.height = 5
    await clock.pass(2_000)
    expect(b.node.asked).toHaveLength(1)
    expect(active()).toBe(0)
    for (const { onNewCut } of a.node.handlers.values()) onNewCut()
    await a.give(1, 6)
    expect(jobs.at(-1)).toMatchObject({ issuer: 'http://a', work: { fields: { chainId: 1 } } })
    await b.give(2, 9)
    expect(jobs.at(-1)).toMatchObject({ issuer: 'http://b' })
    expect(a.node.asked, 'nothing more is asked of the node that was left').toEqual([])
  })

  it('the work comes from the first node again when that has been fit for the failback time, and not before', async () => {
    const { clock, a, b, issuer } = await started()
    await a.give(0, 5)
    await a.fail()
    await clock.pass(200)
    await b.give(1, 5)
    a.isDown = false
    await clock.pass(59_500)
    expect(a.node.asked).toEqual([])
    await clock.pass(2_500)
    expect(a.node.asked).toHaveLength(1)
    await a.give(0, 7)
    expect(issuer()).toBe('http://a')
  })

  it('the failback time restarts when the first node goes away once more', async () => {
    const { clock, a, b } = await started()
    await a.give(0, 5)
    await a.fail()
    await clock.pass(200)
    await b.give(1, 5)
    a.isDown = false
    await clock.pass(40_000)
    a.isDown = true
    await clock.pass(2_000)
    a.isDown = false
    await clock.pass(50_000)
    expect(a.node.asked).toEqual([])
  })

  it('the work comes from a node that lags by at most 2 blocks, not from one that lags by more', async () => {
    const { clock, a, b, c, issuer, said, source } = await started(undefined, 3)
    await a.give(0, 5)
    c.height = 12
    await clock.pass(5_000)
    expect(source.upstreams().map(({ lag }) => lag)).toEqual([2, 2, 0])
    expect(b.node.asked.length + c.node.asked.length).toBe(0)
    c.height = 13
    await clock.pass(2_500)
    expect(said.slice(0, 2)).toEqual([
      'trouble: http://a is 3.0 blocks behind the others',
      'trouble: http://b is 3.0 blocks behind the others',
    ])
    await c.give(0, 12)
    expect(issuer()).toBe('http://c')
  })

  it("a node that has the others' blocks a second later does not count as lagging, however fast the chains are", async () => {
    const { clock, a, b, source, said } = await started()
    await a.give(0, 5)
    // 40 blocks a second on each chain, and a is 400 ms behind.
    for (let i = 0; i < 100; i++) {
      b.height += 4
      a.height = b.height - 16
      await clock.pass(100)
    }
    expect(source.upstreams()[0].lag).toBe(0)
    expect(said).toEqual([])
  })

  it('the work comes from the second node when the first answers, but gives no work for 2 s', async () => {
    const { clock, a, b, issuer, said, jobs } = await started()
    await a.give(0, 5)
    for (const { onNewCut } of a.node.handlers.values()) onNewCut()
    await settle()
    expect(jobs.at(-1)).toBeNull()
    await clock.pass(3_100)
    await b.give(0, 6)
    expect(issuer()).toBe('http://b')
    expect(said[0]).toBe('trouble: http://a gives no work')
    await clock.pass(50_000)
    expect(issuer()).toBe('http://b')
  })

  it('the work comes from the second node when requests for work have failed for 2 s, despite earlier work', async () => {
    const { clock, a, b, issuer, said } = await started()
    await a.give(0, 5)
    for (let i = 0; i < 40; i++) {
      // A reopened stream makes the source check its work.
      for (const { onOpen } of a.node.handlers.values()) onOpen()
      while (a.node.asked.length > 0) a.node.fail()
      await clock.pass(100)
    }
    await b.give(0, 11)
    expect(issuer()).toBe('http://b')
    expect(said[0]).toMatch(/^trouble: http:\/\/a gives no work/)
  })

  it('the work still comes from the first node when it answers with the same work while no other node gives any', async () => {
    const { clock, a, b, issuer, jobs, said, source, up } = await started()
    await a.give(0, 5)
    await b.fail()
    await clock.pass(1_100)
    said.splice(0)
    while (said.length === 0) {
      // A reopened stream makes the source check its work.
      for (const { onOpen } of a.node.handlers.values()) onOpen()
      while (a.node.asked.length > 0) a.node.fail()
      await clock.pass(100)
    }
    const given = jobs.length
    for (let i = 0; i < 20; i++) {
      for (const { chain } of [...a.node.asked]) a.node.answer(madeWork(chain ?? 1, 5))
      await clock.pass(100)
    }
    expect(said).toEqual([
      expect.stringMatching(/^trouble: http:\/\/a gives no work/),
      expect.stringMatching(/^recovered: http:\/\/a is fit again, after /),
    ])
    expect(source.upstreams()[0].problem).toBeNull()
    // The source does not switch to b, although b is back before a would have been forgiven.
    b.isDown = false
    await clock.pass(5_000)
    expect(up()).toEqual([true, true])
    expect(issuer()).toBe('http://a')
    expect(jobs.length).toEqual(given)
    expect(b.node.asked).toEqual([])
  })

  it('the work comes from the second node when the first reopens its streams and does not confirm its work for 2 s', async () => {
    const { clock, a, b, issuer, said } = await started()
    await a.give(0, 5)
    await clock.pass(10_000)
    for (const { onOpen } of a.node.handlers.values()) onOpen()
    await clock.pass(3_100)
    await b.give(0, 11)
    expect(issuer()).toBe('http://b')
    expect(said[0]).toMatch(/^trouble: http:\/\/a gives no work/)
  })

  it('the work is not requested from the second node while a routine request to the first waits', async () => {
    const { clock, a, b, issuer } = await started()
    await a.give(0, 5)
    // The source refreshes its work every two minutes.
    await clock.pass(124_000)
    expect(a.node.asked.length).toBeGreaterThan(0)
    expect(issuer()).toBe('http://a')
    expect(b.node.asked).toEqual([])
  })

  it('the work comes from a third node when the first is gone and the second gives no work for half a second', async () => {
    const { clock, a, b, c, issuer, said } = await started(undefined, 3)
    await a.give(0, 5)
    await a.fail()
    await clock.pass(200)
    expect(b.node.asked.length).toBe(1)
    expect(c.node.asked.length).toBe(0)
    await clock.pass(500)
    await c.give(1, 6)
    expect(issuer()).toBe('http://c')
    expect(said.at(-1)).toBe('recovered: work comes from http://c now')
    await clock.pass(1_000)
    expect(b.node.asked.length, 'the second is asked on').toBeGreaterThan(0)
    await b.give(1, 6)
    expect(issuer()).toBe('http://b')
    expect(c.node.asked, 'nothing more is asked of the third').toEqual([])
  })

  it('the work is not requested any more from a second node that gives none for 2 s while a third one does', async () => {
    const { clock, a, b, c, issuer, said } = await started(undefined, 3)
    await a.give(0, 5)
    await clock.pass(61_000)
    await a.fail()
    await clock.pass(700)
    await c.give(1, 6)
    await clock.pass(3_000)
    expect(b.node.asked).toEqual([])
    expect(issuer()).toBe('http://c')
    expect(said.slice(-2)).toEqual(['recovered: work comes from http://c now', 'trouble: http://b gives no work'])
  })

  it('the work comes from the first node as soon as it has some at the start, even if a second one was faster', async () => {
    const { clock, a, b, issuer } = await started()
    await clock.pass(600)
    await b.give(1, 5)
    expect(issuer()).toBe('http://b')
    await a.give(0, 5)
    expect(issuer()).toBe('http://a')
  })

  it('the work is not requested from a third node while the work of the first is useful', async () => {
    const { clock, a, b, c } = await started(undefined, 3)
    await a.give(0, 5)
    a.height = 5
    await clock.pass(2_900)
    expect(b.node.asked.length).toBeGreaterThan(0)
    expect(c.node.asked).toEqual([])
  })

  it('the work comes from no lagging node while the first gives none, and from it once it has caught up', async () => {
    const { clock, a, b, issuer, jobs, said } = await started()
    await a.give(0, 5)
    a.height = 13
    await clock.pass(2_000)
    for (const { onNewCut } of a.node.handlers.values()) onNewCut()
    await settle()
    await clock.pass(20_000)
    expect(said).toEqual(['trouble: http://b is 3.0 blocks behind the others', 'trouble: http://a gives no work'])
    expect(b.node.asked).toEqual([])
    expect(jobs.at(-1)).toBeNull()
    b.height = 12
    await clock.pass(1_100)
    await b.give(0, 6)
    expect(issuer()).toBe('http://b')
  })

  it('the work comes from a lagging node once no other knows more', async () => {
    const { clock, a, b, issuer } = await started()
    await a.give(0, 5)
    a.height = 13
    await clock.pass(2_000)
    await a.fail()
    await clock.pass(1_100)
    await b.give(0, 6)
    expect(issuer()).toBe('http://b')
  })

  it('the work comes from the second node when no news of the first arrives for 10 s', async () => {
    const { clock, a, b, issuer, said } = await started()
    a.node.answer(madeWork(0, 5))
    await settle()
    await clock.pass(12_000)
    await b.give(0, 6)
    expect(issuer()).toBe('http://b')
    expect(said[0]).toBe('trouble: http://a sends no news of its chains')
  })

  it('the work stops when no node has answered for 10 s, and resumes within 2 s of the return of the first', async () => {
    const { clock, a, b, issuer, jobs, up, active } = await started()
    await a.give(0, 5)
    await Promise.all([a.fail(), b.fail()])
    await clock.pass(9_000)
    expect(issuer(), 'a solution may still be submitted').toBe('http://a')
    await clock.pass(3_000)
    expect(jobs.at(-1)).toBeNull()
    expect(up()).toEqual([false, false])
    expect(active()).toBe(-1)
    await clock.pass(300_000)
    b.isDown = false
    await clock.pass(1_100)
    await b.give(2, 8)
    expect(issuer()).toBe('http://b')
  })

  it('the source asks the only remaining node as soon as it is back, without waiting for the retry pause', async () => {
    const { clock, a, b, jobs } = await started()
    b.isDown = true
    await a.give(0, 5)
    await a.fail()
    await clock.pass(120_000)
    a.isDown = false
    a.node.asked.splice(0)
    await clock.pass(1_100)
    await a.give(0, 9)
    expect(jobs.at(-1)).toMatchObject({ issuer: 'http://a', reason: 'reconnected' })
  })

  it('the source adds a node that answers only later, and leaves out one that starts with another network', async () => {
    const { clock, a, b, c, said, source, issuer } = await started(([first, , third]) => {
      first.isDown = true
      third.isDown = true
      third.identity = 'other'
    }, 3)
    await b.give(0, 5)
    a.isDown = false
    c.isDown = false
    await clock.pass(62_000)
    await a.give(0, 6)
    expect(issuer()).toBe('http://a')
    expect(said).toContain('trouble: http://c is of another network: other (3 chains), not test (3 chains)')
    expect(source.upstreams()[2]).toMatchObject({ up: false, problem: expect.stringContaining('another network') })
    await Promise.all([a.fail(), b.fail()])
    await clock.pass(60_000)
    expect(c.node.asked).toEqual([])
  })

  it('a node with other chains than before is left at once, and returns with its own', async () => {
    const { clock, a, b, issuer, jobs, said, active } = await started()
    await a.give(0, 10)
    a.branch = 100
    for (const { onNewCut } of a.node.handlers.values()) onNewCut()
    await settle()
    await a.give(0, 110)
    await clock.pass(1)
    expect(jobs.at(-1), 'its work is not searched').toBeNull()
    const told = `trouble: http://a has other chains than before: it does not know block ${hashOf(10)} of chain `
    expect(said).toEqual([expect.stringContaining(told)])
    await b.give(0, 10)
    expect(issuer()).toBe('http://b')
    a.branch = 0
    a.height = 11
    b.height = 11
    await clock.pass(62_000)
    await a.give(0, 11)
    expect(active()).toBe(0)
  })

  it('the work is not taken from a node that suddenly belongs to another network', async () => {
    const { clock, a, b, issuer, jobs, said, up } = await started()
    await a.give(0, 10)
    a.branch = 100
    a.identity = 'other'
    for (const { onNewCut } of a.node.handlers.values()) onNewCut()
    await settle()
    await a.give(0, 110)
    await clock.pass(1)
    expect(jobs.at(-1), 'its work is not searched').toBeNull()
    expect(said).toEqual(['trouble: http://a is of another network: other (3 chains), not test (3 chains)'])
    expect(up()).toEqual([false, true])
    await b.give(0, 10)
    expect(issuer()).toBe('http://b')
  })

  it('the work comes from the second node once the cut of the first shows other chains than before', async () => {
    const { clock, a, b, issuer } = await started()
    await a.give(0, 10)
    a.branch = 100
    await clock.pass(1_100)
    await b.give(0, 10)
    expect(issuer()).toBe('http://b')
  })

  it('the work comes from the second node when the first lacks a block that was reported between two checks', async () => {
    const { clock, a, b, issuer, said } = await started((members) => {
      for (const member of members) member.height = 0
    })
    await a.give(0, 0)
    const before = a.node.cut
    a.node.cut = async () => new Map([[2, { height: 1, hash: hashOf(1) }]])
    await clock.pass(800)
    // The first blocks prove nothing: networks that started alike share them.
    a.node.cut = before
    a.branch = 100
    await clock.pass(400)
    const told = `trouble: http://a has other chains than before: it does not know block ${hashOf(1)} of chain 2`
    expect(said).toEqual([told])
    await b.give(0, 0)
    expect(issuer()).toBe('http://b')
  })

  it('the work comes from the second node as soon as the first reports other chains than before', async () => {
    const { clock, a, b, issuer, said } = await started()
    await a.give(0, 10)
    let tell: (cut: CutHeads) => void = () => undefined
    a.node.cut = () => new Promise((resolve) => (tell = resolve))
    // A look at the first node takes a second, so this cut arrives before it.
    a.latencyMs = 1_000
    await clock.pass(1_100)
    a.latencyMs = 0
    a.branch = 100
    tell(new Map([[0, { height: 11, hash: hashOf(111) }]]))
    await clock.pass(0)
    expect(said).toEqual([expect.stringContaining('trouble: http://a has other chains than before')])
    expect(b.node.asked).toHaveLength(1)
    await b.give(0, 10)
    expect(issuer()).toBe('http://b')
  })

  it('the work comes from a node with other chains than before when no other node can give any', async () => {
    const { clock, a, b, issuer, jobs } = await started()
    await a.give(0, 10)
    await b.fail()
    await clock.pass(1_200)
    a.branch = 100
    for (const { onNewCut } of a.node.handlers.values()) onNewCut()
    await settle()
    await a.give(0, 110)
    await clock.pass(1)
    expect(jobs.at(-1)).toMatchObject({ issuer: 'http://a', work: { fields: { height: 111n } } })
    expect(issuer()).toBe('http://a')
  })

  it('the work comes again from a node with other chains than before once the others have them too', async () => {
    const { clock, a, b, source } = await started()
    await a.give(0, 10)
    a.branch = 100
    await clock.pass(1_100)
    await b.give(0, 10)
    expect(source.upstreams()[0].problem).toContain('has other chains than before')
    // As after a reorganisation: b knows the old blocks, a does not.
    a.height = 115
    a.branch = 1
    b.height = 116
    await clock.pass(1_100)
    expect(source.upstreams()[0].problem).toBeNull()
  })

  it('the work comes from a node that does not say whether it knows its blocks', async () => {
    const { clock, a, b, issuer, jobs, said } = await started()
    await a.give(0, 10)
    a.reached.knows = () => Promise.reject(unreachable())
    a.branch = 100
    for (const { onNewCut } of a.node.handlers.values()) onNewCut()
    await settle()
    // The node answers all requests for work.
    for (let i = 0; i < 5 && a.node.asked.length > 0; i++) await a.give(0, 110)
    expect(jobs.at(-1)).not.toBeNull()
    await clock.pass(5_000)
    expect(issuer()).toBe('http://a')
    expect(b.node.asked).toEqual([])
    expect(said).toEqual([])
  })

  it('the work comes from the second node when the first refuses this miner, and ends when all do', async () => {
    const { clock, a, b, ended, issuer, said } = await started()
    const refusal = new NewcutError('NODE_REFUSED', 'unauthorized miner')
    a.node.refusal = refusal
    a.node.fail()
    await clock.pass(1)
    await b.give(0, 5)
    expect(issuer()).toBe('http://b')
    expect(said[0]).toBe('trouble: http://a refuses this miner: unauthorized miner')
    b.node.refusal = refusal
    await b.fail()
    await clock.pass(1_000)
    b.isDown = false
    await clock.pass(1_100)
    while (b.node.asked.length > 0) b.node.fail()
    await expect(ended).rejects.toBe(refusal)
  })

  it('the source numbers jobs so that no two are alike, whichever node gives them', async () => {
    const { clock, a, b, jobs } = await started()
    await a.give(0, 5)
    await a.fail()
    await clock.pass(200)
    await b.give(0, 5)
    a.isDown = false
    await clock.pass(62_000)
    await a.give(0, 5)
    const ids = jobs.flatMap((job) => job?.id ?? [])
    expect(ids.length).toBeGreaterThanOrEqual(3)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('the source reports the state of each node', async () => {
    const { clock, a, source } = await started(([first, second]) => {
      first.latencyMs = 30
      second.isDown = true
    })
    await a.give(0, 5)
    await clock.pass(1_500)
    expect(source.upstreams()).toEqual([
      { url: 'http://a', up: true, active: true, lag: 0, latencyMs: 30, height: 30, version: '2.32', problem: null },
      {
        url: 'http://b',
        up: false,
        active: false,
        lag: null,
        latencyMs: null,
        height: null,
        version: null,
        problem: 'does not answer: connection refused',
      },
    ])
  })

  it('the source closes all connections at its end', async () => {
    const { a, b, source, clock } = await started()
    await source.close()
    expect(a.isClosed).toBe(true)
    expect(b.isClosed).toBe(true)
    await clock.pass(10_000)
    expect(clock.pending).toBe(0)
  })
})

describe('solution of work from several nodes', () => {
  it('a solution of an earlier run is found at another node while its own does not answer', async () => {
    const { clock, b, source, jobs } = await started(([first]) => {
      first.isDown = true
    })
    await clock.pass(1_000)
    await b.give(0, 5)
    const { job, bytes } = solutionOf(jobs.at(-1))
    b.node.place = async () => ({ kind: 'awaited' })
    const receipt = source.submit({ job: { ...job, issuer: 'http://a' }, bytes })
    await clock.pass(10_000)
    b.node.place = async () => ({ kind: 'on-chain', depth: 2 })
    await clock.pass(1_000)
    expect(await receipt).toEqual({ step: 'acknowledged' })
    expect(b.node.submitted, 'only its own node has its payload').toEqual([])
    const steps = source.follow({ job: { ...job, issuer: 'http://a' }, bytes }, new AbortController().signal)
    const first = steps.next()
    await clock.pass(1_000)
    expect((await first).value).toEqual({ step: 'confirmed', depth: 2 })
  })

  it('a solution goes to the node that issued its work, even if another gives work by then', async () => {
    const { clock, a, b, source, jobs } = await started()
    await a.give(0, 5)
    const solution = solutionOf(jobs[0])
    a.height = 5
    await clock.pass(2_000)
    await b.give(0, 9)
    expect(await source.submit(solution)).toEqual({ step: 'acknowledged' })
    expect(a.node.submitted).toEqual([solution.bytes])
    expect(b.node.submitted).toEqual([])
  })

  it("a solution does not compete with another node's work on the same parent until that node had time to get the block", async () => {
    const { clock, a, b, source, jobs, issuer } = await started()
    await a.give(0, 5)
    a.node.onSubmit = () => new Promise(() => undefined)
    await clock.pass(700)
    void source.submit(solutionOf(jobs[0]))
    await a.fail()
    await clock.pass(900)
    // The other node lacks the block, so its work on that chain is the solved one.
    await b.give(0, 5)
    expect(jobs.filter((job) => job?.issuer === 'http://b')).toEqual([])
    await clock.pass(200)
    await b.give(1, 5)
    expect(issuer()).toBe('http://b')
    expect(jobs.at(-1)?.work.fields.chainId).toBe(1)
  })

  it("a solution does not block another node's work on its parent once its own node has refused it", async () => {
    const { clock, a, b, source, jobs, issuer } = await started()
    await a.give(0, 5)
    a.node.place = async () => ({ kind: 'awaited' })
    a.node.onSubmit = async () => {
      throw new NodeRefusal({ url: 'http://a', status: 404, excerpt: 'No associated Payload', isFromNode: true })
    }
    await clock.pass(700)
    void source.submit(solutionOf(jobs[0]))
    await clock.pass(100)
    await a.fail()
    await clock.pass(800)
    await b.give(0, 5)
    expect(issuer()).toBe('http://b')
    expect(jobs.at(-1)?.work.fields.chainId).toBe(0)
  })

  it("a solution does not block another node's work on its parent if its own node is silent and nobody gets the block", async () => {
    const { clock, a, b, source, jobs, issuer } = await started()
    await a.give(0, 5)
    a.node.onSubmit = () => new Promise(() => undefined)
    void source.submit(solutionOf(jobs[0]))
    await a.fail()
    await clock.pass(1_100)
    await b.give(0, 5)
    expect(issuer()).toBe('http://b')
    expect(jobs.at(-1)?.work.fields.chainId).toBe(0)
  })

  it('a solution does not block its parent at all if its node was silent before it was found', async () => {
    const { clock, a, b, source, jobs, issuer } = await started()
    await a.give(0, 5)
    a.node.onSubmit = () => new Promise(() => undefined)
    await clock.pass(900)
    a.hangs = true
    // The source asks the node after one second, and considers it down after three.
    await clock.pass(1_600)
    void source.submit(solutionOf(jobs[0]))
    await clock.pass(600)
    await b.give(0, 5)
    expect(issuer()).toBe('http://b')
    expect(jobs.at(-1)?.work.fields.chainId).toBe(0)
  })

  it('a solution is submitted and followed after a switch', async () => {
    const { clock, a, b, source, jobs } = await started()
    await a.give(0, 5)
    let release: () => void = () => undefined
    a.node.onSubmit = () => new Promise((resolve) => (release = resolve))
    const solution = solutionOf(jobs[0])
    const receipt = source.submit(solution)
    a.height = 5
    await clock.pass(2_000)
    await b.give(0, 9)
    b.node.onSubmit = async () => Promise.reject(unreachable())
    await clock.pass(500)
    release()
    expect(await receipt).toEqual({ step: 'acknowledged' })
    a.node.place = async () => ({ kind: 'awaited' })
    const fate = followed(source.follow(solution, new AbortController().signal))
    await clock.pass(1_000)
    a.node.place = async () => ({ kind: 'on-chain', depth: 1 })
    await clock.pass(3_000)
    expect(await fate).toEqual([{ step: 'confirmed', depth: 1 }])
  })

  it('a solution goes to the other nodes when its node does not answer, and is followed there', async () => {
    const { clock, a, b, source, jobs } = await started()
    await a.give(0, 5)
    a.node.onSubmit = async () => Promise.reject(unreachable())
    a.node.place = async () => Promise.reject(unreachable())
    const solution = solutionOf(jobs[0])
    expect(await source.submit(solution)).toEqual({ step: 'acknowledged' })
    expect(b.node.submitted).toEqual([solution.bytes])
    const fate = followed(source.follow(solution, new AbortController().signal))
    await clock.pass(1_000)
    expect(await fate).toEqual([{ step: 'confirmed', depth: 1 }])
  })

  it('a solution goes to the other nodes when its node has not answered for a second', async () => {
    const { clock, a, b, source, jobs } = await started()
    await a.give(0, 5)
    a.node.onSubmit = () => new Promise(() => undefined)
    const receipt = source.submit(solutionOf(jobs[0]))
    await clock.pass(900)
    expect(b.node.submitted).toEqual([])
    await clock.pass(200)
    expect(b.node.submitted).toHaveLength(1)
    expect(await receipt).toEqual({ step: 'acknowledged' })
  })

  it('a solution gets the verdict of its node, whatever others would say', async () => {
    const { clock, a, b, source, jobs } = await started()
    await a.give(0, 5)
    a.node.place = async () => ({ kind: 'awaited' })
    const answer = { url: 'http://a', status: 400, excerpt: 'Invalid POW hash', isFromNode: true }
    a.node.onSubmit = async () => Promise.reject(new NodeRefusal(answer))
    const receipt = source.submit(solutionOf(jobs[0]))
    await clock.pass(10_000)
    expect(await receipt).toMatchObject({ step: 'rejected', reason: 'invalid-pow' })
    expect(b.node.submitted).toEqual([])
  })

  it.each([
    ['does not have the block yet', 'passed'],
    ['is on another branch', 'orphaned'],
  ] as const)('a solution is accepted although its node fails to confirm it once, and another %s', async (_, kind) => {
    const { clock, a, b, source, jobs } = await started()
    await a.give(0, 5)
    const solution = solutionOf(jobs[0])
    expect(await source.submit(solution)).toEqual({ step: 'acknowledged' })
    b.node.place = async () => ({ kind, depth: 1 })
    a.node.place = async () => {
      a.node.place = async () => ({ kind: 'on-chain', depth: 1 })
      throw unreachable()
    }
    const fate = followed(source.follow(solution, new AbortController().signal))
    await clock.pass(1_000)
    expect(await fate).toEqual([{ step: 'confirmed', depth: 1 }])
  })

  it('a solution is an orphan when its node does not know it, and another that does says so', async () => {
    const { clock, a, b, source, jobs } = await started()
    await a.give(0, 5)
    const solution = solutionOf(jobs[0])
    expect(await source.submit(solution)).toEqual({ step: 'acknowledged' })
    a.node.place = async () => ({ kind: 'passed', depth: 1 })
    b.node.place = async () => ({ kind: 'orphaned', depth: 1 })
    const fate = followed(source.follow(solution, new AbortController().signal))
    await clock.pass(20_000)
    expect((await fate)[0]).toMatchObject({ step: 'orphaned' })
  })

  it('a solution is lost only when no node takes it', async () => {
    const { clock, a, b, source, jobs } = await started()
    await a.give(0, 5)
    const solution = solutionOf(jobs[0])
    for (const { node } of [a, b]) {
      node.onSubmit = async () => Promise.reject(unreachable())
      node.place = async () => ({ kind: 'awaited' })
    }
    const receipt = source.submit(solution)
    await clock.pass(310_000)
    expect(await receipt).toMatchObject({ step: 'lost', reason: 'unreachable' })
    expect(a.node.submitted.length).toBeGreaterThan(100)
    expect(b.node.submitted).toHaveLength(a.node.submitted.length)
  })

  it('a solution is passed to the others once its node has the block, and not again to one that refuses them', async () => {
    const { clock, a, source, jobs } = await started(undefined, 3)
    const { signal } = new AbortController()
    await a.give(0, 5)
    const solution = solutionOf(jobs[0])
    a.node.place = async () => ({ kind: 'awaited' })
    const first = followed(source.follow(solution, signal))
    await clock.pass(100)
    expect(a.given).toEqual([])
    a.node.place = async () => ({ kind: 'on-chain', depth: 1 })
    await clock.pass(1_000)
    await first
    expect(a.given).toEqual(['http://b', 'http://c'])
    await followed(source.follow(solution, signal))
    expect(a.given).toEqual(['http://b', 'http://c', 'http://b'])
  })

  it('a solution of an earlier run waits for its node as long as its work lives', async () => {
    const { clock, a, b, source, jobs, stop } = await started(([first]) => {
      first.isDown = true
    })
    await b.give(0, 5)
    b.node.place = async () => ({ kind: 'awaited' })
    const { job, bytes } = solutionOf(jobs[0])
    const solution = { job: { ...job, issuer: 'http://a' }, bytes }
    const receipt = source.submit(solution)
    await clock.pass(200_000)
    a.isDown = false
    await clock.pass(2_500)
    expect(await receipt).toEqual({ step: 'acknowledged' })
    expect(a.node.submitted).toEqual([bytes])
    expect(b.node.submitted).toEqual([])
    stop.abort()
  })

  it('a solution of an earlier run is lost when its node never answers, and stopped when the miner ends before', async () => {
    for (const [passMs, reason] of [
      [310_000, 'unreachable'],
      [10_000, 'stopped'],
    ] as const) {
      const { clock, b, source, jobs, stop } = await started(([first]) => {
        first.isDown = true
      })
      await b.give(0, 5)
      b.node.place = async () => ({ kind: 'awaited' })
      const { job, bytes } = solutionOf(jobs[0])
      const receipt = source.submit({ job: { ...job, issuer: 'http://a' }, bytes })
      await clock.pass(passMs)
      stop.abort()
      expect(await receipt).toMatchObject({ step: 'lost', reason })
      expect(b.node.submitted).toEqual([])
    }
  })

  it('a solution is submitted although its issuer is not among the nodes', async () => {
    const { a, source, jobs } = await started()
    await a.give(0, 5)
    const { job, bytes } = solutionOf(jobs[0])
    expect(await source.submit({ job: { ...job, issuer: 'http://old' }, bytes })).toEqual({ step: 'acknowledged' })
    expect(a.node.submitted).toHaveLength(1)
  })
})

it('a check of a node sends nothing after the miner has ended', async () => {
  const clock = new VirtualClock()
  for (const isReached of [true, false]) {
    const { url, reached, connect } = new ScriptedMember('http://a', clock)
    const asked: string[] = []
    const told = <T extends (signal: AbortSignal) => unknown>(what: string, call: T) =>
      ((signal: AbortSignal) => {
        asked.push(what)
        return call(signal)
      }) as T
    const node = { ...reached, heads: told('heads', reached.heads), network: told('network', reached.network) }
    const configured = { url, reached: isReached ? node : null, connect: told('connect', connect) }
    const member = new NodeUpstream(configured, NETWORK, clock, () => expect.fail('it gives no work'))
    const failed = expect(member.check(AbortSignal.abort('the end'))).rejects.toBe('the end')
    await settle()
    expect(asked).toEqual([])
    await failed
  }
  expect(clock.pending).toBe(0)
})

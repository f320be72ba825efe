import { afterEach, describe, expect, it } from 'vitest'
import { MinersPoolFull, NodeRefusal } from '../../src/client/node/errors.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { NewcutError } from '../../src/ground/base/errors.ts'
import type { FollowUp } from '../../src/ground/chain/solution.ts'
import { blockOfSolution } from '../../src/mining/source/node/block-lookup.ts'
import type { Branch, CutHeads } from '../../src/mining/source/node/mining-node.ts'
import { NodeSource } from '../../src/mining/source/node/node-source.ts'
import type { Job } from '../../src/mining/source/source.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { followed, solutionOf } from './job.ts'
import { ScriptedNode } from './scripted-node.ts'
import { hashOf, madeWork } from './simulated-node.ts'

const stops: AbortController[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort()
})

async function started(chains = 3, { confirmations }: { readonly confirmations?: number } = {}) {
  const clock = new VirtualClock()
  const node = new ScriptedNode(chains)
  const source = new NodeSource({ node, clock, random: () => 0.5, confirmations })
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
  await settle()
  const answer = async (chain: number, parent: number, creationTime = 1n) => {
    node.answer(madeWork(chain, parent, creationTime))
    await settle()
  }
  return { clock, node, source, stop, said, jobs, ended, answer }
}

describe('slow node', () => {
  it('the source gives up a request that is unanswered for 5 s, reports it once, and retries', async () => {
    const { clock, node, said } = await started()
    await clock.pass(4_900)
    expect(said).toEqual([])
    await clock.pass(1_100)
    expect(said).toEqual([expect.stringContaining('no answer to a request for work within 5 s')])
    expect(node.asked).toHaveLength(1)
    await clock.pass(10_000)
    expect(said).toHaveLength(1)
  })

  it('the source retries a node without room for another miner, and suggests what else would help', async () => {
    const { clock, node, said, jobs } = await started()
    const refusal = {
      url: node.url,
      status: 403,
      excerpt: 'Unauthorized Miner/Miners Pool Full: k:a',
      operation: 'work',
    }
    node.asked.shift()?.reject(new MinersPoolFull({ ...refusal, isFromNode: true }))
    await settle()
    expect(said).toEqual([expect.stringMatching(/Miners Pool Full.*: try later, or give another node; trying on$/)])
    await clock.pass(1_000)
    node.answer(madeWork(0, 1))
    await settle()
    expect(jobs.at(-1)?.work.fields.chainId).toBe(0)
    expect(said.at(-1)).toMatch(/^recovered: /)
  })

  it('the source repeats a request that is unanswered for 1.5 s, and takes the first answer to any of them', async () => {
    const { clock, node, jobs } = await started()
    await clock.pass(1_400)
    expect(node.asked).toHaveLength(1)
    await clock.pass(200)
    expect(node.asked).toHaveLength(2)
    const [, second] = node.asked
    second.resolve(madeWork(0, 5))
    await settle()
    expect(jobs).toHaveLength(1)
    // Only the standby request remains.
    expect(node.asked).toHaveLength(1)
  })

  it('the source learns from the cut that the chain advanced if the stream is silent, and keeps asking if it did not', async () => {
    const { clock, node, jobs, answer } = await started(1)
    node.cut = async () => new Map([[0, { height: 5, hash: hashOf(5) }]])
    await answer(0, 5)
    await clock.pass(10_000)
    expect(jobs).toHaveLength(1)
    expect(node.asked).toHaveLength(0)
    node.cut = async () => new Map([[0, { height: 6, hash: hashOf(6) }]])
    await clock.pass(2_000)
    expect(jobs).toEqual([expect.anything(), null])
    await answer(0, 6)
    expect(jobs[2]).toMatchObject({ reason: 'newCut', work: { fields: { height: 7n } } })
    // The cut shows another branch of the same height, so the source requests work, and that decides.
    node.cut = async () => new Map([[0, { height: 6, hash: hashOf(60) }]])
    await clock.pass(2_000)
    await answer(0, 6)
    expect(jobs).toHaveLength(3)
  })

  it('the source checks its work when a connection ends, and less and less often when that recurs', async () => {
    const { clock, node, answer } = await started()
    await answer(0, 5)
    await answer(1, 5)
    expect(node.asked).toEqual([])
    for (const waitMs of [0, 1_000, 2_000, 4_000]) {
      // The source reacts to the first lost connection at once, and to the following ones together.
      for (let i = 0; i < 3; i++) node.lose()
      if (waitMs > 0) {
        await clock.pass(waitMs - 20)
        expect(node.asked).toEqual([])
        await clock.pass(20)
      } else await clock.pass(10)
      expect(node.asked.map(({ chain }) => chain)).toEqual([0, 1])
      await answer(0, 5)
      await answer(1, 5)
      node.lose()
    }
    await clock.pass(200_000)
    while (node.asked.length > 0) await answer(node.asked[0].chain ?? 0, 5)
    node.lose()
    expect(node.asked.map(({ chain }) => chain)).toEqual([0, 1])
  })

  it('the source checks its work when a node is back that has been silent for a second', async () => {
    const { clock, node, answer } = await started()
    await answer(0, 5)
    await answer(1, 5)
    const slow = (ms: number) => () =>
      new Promise<CutHeads>((resolve) => void clock.after(ms, () => resolve(new Map())))
    node.cut = slow(900)
    await clock.pass(4_000)
    expect(node.asked).toEqual([])
    node.cut = slow(1_100)
    await clock.pass(2_500)
    expect(node.asked.map(({ chain }) => chain)).toEqual([0, 1])
  })

  it('the source idles while a solution is unanswered, and does not search the same parent again', async () => {
    const { clock, node, source, jobs, answer } = await started(1)
    await answer(0, 5)
    let release: () => void = () => undefined
    node.onSubmit = () => new Promise((resolve) => (release = resolve))
    node.place = async () => ({ kind: 'awaited' })
    const receipt = source.submit(solutionOf(jobs[0]))
    await settle()
    expect(jobs).toEqual([expect.anything(), null])
    await clock.pass(60_000)
    expect(jobs).toHaveLength(2)
    release()
    expect(await receipt).toEqual({ step: 'acknowledged' })
    await settle()
    // The node has taken the solution, and advances its chain later.
    await answer(0, 5, 2n)
    expect(jobs).toHaveLength(2)
    await clock.pass(200)
    await answer(0, 6)
    expect(jobs[2]).toMatchObject({ reason: 'solved', work: { fields: { height: 7n } } })
  })

  it('the source searches another chain while a solution is unanswered', async () => {
    const { node, source, jobs, answer } = await started(3)
    await answer(0, 5)
    await answer(1, 8)
    node.onSubmit = () => new Promise(() => undefined)
    void source.submit(solutionOf(jobs[0]))
    await settle()
    expect(jobs[1]).toMatchObject({ reason: 'solved', work: { fields: { chainId: 1 } } })
  })

  it('the source drops the answer to a cancelled request', async () => {
    const { node, jobs, answer } = await started(3)
    await answer(0, 5)
    node.handlers.get(0)?.onNewCut()
    await settle()
    // The source requests a replacement and standby work. It takes the first answer, and cancels the other request.
    expect(node.asked).toHaveLength(2)
    const [one, other] = node.asked
    one.resolve(madeWork(1, 8))
    await settle()
    other.resolve(madeWork(2, 9))
    await settle()
    expect(jobs.flatMap((job) => job?.work.fields.chainId ?? [])).toEqual([0, 1])
  })
})

describe('outage', () => {
  it('an outage is reported by one line at its start and one at its end, whatever fails and however often', async () => {
    const { clock, node, said, answer } = await started()
    for (let attempt = 0; attempt < 8; attempt++) {
      node.fail()
      await clock.pass(6_000)
    }
    expect(said).toEqual(['trouble: no work: connection refused; trying on'])
    await answer(0, 5)
    expect(said.slice(1)).toEqual([expect.stringMatching(/^recovered: the node answers again, after \d+ s$/)])
  })

  it('an outage is not reported for standby work that could not be renewed', async () => {
    const { clock, node, said, answer } = await started(2)
    await answer(0, 5)
    await answer(1, 6)
    node.handlers.get(1)?.onOpen()
    await settle()
    node.fail()
    await clock.pass(60_000)
    expect(said).toEqual([])
  })

  it('an outage is over when any request is answered', async () => {
    const { clock, node, said, answer } = await started(2)
    await answer(0, 5)
    node.fail()
    await settle()
    expect(said).toHaveLength(1)
    node.handlers.get(0)?.onOpen()
    await settle()
    await answer(0, 5)
    expect(said[1]).toMatch(/^recovered/)
    await clock.pass(1)
  })

  it('an outage is not reported for a stream that reopens within 10 s', async () => {
    const { clock, node, said, answer } = await started()
    await answer(0, 5)
    await answer(1, 6)
    const stream = node.handlers.get(0)
    stream?.onOpen()
    for (let count = 0; count < 20; count++) {
      stream?.onBroken(new NewcutError('NODE_MISBEHAVED', 'no event for 10000 ms'))
      await clock.pass(2_000)
      stream?.onOpen()
      await settle()
      while (node.asked.length > 0) await answer(node.asked[0].chain ?? 0, node.asked[0].chain === 1 ? 6 : 5)
      await clock.pass(3_000)
    }
    expect(said).toEqual([])
  })

  it('an outage is reported for a stream that stays closed for longer', async () => {
    const { clock, node, said, answer } = await started()
    await answer(0, 5)
    await answer(1, 6)
    node.handlers.get(0)?.onBroken(new NewcutError('NODE_UNREACHABLE', 'connection refused'))
    await clock.pass(11_000)
    expect(said).toEqual([expect.stringContaining('no news: update stream of chain 0')])
    node.handlers.get(0)?.onOpen()
    expect(said).toHaveLength(2)
  })

  it('an outage does not end the miner, whatever the node refuses once it has given work', async () => {
    const { clock, node, jobs, said, answer } = await started(1)
    await answer(0, 5)
    node.refusal = new NewcutError('NODE_REFUSED', 'Unauthorized Miner')
    node.handlers.get(0)?.onNewCut()
    await settle()
    node.fail('404')
    await clock.pass(1_000)
    await answer(0, 6)
    expect(said).toEqual([expect.stringContaining('404'), expect.stringContaining('answers again')])
    expect(jobs.map((job) => job?.work.fields.height ?? null)).toEqual([6n, null, 7n])
  })

  it('the miner ends when the node itself refuses its first request for work', async () => {
    const { node, ended } = await started()
    node.refusal = new NewcutError('NODE_REFUSED', 'Unauthorized Miner: k:test')
    node.fail('403')
    await expect(ended).rejects.toMatchObject({ code: 'NODE_REFUSED', message: 'Unauthorized Miner: k:test' })
  })
})

describe('solution', () => {
  /** A refusal. It counts as the node's own if the excerpt is one that nodes give, and as a proxy's otherwise. */
  const refusal = (status: number, excerpt: string) => {
    const isFromNode = /^(Invalid|No associated)/.test(excerpt)
    return new NodeRefusal({ url: 'http://node.test', status, excerpt, isFromNode })
  }

  async function submitted(onSubmit: ScriptedNode['onSubmit'], place?: ScriptedNode['place']) {
    const { clock, node, source, jobs, answer } = await started()
    await answer(0, 5)
    node.onSubmit = onSubmit
    node.place = place ?? (async () => ({ kind: 'awaited' }))
    const receipt = source.submit(solutionOf(jobs[0]))
    await clock.pass(310_000)
    return { receipt: await receipt, attempts: node.submitted.length, source, solution: solutionOf(jobs[0]) }
  }

  it('a solution is resubmitted while a proxy answers 404, 502 or a redirection', async () => {
    const answers = [refusal(404, '<html>not found'), refusal(502, 'Bad Gateway'), refusal(302, '')]
    const { receipt, attempts } = await submitted(async (attempt) => {
      const answer = answers[attempt - 1]
      if (answer) throw answer
    })
    expect(receipt).toEqual({ step: 'acknowledged' })
    expect(attempts).toBe(4)
  })

  it('a solution is rejected once the node has repeated that for 5 s', async () => {
    const { receipt, attempts } = await submitted(
      async () => {
        throw refusal(400, 'Invalid solved work: Invalid POW hash')
      },
      async () => ({ kind: 'awaited' }),
    )
    expect(receipt).toMatchObject({ step: 'rejected', reason: 'invalid-pow' })
    // Pauses last half a second on average.
    expect(attempts).toBeGreaterThan(7)
    expect(attempts).toBeLessThan(20)
  })

  it.each([
    ['the node itself refuses it', refusal(400, 'Invalid solved work: Invalid POW hash'), 3],
    ['another server refuses it', refusal(400, '<html>bad request'), 3],
    ['a proxy fails', refusal(502, 'Bad Gateway'), 2],
  ])('a solution is resubmitted if %s, and a refusal unblocks its parent', async (_, failure, count) => {
    const { clock, node, source, jobs, answer } = await started(1)
    await answer(0, 5)
    node.place = async () => ({ kind: 'awaited' })
    node.onSubmit = async () => {
      await new Promise<void>((resolve) => void clock.after(1, resolve))
      throw failure
    }
    void source.submit(solutionOf(jobs[0]))
    await clock.pass(2_000)
    expect(node.submitted.length).toBeGreaterThan(1)
    while (node.asked.length > 0) {
      await answer(0, 5, 2n)
      await clock.pass(100)
    }
    expect(jobs).toHaveLength(count)
  })

  it.each([400, 403, 404])(
    'a solution is acknowledged if the node took it after 3 s of answering %i',
    async (status) => {
      let clock: VirtualClock | null = null
      const handed = await started()
      clock = handed.clock
      await handed.answer(0, 5)
      const startMs = clock.monotonicMs()
      handed.node.place = async () => ({ kind: 'awaited' })
      handed.node.onSubmit = async () => {
        if ((clock?.monotonicMs() ?? 0) - startMs < 3000) throw refusal(status, 'not now')
      }
      const receipt = handed.source.submit(solutionOf(handed.jobs[0]))
      await clock.pass(4_000)
      expect(await receipt).toEqual({ step: 'acknowledged' })
    },
  )

  it('a solution is stale if the node knows no payload because another miner was faster', async () => {
    const submit = async () => {
      throw refusal(404, 'No associated Payload')
    }
    const { receipt } = await submitted(submit, async () => ({ kind: 'passed', depth: 1 }))
    expect(receipt).toEqual({ step: 'stale' })
  })

  it("a solution is stale if the node's chain advances only after it did not know the payload", async () => {
    let looks = 0
    const submit = async () => {
      throw refusal(404, 'No associated Payload')
    }
    const place = async () => (++looks < 5 ? { kind: 'awaited' as const } : { kind: 'passed' as const, depth: 1 })
    const { receipt } = await submitted(submit, place)
    expect(receipt).toEqual({ step: 'stale' })
  })

  it('a solution is resubmitted once more, and no more, when the miner stops', async () => {
    const { clock, node, source, jobs, answer, stop } = await started()
    await answer(0, 5)
    node.onSubmit = async () => {
      throw refusal(503, '')
    }
    node.place = async () => ({ kind: 'awaited' })
    const receipt = source.submit(solutionOf(jobs[0]))
    await settle()
    stop.abort()
    await settle()
    expect(await receipt).toMatchObject({ step: 'lost', reason: 'stopped' })
    expect(node.submitted).toHaveLength(2)
    expect(clock.pending).toBe(0)
  })

  it('a solution is rejected if the node knows no payload and its chain has not moved for 20 s', async () => {
    const submit = async () => {
      throw refusal(404, 'No associated Payload')
    }
    const { receipt, attempts } = await submitted(submit, async () => ({ kind: 'awaited' }))
    expect(receipt).toMatchObject({ step: 'rejected', reason: 'no-payload' })
    // Pauses last half a second on average, and a second more while the node gives no work.
    expect(attempts).toBeGreaterThan(12)
    expect(attempts).toBeLessThan(25)
  })

  it('a solution is accepted by a node that had forgotten its payload, once it gets a request for the same work', async () => {
    const { clock, node, source, jobs, answer } = await started()
    await answer(0, 5)
    await answer(1, 6)
    let isKnown = false
    const work = node.work.bind(node)
    node.work = (chain, signal) => {
      isKnown ||= chain === 0
      return work(chain, signal)
    }
    node.place = async () => ({ kind: 'awaited' })
    node.onSubmit = async () => {
      await settle()
      if (!isKnown) throw refusal(404, 'No associated Payload')
    }
    const receipt = source.submit(solutionOf(jobs[0]))
    await clock.pass(200)
    for (const { chain, resolve } of node.asked) if (chain === 0) resolve(madeWork(0, 5))
    await settle()
    expect(await receipt).toEqual({ step: 'acknowledged' })
    expect(node.submitted).toHaveLength(2)
    // Work on the same parent is useless again, although the refusal had made it useful.
    await answer(0, 5, 2n)
    await answer(1, 6)
    node.handlers.get(1)?.onNewCut()
    await settle()
    expect(jobs.at(-1)).toBeNull()
  })

  it('a solution is acknowledged if the node took it, its answer was lost, and its chain shows the block 15 s later', async () => {
    const { clock, node, source, jobs, answer } = await started()
    await answer(0, 5)
    const startMs = clock.monotonicMs()
    node.place = async () => {
      return clock.monotonicMs() - startMs < 15_000 ? { kind: 'awaited' } : { kind: 'on-chain', depth: 1 }
    }
    node.onSubmit = async (attempt) => {
      if (attempt === 1) throw new NewcutError('NODE_UNREACHABLE', 'connection lost')
      throw refusal(404, 'No associated Payload')
    }
    const receipt = source.submit(solutionOf(jobs[0]))
    await clock.pass(17_000)
    expect(await receipt).toEqual({ step: 'acknowledged' })
  })

  it("a node that does not know the payload of another node's work does not reject the solution", async () => {
    const { clock, node, source, jobs, answer } = await started(1)
    await answer(0, 5)
    node.place = async () => ({ kind: 'awaited' })
    node.onSubmit = async () => {
      await new Promise<void>((resolve) => void clock.after(1, resolve))
      throw refusal(404, 'No associated Payload')
    }
    const { job, bytes } = solutionOf(jobs[0])
    const receipt = source.submit({ job: { ...job, issuer: 'http://elsewhere.test' }, bytes })
    await clock.pass(2_000)
    while (node.asked.length > 0) {
      await answer(0, 5, 2n)
      await clock.pass(100)
    }
    expect(jobs, 'its parent is searched on').toHaveLength(3)
    await clock.pass(310_000)
    expect(await receipt).toMatchObject({ step: 'lost', reason: 'unreachable', mayReturn: true })
  })

  it('a solution is resubmitted while a proxy answers 400 for a minute, and then accepted', async () => {
    const { clock, node, source, jobs, answer } = await started()
    await answer(0, 5)
    const startMs = clock.monotonicMs()
    node.place = async () => ({ kind: 'awaited' })
    node.onSubmit = async () => {
      if (clock.monotonicMs() - startMs < 60_000) throw refusal(400, '<html>bad request')
    }
    const receipt = source.submit(solutionOf(jobs[0]))
    await clock.pass(62_000)
    expect(await receipt).toEqual({ step: 'acknowledged' })
  })

  it('a solution is resubmitted while a node of another network has the address, and then accepted', async () => {
    const { clock, node, source, jobs, answer } = await started()
    await answer(0, 5)
    const startMs = clock.monotonicMs()
    node.place = async () => {
      throw new NewcutError('NODE_UNREACHABLE', 'another network')
    }
    node.onSubmit = async () => {
      const excerpt = 'this node serves another network'
      const other = new NodeRefusal({ url: 'http://node.test', status: 404, excerpt, isFromNode: true })
      if (clock.monotonicMs() - startMs < 60_000) throw other
    }
    const receipt = source.submit(solutionOf(jobs[0]))
    await clock.pass(30_000)
    node.place = async () => ({ kind: 'awaited' })
    await clock.pass(32_000)
    expect(await receipt).toEqual({ step: 'acknowledged' })
  })

  it('a solution is rejected if every answer for 5 minutes was 400, from any server', async () => {
    const { receipt } = await submitted(async () => {
      throw refusal(400, '<html>bad request')
    })
    expect(receipt).toMatchObject({ step: 'rejected', reason: 'unknown' })
  })

  it('a stale solution is followed until the block in its place is deep', async () => {
    const { clock, node, source, jobs, answer } = await started(3, { confirmations: 6 })
    await answer(0, 5)
    node.onSubmit = async () => {
      throw refusal(404, 'No associated Payload')
    }
    node.place = async () => ({ kind: 'passed', depth: 5 })
    const shallow = source.submit(solutionOf(jobs[0]))
    await clock.pass(1_000)
    expect(await shallow).toEqual({ step: 'stale', mayReturn: true })
    node.place = async () => ({ kind: 'passed', depth: 6 })
    const deep = source.submit(solutionOf(jobs[0]))
    await clock.pass(1_000)
    expect(await deep).toEqual({ step: 'stale' })
  })

  it.each(['passed', 'orphaned'] as const)(
    'a solution that is %s at first is followed, and reported when its branch wins',
    async (kind) => {
      const { clock, node, source, jobs, answer, stop } = await started(3, { confirmations: 6 })
      await answer(0, 5)
      const solution = solutionOf(jobs[0])
      const { chain, height, hash } = blockOfSolution(solution)
      const id = encodeBase64Url(hash)
      const other = hashOf(99)
      let branch: Branch = { head: height, ids: new Map([[height, other]]) }
      node.branch = async (asked) => (asked === chain ? branch : { head: -1, ids: new Map() })
      node.place = async () => ({ kind, depth: 1 })
      const told: FollowUp[] = []
      let isOver = false
      const end = (async () => {
        for await (const step of source.follow(solution, stop.signal)) told.push(step)
        isOver = true
      })()
      await clock.pass(60_000)
      const first = { step: kind === 'passed' ? 'stale' : 'orphaned', mayReturn: true }
      expect(told).toEqual([first])
      expect(isOver).toBe(false)
      branch = { head: height + 1, ids: new Map([[height, id]]) }
      await clock.pass(6_000)
      expect(told).toEqual([first, { step: 'confirmed', depth: 2 }])
      branch = { head: height + 5, ids: new Map([[height, id]]) }
      await clock.pass(6_000)
      await end
      expect(told.at(-1)).toEqual({ step: 'confirmed', depth: 6 })
    },
  )

  it('a solution is stale for good once the block in its place is deep', async () => {
    const { clock, node, source, jobs, answer, stop } = await started(3, { confirmations: 6 })
    await answer(0, 5)
    const solution = solutionOf(jobs[0])
    const { height } = blockOfSolution(solution)
    node.place = async () => ({ kind: 'passed', depth: 5 })
    node.branch = async () => ({ head: height + 5, ids: new Map([[height, hashOf(99)]]) })
    const steps = followed(source.follow(solution, stop.signal))
    await clock.pass(6_000)
    expect(await steps).toEqual([{ step: 'stale', mayReturn: true }, { step: 'stale' }])
  })

  it('a solution is acknowledged if the first answer was lost and the chain has the block', async () => {
    let looks = 0
    const { receipt, attempts } = await submitted(
      async (attempt) => {
        if (attempt === 1) throw new NewcutError('NODE_UNREACHABLE', 'connection lost')
        throw refusal(404, 'No associated Payload')
      },
      async () => (++looks === 1 ? { kind: 'awaited' } : { kind: 'on-chain', depth: 1 }),
    )
    expect(receipt).toEqual({ step: 'acknowledged' })
    expect(attempts).toBe(2)
  })

  it('a solution is lost if the node cannot be reached until it has forgotten the payload', async () => {
    const unreachable = async () => {
      throw new NewcutError('NODE_UNREACHABLE', 'connection refused')
    }
    const { receipt, attempts } = await submitted(unreachable, unreachable)
    expect(receipt).toEqual({ step: 'lost', reason: 'unreachable', message: 'connection refused', mayReturn: true })
    expect(attempts).toBeGreaterThan(500)
  })

  it.each<[string, ScriptedNode['place'], FollowUp]>([
    ['confirmed with its depth', async () => ({ kind: 'on-chain', depth: 3 }), { step: 'confirmed', depth: 3 }],
    ['orphaned if its chain goes on without it', async () => ({ kind: 'orphaned', depth: 1 }), { step: 'orphaned' }],
    ['stale if its chain has another block there', async () => ({ kind: 'passed', depth: 1 }), { step: 'stale' }],
    [
      'unconfirmed if its chain does not move within 20 s',
      async () => ({ kind: 'awaited' }),
      { step: 'unconfirmed', message: 'its chain has neither the block nor another one there yet' },
    ],
  ])('a followed solution is %s', async (_what, place, expected) => {
    const { clock, node, source, jobs, answer, stop } = await started()
    await answer(0, 5)
    node.place = place
    const steps = followed(source.follow(solutionOf(jobs[0]), stop.signal))
    await clock.pass(23_000)
    stop.abort()
    expect(await steps).toEqual([expected])
  })

  it('a solution is unconfirmed if no node can be asked, and confirmed when the node is back', async () => {
    const { clock, node, source, jobs, answer, stop } = await started()
    await answer(0, 5)
    node.place = async () => {
      throw new NewcutError('NODE_UNREACHABLE', 'connection refused')
    }
    const steps = followed(source.follow(solutionOf(jobs[0]), stop.signal))
    await clock.pass(60_000)
    node.place = async () => ({ kind: 'on-chain', depth: 2 })
    await clock.pass(2_000)
    expect(await steps).toEqual([
      { step: 'unconfirmed', message: 'connection refused' },
      { step: 'confirmed', depth: 2 },
    ])
  })
})

describe('end of a source', () => {
  it('the end of a source cancels requests and timers, and nothing is reported afterwards', async () => {
    const { clock, node, stop, ended, jobs, said, answer } = await started()
    await answer(0, 5)
    expect(node.asked).toHaveLength(1)
    const late = node.asked[0]
    stop.abort()
    await ended
    late.resolve(madeWork(1, 2))
    node.handlers.get(0)?.onNewCut()
    node.handlers.get(0)?.onBroken(new NewcutError('NODE_UNREACHABLE', 'closed'))
    await clock.pass(600_000)
    expect(node.asked).toHaveLength(0)
    expect(clock.pending).toBe(0)
    expect(jobs).toHaveLength(1)
    expect(said).toEqual([])
  })
})

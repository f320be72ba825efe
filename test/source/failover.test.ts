/** Failover among upstreams that are neither nodes nor pools, and the effects of its policies. */
import { expect, it } from 'vitest'
import {
  Failover,
  type FailoverPolicy,
  type Upstream,
  type WorkFeed,
} from '../../src/mining/source/failover/failover.ts'
import { Mailbox } from '../../src/mining/source/mailbox.ts'
import type { Job } from '../../src/mining/source/source.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { madeWork } from './simulated-node.ts'

const jobOf = (id: string): Job => {
  const work = madeWork(0, 5)
  const fixed = { issuer: 'it', fixedNonce: { bits: 0, value: 0 }, manySolutions: false } as const
  return { id, work, target: work.fields.target, reason: 'newCut', noticedAtMs: 0, ...fixed }
}

/** An upstream that gives work when the test says so. */
class TestUpstream implements Upstream {
  readonly url: string
  epoch = 1
  isUp = true
  fitSinceMs: number | null = 0
  opened = 0
  #newest = new Mailbox<Job | null>()

  constructor(url: string) {
    this.url = url
  }

  get fitness() {
    return { isUp: this.isUp, fitSinceMs: this.isUp ? this.fitSinceMs : null }
  }

  open(): WorkFeed {
    this.opened++
    const newest = new Mailbox<Job | null>()
    this.#newest = newest
    return { connected: true, failingMs: 0, jobs: (signal) => newest.until(signal, () => newest.close()) }
  }

  give(id: string): Promise<void> {
    this.#newest.put(jobOf(id))
    return settle()
  }

  markUnfit(): void {
    this.fitSinceMs = null
  }

  markFit(): void {
    // The test gives no objection that it could clear.
  }

  status(): never {
    throw new Error('nobody asks')
  }
}

const likeNodes: FailoverPolicy = { failbackMs: 1_000, standInMs: 500, keepsOldWork: true }
const likePools: FailoverPolicy = { failbackMs: 1_000, standInMs: null, keepsOldWork: false }

/** Two upstreams; the failover has asked the first for work. */
function asked(policy: FailoverPolicy) {
  const [clock, a, b] = [new VirtualClock(), new TestUpstream('a'), new TestUpstream('b')]
  const jobs: (string | null)[] = []
  const switched: string[] = []
  const failover = new Failover<TestUpstream, WorkFeed>([a, b], policy, clock, {
    onJob: (job, session) => jobs.push(job && `${session}.${job.id} ${job.reason}`),
    onSwitched: ({ url }) => switched.push(url),
    onRefused: () => undefined,
    onFault: (error) => {
      throw error
    },
  })
  expect(failover.decide()).toBe(a)
  const down = (upstream: TestUpstream) => {
    upstream.isUp = false
    return failover.decide()
  }
  return { clock, a, b, failover, jobs, switched, down }
}

/** The same, after the first has given work. */
async function ground(policy: FailoverPolicy) {
  const made = asked(policy)
  await made.a.give('1')
  return made
}

it('a failover keeps old work until there is other work', async () => {
  const { a, b, failover, jobs, switched, down } = await ground(likeNodes)
  expect(down(a)).toBe(b)
  await settle()
  expect(jobs).toEqual(['1.1 newCut'])
  expect(failover.active).toBe(a)
  await b.give('1')
  expect(jobs).toEqual(['1.1 newCut', '2.1 switched'])
  expect(failover.active).toBe(b)
  expect(switched).toEqual(['b'])
})

it('a failover keeps old work if nobody can give any, if the policy says so', async () => {
  const { a, b, jobs, down } = await ground(likeNodes)
  b.isUp = false
  expect(down(a)).toBeNull()
  expect(jobs).toEqual(['1.1 newCut'])
})

it('a failover drops the work of an upstream that went down at once, if the policy says so', async () => {
  const { a, b, failover, jobs, down } = await ground(likePools)
  b.isUp = false
  expect(down(a)).toBeNull()
  expect(jobs).toEqual(['1.1 newCut', null])
  expect(failover.active).toBe(null)
  a.isUp = true
  a.epoch++
  expect(failover.decide()).toBe(a)
  await a.give('2')
  expect(jobs.slice(2)).toEqual(['2.2 newCut'])
})

it('a failover drops the old work also if the next upstream goes down before it gives work', async () => {
  const { a, b, jobs, down } = await ground(likePools)
  expect(down(a)).toBe(b)
  expect(jobs).toEqual(['1.1 newCut'])
  expect(down(b)).toBeNull()
  expect(jobs).toEqual(['1.1 newCut', null])
})

it('newcut fails back to an upstream of higher priority that has been fit for the failback time', async () => {
  const { clock, a, b, failover, jobs, down } = await ground(likePools)
  down(a)
  await b.give('1')
  a.isUp = true
  a.epoch++
  a.fitSinceMs = clock.monotonicMs()
  await clock.pass(999)
  expect(failover.decide()).toBe(b)
  await clock.pass(1)
  expect(failover.decide()).toBe(a)
  await a.give('2')
  expect(jobs.at(-1)).toBe('3.2 switched')
})

it.each([
  ['a failover asks another one to stand in while the first gives nothing', likeNodes, 1],
  ['a failover asks no other one while the first gives nothing', likePools, 0],
])('%s, if the policy says so', async (_, policy, opened) => {
  const { clock, b, failover } = asked(policy)
  await clock.pass(600)
  expect(b.opened).toBe(opened)
  failover.stop()
  expect(clock.pending).toBe(0)
})

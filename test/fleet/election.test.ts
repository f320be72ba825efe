/** Leader election over a real NATS server, on virtual time. */
import { randomUUID } from 'node:crypto'
import { Kvm } from '@nats-io/kv'
import { beforeEach, expect, it } from 'vitest'
import type { Clock } from '../../src/ground/base/clock.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { Election, LEAD_MS, MIN_LEAD_MS, TAKEOVER_MS } from '../../src/mining/engine/fleet/election.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { describeWith, lackOf } from '../needs.ts'
import { until } from '../wait.ts'
import { NatsBed } from './nats.ts'

/** Start of the tests, in milliseconds since the UNIX epoch. */
const START_MS = 1_800_000_000_000

interface Timer {
  readonly dueMs: number
  readonly run: () => void
}

/** The clock of all candidates of a test. It stands still while one of them waits for the server. */
class Time {
  nowMs = 0
  readonly candidates: Candidate[] = []
  /** The highest number of simultaneous leaders. */
  mostLeaders = 0
  readonly #timers = new Set<Timer>()

  after(delayMs: number, run: () => void): () => void {
    const timer = { dueMs: this.nowMs + delayMs, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  look(): void {
    this.mostLeaders = Math.max(this.mostLeaders, this.candidates.filter(({ leads }) => leads).length)
  }

  async pass(forMs: number): Promise<void> {
    const endMs = this.nowMs + forMs
    while (await this.#next(endMs)) this.look()
    this.nowMs = endMs
    this.look()
  }

  async passUntil(condition: () => boolean): Promise<void> {
    for (;;) {
      await this.#settled()
      this.look()
      if (condition()) return
      await this.#next(Number.POSITIVE_INFINITY)
    }
  }

  /** Resolves when no candidate waits for the server. */
  #settled(): Promise<void> {
    return until(() => this.candidates.every(({ isAsleep }) => isAsleep))
  }

  /** Runs the next timer. @returns false if none is due by `endMs` */
  async #next(endMs: number): Promise<boolean> {
    await this.#settled()
    const [timer] = [...this.#timers].toSorted((a, b) => a.dueMs - b.dueMs)
    if (timer === undefined || timer.dueMs > endMs) return false
    this.nowMs = timer.dueMs
    this.look()
    this.#timers.delete(timer)
    timer.run()
    return true
  }
}

class Candidate {
  /** Whether the candidate is between two requests to the server, or has ended. */
  isAsleep = false
  readonly terms: (number | null)[] = []
  readonly leaders: string[] = []
  readonly troubles: (string | null)[] = []
  readonly readiness = { isLost: false, isReady: true, isOtherReady: false }
  readonly link: FleetLink
  readonly election: Election

  constructor(link: FleetLink, fleet: string, name: string, time: Time) {
    this.link = link
    const clock: Clock = {
      wallMs: () => START_MS + time.nowMs,
      monotonicMs: () => time.nowMs,
      after: (delayMs, run) => {
        // The end of its leadership is the only other timer.
        if (delayMs === LEAD_MS) return time.after(delayMs, run)
        this.isAsleep = true
        return time.after(delayMs, () => {
          this.isAsleep = false
          run()
        })
      },
    }
    this.election = new Election({
      name,
      session: randomUUID(),
      clock,
      readiness: this.readiness,
      openStore: () => new Kvm(link.jetstream).create(fleet, { history: 1 }),
      onChange: (term) => {
        this.terms.push(term)
        time.look()
      },
      onLeader: (leader) => this.leaders.push(leader),
      onTrouble: (reason) => this.troubles.push(reason),
    })
    time.candidates.push(this)
    this.election.start()
  }

  get leads(): boolean {
    return this.election.term !== null
  }

  async stop(): Promise<void> {
    await this.election.stop()
    this.isAsleep = true
  }
}

describeWith(lackOf('nats-server'), 'the election of a leader', () => {
  const bed = new NatsBed()
  let time = new Time()
  beforeEach(() => {
    time = new Time()
  })

  const candidateOf = async (fleet: string, name: string): Promise<Candidate> => {
    const setup = { addresses: [readNatsAddress(bed.nats.url)], trust: {}, fleet, agent: 'test' }
    const shared = { clock: systemClock, random: Math.random }
    const link = await FleetLink.open({ ...setup, ...shared }, null, new AbortController().signal)
    const candidate = new Candidate(link, fleet, name, time)
    bed.cleanups.push(async () => {
      await candidate.stop()
      await link.close()
    })
    return candidate
  }

  /** A leader, and a standby that knows it. */
  const leaderAndNext = async (fleet: string) => {
    const first = await candidateOf(fleet, 'first')
    await time.passUntil(() => first.leads)
    const second = await candidateOf(fleet, 'second')
    await time.passUntil(() => second.leaders.includes('first'))
    return { first, second }
  }

  it('an election is won by one of several candidates that start at once', async () => {
    const all = await Promise.all(['a', 'b', 'c'].map((name) => candidateOf('at-once', name)))
    await time.passUntil(() => all.some(({ leads }) => leads))
    await time.pass(TAKEOVER_MS)
    expect(time.mostLeaders).toBe(1)
    const leader = all.find(({ leads }) => leads)?.election.leader
    expect(['a', 'b', 'c']).toContain(leader)
    expect(all.map(({ election }) => election.leader)).toEqual([leader, leader, leader])
  })

  it('the lead goes to the next candidate at once, in a higher term, when the leader shuts down', async () => {
    const { first, second } = await leaderAndNext('in-order')
    const term = first.election.term ?? 0
    const endedAtMs = time.nowMs
    await first.stop()
    await time.passUntil(() => second.leads)
    expect(time.nowMs - endedAtMs).toBeLessThan(TAKEOVER_MS / 2)
    expect(second.election.term).toBeGreaterThan(term)
    expect(first.terms).toEqual([term, null])
  })

  it('the lead goes to the next candidate within 3 s when the leader is cut off, which steps down before that', async () => {
    const { first, second } = await leaderAndNext('cut-off')
    // Its requests are lost from here.
    const cutAtMs = time.nowMs
    await first.link.connection.close()
    await time.passUntil(() => second.leads)
    expect(time.nowMs - cutAtMs).toBeLessThan(3_000)
    expect(time.mostLeaders).toBe(1)
    expect(first.terms.at(-1)).toBeNull()
    expect(first.troubles.length).toBeGreaterThan(0)
  })

  it('an election is won in a higher term even when the store was lost', async () => {
    const first = await candidateOf('lost', 'first')
    await time.passUntil(() => first.leads)
    const term = first.election.term ?? 0
    await new Kvm(first.link.jetstream).create('lost').then((store) => store.destroy())
    await time.passUntil(() => first.terms.length > 1)
    await time.passUntil(() => first.leads)
    expect(first.election.term).toBeGreaterThan(term)
    await time.pass(2 * TAKEOVER_MS)
    expect(first.leads, 'it goes on to lead').toBe(true)
    expect(first.terms).toHaveLength(3)
  })

  it('an election is never won by two when the store is lost and a newcomer finds it empty', async () => {
    const first = await candidateOf('lost-by-two', 'first')
    await time.passUntil(() => first.leads)
    await new Kvm(first.link.jetstream).create('lost-by-two').then((store) => store.destroy())
    await candidateOf('lost-by-two', 'second')
    await time.pass(2 * TAKEOVER_MS)
    await time.passUntil(() => time.candidates.some(({ leads }) => leads))
    expect(time.mostLeaders).toBe(1)
  })

  it('an election is never won by two when the server was away for a while', async () => {
    const { first, second } = await leaderAndNext('away')
    await bed.nats.kill()
    await time.passUntil(() => !first.leads)
    await bed.nats.restart()
    await time.passUntil(() => first.leads || second.leads)
    await time.pass(2 * TAKEOVER_MS)
    expect(first.leads || second.leads).toBe(true)
    expect(time.mostLeaders).toBe(1)
  })

  it('a leader without a node passes the lead on once another candidate has one, and does not take it back', async () => {
    const { first, second } = await leaderAndNext('no-node')
    await time.pass(MIN_LEAD_MS)
    Object.assign(first.readiness, { isLost: true, isReady: false })
    await time.pass(2 * TAKEOVER_MS)
    expect(first.leads, 'nobody is better').toBe(true)
    first.readiness.isOtherReady = true
    const lostAtMs = time.nowMs
    await time.passUntil(() => second.leads)
    expect(time.nowMs - lostAtMs).toBeLessThan(600)
    await time.pass(2 * TAKEOVER_MS)
    expect(second.leads).toBe(true)
    expect(time.mostLeaders).toBe(1)
    expect(first.terms).toEqual([expect.any(Number), null])
  })

  it('the lead stays with a leader for a while, whatever happens to its node', async () => {
    const { first, second } = await leaderAndNext('flapping')
    Object.assign(first.readiness, { isLost: true, isReady: false, isOtherReady: true })
    await time.pass(MIN_LEAD_MS - 1_000)
    expect(first.leads).toBe(true)
    await time.passUntil(() => second.leads)
  })

  it('an election is left to candidates with a node for a second', async () => {
    const { first, second } = await leaderAndNext('yielding')
    const third = await candidateOf('yielding', 'third')
    await time.passUntil(() => third.leaders.includes('first'))
    Object.assign(second.readiness, { isReady: false, isOtherReady: true })
    Object.assign(third.readiness, { isReady: false, isOtherReady: true })
    const endedAtMs = time.nowMs
    await first.stop()
    await time.passUntil(() => second.leads || third.leads)
    expect(time.nowMs - endedAtMs, 'nobody who has one comes').toBeGreaterThanOrEqual(1_000)
    expect(time.mostLeaders).toBe(1)
    const [leader, other] = second.leads ? [second, third] : [third, second]
    other.readiness.isReady = true
    await leader.stop()
    const secondEndMs = time.nowMs
    await time.passUntil(() => other.leads)
    expect(time.nowMs - secondEndMs).toBeLessThan(500)
  })
})

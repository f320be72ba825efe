/** Who leads, over a real NATS server. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kvm } from '@nats-io/kv'
import { describe, expect, it } from 'vitest'
import { Election, TAKEOVER_MS } from '../../src/engine/fleet/election.ts'
import { readNatsAddress } from '../../src/fleet/address.ts'
import { Link } from '../../src/fleet/link.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { NatsBed, natsMissing } from './nats.ts'

describe.skipIf(natsMissing !== null)('the election of a leader', () => {
  const bed = new NatsBed()
  const { cleanups } = bed

  class Candidate {
    readonly terms: (number | null)[] = []
    readonly leaders: string[] = []
    readonly troubles: (string | null)[] = []
    readonly link: Link
    readonly election: Election

    private constructor(link: Link, fleet: string, name: string) {
      this.link = link
      this.election = new Election({
        ...{ name, session: randomUUID(), clock: systemClock },
        openStore: () => new Kvm(link.jetstream).create(fleet, { history: 1 }),
        onChange: (term) => this.terms.push(term),
        onLeader: (leader) => this.leaders.push(leader),
        onTrouble: (reason) => this.troubles.push(reason),
      })
      this.election.start()
    }

    static async of(fleet: string, name: string): Promise<Candidate> {
      const setup = { addresses: [readNatsAddress(bed.nats.url)], trust: {}, fleet, agent: 'test' }
      const shared = { clock: systemClock, random: Math.random }
      const link = await Link.open({ ...setup, ...shared }, null, new AbortController().signal)
      const candidate = new Candidate(link, fleet, name)
      cleanups.push(async () => {
        await candidate.election.stop()
        await link.close()
      })
      return candidate
    }

    get leads(): boolean {
      return this.election.term !== null
    }
  }

  const until = async (condition: () => boolean, mostMs = 10_000) => {
    for (const endMs = performance.now() + mostMs; !condition(); await sleep(5)) {
      if (performance.now() > endMs) throw new Error('not in time')
    }
  }

  it('is won by one of several that begin at once', async () => {
    const all = await Promise.all(['a', 'b', 'c'].map((name) => Candidate.of('at-once', name)))
    await until(() => all.some(({ leads }) => leads))
    await sleep(500)
    expect(all.filter(({ leads }) => leads)).toHaveLength(1)
    const leader = all.find(({ leads }) => leads)?.election.leader
    expect(all.map(({ election }) => election.leader)).toEqual([leader, leader, leader])
  })

  it('goes to the next at once when the leader ends in order, in a higher term', async () => {
    const first = await Candidate.of('in-order', 'first')
    await until(() => first.leads)
    const second = await Candidate.of('in-order', 'second')
    await until(() => second.leaders.includes('first'))
    const term = first.election.term ?? 0
    const endedAtMs = performance.now()
    await first.election.stop()
    await until(() => second.leads)
    expect(performance.now() - endedAtMs).toBeLessThan(TAKEOVER_MS / 2)
    expect(second.election.term).toBeGreaterThan(term)
    expect(first.terms).toEqual([term, null])
  })

  it('goes to the next within 3 s when the leader is cut off, which has stepped down before', async () => {
    const first = await Candidate.of('cut-off', 'first')
    await until(() => first.leads)
    const second = await Candidate.of('cut-off', 'second')
    await until(() => second.leaders.includes('first'))
    // Its requests go nowhere from here on.
    const cutAtMs = performance.now()
    await first.link.connection.close()
    await until(() => second.leads)
    expect(performance.now() - cutAtMs).toBeLessThan(3_000)
    expect(first.leads).toBe(false)
    expect(first.terms.at(-1)).toBeNull()
    expect(first.troubles.length).toBeGreaterThan(0)
  })

  it('is won in a higher term even when the store was lost', async () => {
    const first = await Candidate.of('lost', 'first')
    await until(() => first.leads)
    const term = first.election.term ?? 0
    await new Kvm(first.link.jetstream).create('lost').then((store) => store.destroy())
    await until(() => first.terms.length > 1)
    await until(() => first.leads)
    expect(first.election.term).toBeGreaterThan(term)
    await sleep(2 * TAKEOVER_MS)
    expect(first.leads, 'it goes on to lead').toBe(true)
  })

  it('is never won by two when the store is lost, and somebody comes who finds it empty', async () => {
    const first = await Candidate.of('lost-by-two', 'first')
    await until(() => first.leads)
    await new Kvm(first.link.jetstream).create('lost-by-two').then((store) => store.destroy())
    const all = [first, await Candidate.of('lost-by-two', 'second')]
    for (const endMs = performance.now() + 2 * TAKEOVER_MS; performance.now() < endMs; await sleep(5)) {
      expect(all.filter(({ leads }) => leads).length).toBeLessThan(2)
    }
    await until(() => all.some(({ leads }) => leads))
  })

  it('is never won by two when the server was away for a while', async () => {
    const leader = await Candidate.of('away', 'leader')
    const other = await Candidate.of('away', 'other')
    await until(() => leader.leads || other.leads)
    const [first] = [leader, other].filter(({ leads }) => leads)
    await bed.nats.kill()
    await until(() => !first.leads)
    await bed.nats.restart()
    await until(() => leader.leads || other.leads)
    // Sampled for a while: never both.
    for (const endMs = performance.now() + 3_000; performance.now() < endMs; await sleep(5)) {
      expect(leader.leads && other.leads).toBe(false)
    }
    expect(leader.leads || other.leads).toBe(true)
  })
})

/** The assignment of residues (header classes) to relays: the leaders' list in a real NATS store, on virtual time. */
import { type KV, Kvm } from '@nats-io/kv'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { withCreationTime } from '../../src/ground/chain/header.ts'
import { firstOfClass, isOfClass } from '../../src/ground/chain/nonce.ts'
import { workFromBytes } from '../../src/ground/chain/work.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { CLAIM_MS, RELAY_RESIDUES, Residues } from '../../src/mining/engine/fleet/residues.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { HEADER_MODULUS, OWN_STEP, RELAY_ALONE_MS, RESIDUE_MS } from '../../src/mining/fleet/messages.ts'
import { describeWith, lackOf } from '../needs.ts'
import { freshWork } from '../support/work.ts'
import { until } from '../wait.ts'
import { NatsBed } from './nats.ts'

describeWith(lackOf('nats-server'), 'the headers of relays', () => {
  const bed = new NatsBed()

  async function storeOf(fleet: string): Promise<{ readonly store: () => KV; readonly lose: () => Promise<void> }> {
    const setup = { addresses: [readNatsAddress(bed.nats.url)], trust: {}, fleet, agent: 'test' }
    const link = await FleetLink.open({ ...setup, clock: systemClock, random: Math.random }, null, AbortSignal.any([]))
    bed.cleanups.push(() => link.close())
    const make = () => new Kvm(link.jetstream).create(fleet, { history: 1 })
    let store = await make()
    const lose = async () => {
      await store.destroy()
      store = await make()
    }
    return { store: () => store, lose }
  }

  class Term {
    nowMs = 0
    readonly warnings: string[] = []
    prepared = 0
    prepare = async () => {
      if (++this.prepared === 1) throw new Error('no room')
    }
    readonly residues: Residues

    constructor(store: () => KV, random: () => number = Math.random) {
      const onWarning = (message: string) => void this.warnings.push(message)
      this.residues = new Residues({ store, random, nowMs: () => this.nowMs, prepare: this.prepare, onWarning })
    }

    /** Reports until the relay has a residue, and returns it. */
    async given(session: string, claim: number | null = null): Promise<number> {
      let residue: number | null = null
      await until(() => {
        residue = this.residues.report(session, claim)
        return residue !== null
      })
      return Number(residue)
    }
  }

  const begun = async (store: () => KV, random?: () => number) => {
    const term = new Term(store, random)
    await term.residues.begin()
    return term
  }

  it('residues are assigned once, and only when that is stored', async () => {
    const { store } = await storeOf('once')
    const term = await begun(store, () => 0)
    expect(term.residues.report('a', null), 'before it is kept').toBeNull()
    term.nowMs = CLAIM_MS
    expect(term.residues.report('a', null)).toBeNull()
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((session) => term.given(session)))
    expect(new Set(all).size).toBe(4)
    expect(all.every((residue) => RELAY_RESIDUES.includes(residue))).toBe(true)
    expect(await term.given('b'), 'it stays').toBe(all[1])
    expect((await store().get('relays'))?.json()).toHaveLength(4)
    expect(term.warnings).toEqual(['the shares of relays cannot be kept: no room'])
    // The relay reports again until the list is written.
    await until(() => term.residues.report('b', null) !== null && term.prepared === 2)
  })

  it('residues stay with a relay when the leader changes, and no other relay gets them', async () => {
    const { store } = await storeOf('next')
    const first = await begun(store, () => 0)
    first.nowMs = CLAIM_MS
    const [a, b] = [await first.given('a'), await first.given('b')]
    // The next leader would choose the same ones, and a new relay reports to it first.
    const second = await begun(store, () => 0)
    const c = await second.given('c')
    expect([a, b]).not.toContain(c)
    expect(await second.given('a', a)).toBe(a)
    expect(await second.given('b', b)).toBe(b)
    expect(await second.given('d', a), 'it says that it has what another one has').not.toBe(a)
  })

  it('residues of a relay that is cut off go to no other relay while it may use them, nor for ten minutes after', async () => {
    const { store } = await storeOf('restart')
    const term = await begun(store, () => 0)
    term.nowMs = CLAIM_MS
    const before = await term.given('before')
    const after = await term.given('after')
    expect(after).not.toBe(before)
    term.nowMs += RELAY_ALONE_MS + 10 * 60_000 - 1
    term.residues.expire()
    expect(await term.given('third')).not.toBe(before)
    term.nowMs += RESIDUE_MS - RELAY_ALONE_MS - 10 * 60_000 + 1
    term.residues.expire()
    expect(await term.given('fourth'), 'then they are free').toBe(before)
  })

  it('residues stay with their relays when NATS loses its store, even if the leader changes too', async () => {
    const { store, lose } = await storeOf('lost')
    const first = await begun(store, () => 0)
    first.nowMs = CLAIM_MS
    const a = await first.given('a')
    await lose()
    expect(await first.given('b'), 'the same leader knows').not.toBe(a)
    expect((await store().get('relays'))?.json()).toHaveLength(2)
    await lose()
    const second = await begun(store, () => 0)
    expect(second.residues.report('c', null), 'a new one waits').toBeNull()
    expect(await second.given('a', a)).toBe(a)
    expect(second.residues.report('c', null)).toBeNull()
    second.nowMs += CLAIM_MS
    expect(await second.given('c')).not.toBe(a)
  })

  it('residues are not assigned twice by two leaders if the first writes late', async () => {
    const { store } = await storeOf('late')
    const [old, next] = [await begun(store, () => 0), await begun(store, () => 0)]
    old.nowMs = CLAIM_MS
    next.nowMs = CLAIM_MS
    const a = await old.given('a')
    const b = await next.given('b')
    expect(b).not.toBe(a)
  })

  it('residues are 3,584, and no relay gets one beyond that', async () => {
    const { store } = await storeOf('full')
    const list = RELAY_RESIDUES.map((residue) => ({ session: `s-${residue}`, residue }))
    await store().put('relays', JSON.stringify(list))
    const term = await begun(store)
    expect(term.residues.report('one-more', null)).toBeNull()
    expect(term.warnings).toEqual(['3584 relays have all headers: no room for another one'])
  })

  it('residues count as free, with a warning, if the list is malformed', async () => {
    const { store } = await storeOf('garbage')
    await store().put('relays', 'garbage')
    const term = await begun(store)
    expect(term.warnings).toEqual([expect.stringMatching(/list of relays counts as empty, it cannot be read: .*JSON/)])
    term.nowMs = CLAIM_MS
    await term.given('a')
  })
})

it('the headers of a relay belong to no other relay and to no device of the fleet', () => {
  const residue = fc.constantFrom(...RELAY_RESIDUES)
  const time = fc.bigInt({ min: 1n, max: 2n ** 52n })
  const rolls = fc.bigInt({ min: 0n, max: 1_000_000n })
  fc.assert(
    fc.property(residue, residue, time, rolls, fc.nat(300_000), (one, other, given, rolled, elapsedMs) => {
      // Leaders set the creation time in whole milliseconds, and rigs of any version advance it by whole milliseconds.
      const leaders = firstOfClass(given, { residue: 0, modulus: OWN_STEP })
      const device = leaders + BigInt(elapsedMs) * 1000n
      const ofRelay = (each: number) =>
        firstOfClass(device, { residue: each, modulus: HEADER_MODULUS }) + rolled * BigInt(HEADER_MODULUS)
      expect(isOfClass(device, { residue: 0, modulus: OWN_STEP })).toBe(true)
      for (const each of [one, other]) expect(isOfClass(ofRelay(each), { residue: 0, modulus: OWN_STEP })).toBe(false)
      expect(ofRelay(one) === ofRelay(other)).toBe(one === other)
    }),
  )
})

it('the first time of a class is the earliest that is not before the given one', () => {
  const time = fc.bigInt({ min: 0n, max: 2n ** 60n })
  fc.assert(
    fc.property(time, fc.nat(HEADER_MODULUS - 1), (from, residue) => {
      const headers = { residue, modulus: HEADER_MODULUS }
      const first = firstOfClass(from, headers)
      expect(isOfClass(first, headers)).toBe(true)
      expect(first >= from && first < from + BigInt(HEADER_MODULUS)).toBe(true)
    }),
  )
  expect(workFromBytes(withCreationTime(freshWork(1n), 7n)).fields.creationTime).toBe(7n)
})

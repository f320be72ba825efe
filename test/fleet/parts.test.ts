/** The parts of a fleet that need no server: addresses, leases, the table of rigs, pauses and messages. */
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/ground/base/clock.ts'
import { MAX_NAMED, MemberTable } from '../../src/mining/engine/fleet/member-table.ts'
import { isPaused, NO_PAUSES, pausesAfter } from '../../src/mining/engine/fleet/pauses.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import {
  decodeCandidate,
  decodeMessage,
  encodeMessage,
  JobMessage,
  LEASE_MS,
  LEASES,
  ListAnswer,
  MemberReport,
  RELAY_ALONE_MS,
} from '../../src/mining/fleet/messages.ts'
import { Lease } from '../../src/mining/source/fleet/lease.ts'
import { RelayHeaders } from '../../src/mining/source/fleet/relay-headers.ts'

describe('the address of a NATS server', () => {
  it.each([
    ['nats://host', { host: 'host', port: 4222, tls: false, user: null, password: null, url: 'nats://host:4222' }],
    ['tls://host:5222/', { host: 'host', port: 5222, tls: true, user: null, password: null, url: 'tls://host:5222' }],
    ['nats://me:pa%40ss@h:1', { user: 'me', password: 'pa@ss', url: 'nats://h:1' }],
    ['nats://token@[::1]:4222', { host: '[::1]', user: 'token', password: null, url: 'nats://[::1]:4222' }],
  ])('the address of a NATS server is parsed: %s', (text, parts) => {
    expect(readNatsAddress(text)).toMatchObject(parts)
  })

  it.each(['host:4222', 'http://host', 'nats://', 'nats://me:secret@', 'nats://h:0', 'nats://h:99999', 'nats://a b'])(
    'the address of a NATS server refuses %s without repeating secrets',
    (text) => {
      const refused = () => readNatsAddress(text)
      expect(refused).toThrow(/cannot be read|expected 1 to 65535/)
      expect(refused).not.toThrow(/secret/)
    },
  )
})

/** A clock that the test sets; setting it runs the timers that are due. */
function handClock() {
  let nowMs = 0
  const timers = new Map<() => void, number>()
  const clock: Clock = {
    wallMs: () => nowMs,
    monotonicMs: () => nowMs,
    after: (delayMs, run) => {
      timers.set(run, nowMs + delayMs)
      return () => timers.delete(run)
    },
  }
  const set = (ms: number) => {
    nowMs = ms
    for (const [run, atMs] of timers) if (atMs <= ms && timers.delete(run)) run()
  }
  /** Runs all pending timers, due or not. */
  const run = () => {
    for (const early of [...timers.keys()]) if (timers.delete(early)) early()
  }
  return { clock, set, run }
}

describe('the lease of a rig', () => {
  it('the lease of a rig counts from the report, not from its answer', () => {
    const { clock, set } = handClock()
    let ends = 0
    const lease = new Lease(clock, () => ends++)
    expect(lease.fixedNonce).toBeNull()
    set(3000)
    expect(lease.renew(0xa5c3, 1000)).toBe(true)
    expect(lease.fixedNonce).toEqual({ bits: 16, value: 0xa5c3 })
    expect(lease.renew(0xa5c3, 2000)).toBe(false)
    set(2000 + LEASE_MS - 1)
    expect(lease.fixedNonce?.value).toBe(0xa5c3)
    expect(ends).toBe(0)
    set(2000 + LEASE_MS)
    expect(lease.fixedNonce).toBe(null)
    expect(ends).toBe(1)
    expect(lease.value, 'it asks for the same one again').toBe(0xa5c3)
    expect(lease.renew(7, 2000 + LEASE_MS)).toBe(true)
    expect(lease.renew(null, 2000 + LEASE_MS)).toBe(true)
    expect(lease.fixedNonce).toBeNull()
  })

  it.each([
    ['a lease', (clock: Clock, onEnd: () => void) => new Lease(clock, onEnd), (one: Lease) => one.fixedNonce],
    ['a class', (clock: Clock, onEnd: () => void) => new RelayHeaders(clock, onEnd), (one: RelayHeaders) => one.value],
  ])('the lifetime of %s is over at its end, even if a timer runs early', (_, create, searched) => {
    const { clock, set, run } = handClock()
    const held: unknown[] = []
    const one = create(clock, () => held.push(searched(one as never)))
    one.renew(3, 0)
    set(1000)
    run()
    expect(held).toEqual([])
    set(10 * Math.max(LEASE_MS, RELAY_ALONE_MS))
    expect(held).toEqual([null])
  })
})

const report = (session: string, changes: Partial<MemberReport> = {}): MemberReport => ({
  session,
  rig: session,
  version: '1',
  lease: null,
  seen: null,
  hashes: 0,
  rate: null,
  state: 'searching',
  reason: null,
  accepted: 0,
  refused: 0,
  ...changes,
})

describe('the table of rigs', () => {
  it('the table of rigs gives every rig a different lease, and the same one again', () => {
    const table = new MemberTable(() => 0.5)
    const leases = Array.from({ length: 1000 }, (_, i) => table.report(report(`r${i}`), 0))
    expect(new Set(leases).size).toBe(1000)
    expect(table.report(report('r7', { lease: 12 }), 1)).toBe(leases[7])
  })

  it('the table of rigs lets a rig keep the lease of another leader, unless a different rig has it', () => {
    const table = new MemberTable(() => 0.5)
    expect(table.report(report('a', { lease: 42 }), 0)).toBe(42)
    expect(table.report(report('b', { lease: 42 }), 0)).not.toBe(42)
  })

  it('the table of rigs reassigns a lease once its rig has been silent for the lease time, and not before', () => {
    const table = new MemberTable(() => 0.5)
    table.report(report('a', { lease: 42 }), 0)
    table.expire(LEASE_MS - 1)
    expect(table.report(report('b', { lease: 42 }), LEASE_MS - 1)).not.toBe(42)
    table.expire(LEASE_MS)
    expect(table.report(report('c', { lease: 42 }), LEASE_MS)).toBe(42)
    expect(table.countNamed('a')).toBe(0)
  })

  it('the table of rigs has no lease for the rig over the limit, and one when another rig leaves', () => {
    const table = new MemberTable(() => 0)
    for (let i = 0; i < LEASES; i++) table.report(report(`r${i}`, { lease: i }), 0)
    expect(table.report(report('late'), 1)).toBeNull()
    for (let i = 1; i < LEASES; i++) table.report(report(`r${i}`), 5000)
    table.report(report('late'), 5000)
    table.expire(LEASE_MS)
    expect(table.report(report('late'), LEASE_MS)).toBe(0)
  })

  it('the table of rigs counts what known rigs do, also between reports', () => {
    const table = new MemberTable(() => 0.5)
    table.report(report('a', { hashes: 1_000_000 }), 0)
    expect(table.hashes, 'before it was heard of').toBe(0)
    table.count('a', 1_000_300)
    table.report(report('a', { hashes: 1_000_200 }), 1)
    expect(table.hashes).toBe(300)
    table.report(report('a', { hashes: 1_000_500 }), 2)
    expect(table.hashes).toBe(500)
    // A restarted machine counts from zero.
    table.report(report('a2', { rig: 'a', hashes: 10 }), 3)
    table.report(report('a2', { rig: 'a', hashes: 30 }), 4)
    expect(table.hashes).toBe(520)
    expect(table.statuses(null)).toMatchObject([{ device: 'rig:a', hashes: 520 }])
  })

  it('the table of rigs shows rigs as paused, gone or faulty', () => {
    const table = new MemberTable(() => 0.5)
    expect(table.statuses(null)).toMatchObject([{ state: 'unable', reason: 'no rig is connected' }])
    table.report(report('a', { state: 'paused', reason: 'until noon' }), 0)
    expect(table.statuses(null)).toMatchObject([{ state: 'unable', reason: 'it is paused' }])
    table.report(report('a'), 1)
    expect(table.statuses(null)[0].state).toBeUndefined()
    table.fault('a')
    table.expire(LEASE_MS + 1)
    expect(table.statuses(null)).toMatchObject([{ faults: 1, reason: 'it is not connected' }])
    expect(table.statuses('it stands by')).toMatchObject([{ reason: 'it stands by' }])
  })

  it('the table of rigs names a bounded number of rigs, and counts the others as one', () => {
    const table = new MemberTable(() => 0.5)
    for (let i = 0; i < MAX_NAMED + 10; i++) {
      table.report(report(`r${i}`), 0)
      table.report(report(`r${i}`, { hashes: 10 }), 1)
    }
    const statuses = table.statuses(null)
    expect(statuses).toHaveLength(MAX_NAMED + 1)
    expect(statuses.at(-1)).toMatchObject({ device: 'rigs', hashes: 100 })
    expect(table.rows(MAX_NAMED + 5, 100, 1)).toHaveLength(5)
  })
})

describe('pauses', () => {
  it('pauses of one rig and of all rigs are independent', () => {
    const one = pausesAfter(NO_PAUSES, { pause: true, rig: 'a' })
    if (typeof one === 'string') throw new Error(one)
    expect([isPaused(one, 'a'), isPaused(one, 'b')]).toEqual([true, false])
    expect(pausesAfter(one, { pause: true, rig: 'a' })).toEqual(one)
    expect(pausesAfter(one, { pause: false, rig: 'a' })).toEqual(NO_PAUSES)
    const all = pausesAfter(one, { pause: true, rig: null })
    if (typeof all === 'string') throw new Error(all)
    expect(isPaused(all, 'b')).toBe(true)
    expect(pausesAfter(all, { pause: false, rig: 'a' })).toMatch(/all rigs are paused/)
    expect(pausesAfter(all, { pause: false, rig: null })).toEqual(NO_PAUSES)
  })
})

describe('messages', () => {
  it('messages survive encoding and decoding', () => {
    const message: JobMessage = { term: 3, number: 9, job: null }
    expect(decodeMessage(JobMessage, encodeMessage(message), 'job')).toEqual(message)
  })

  it('messages count hashes beyond 2^53, which a rig of 27 GH/s passes after four days', () => {
    const hashes = 3 * 2 ** 53
    expect(decodeMessage(MemberReport, encodeMessage(report('a', { hashes })), 'report').hashes).toBe(hashes)
    const table = new MemberTable(() => 0.5)
    table.report(report('a', { hashes: hashes / 3 }), 0)
    table.report(report('a', { hashes }), 1000)
    expect(table.hashes).toBe((hashes * 2) / 3)
    const list = { leader: 'here', version: '1', term: 1, network: '', account: '', allPaused: false, next: null }
    const rigs = table.rows(0, 1, 2000)
    expect(decodeMessage(ListAnswer, encodeMessage({ ...list, rigs }), 'list').rigs[0].hashes).toBe(hashes)
  })

  it('messages accept a rig named after a host with its domain', () => {
    const rig = `${'a'.repeat(60)}.${'b'.repeat(60)}.compute.internal`
    expect(decodeMessage(MemberReport, encodeMessage(report('a', { rig })), 'report').rig).toBe(rig)
  })

  const work = 'A'.repeat(382)
  const candidate = { job: '1-2', issuer: 'http://h', work, rig: 'a', session: 's', hashes: 5e20 }
  const decoded = (message: unknown) => decodeCandidate(encodeMessage(message), 'candidate')
  it('a candidate survives encoding and decoding', () => {
    expect(decoded(candidate)).toEqual(candidate)
  })

  it.each([
    [{ hashes: -1 }, { hashes: 0 }],
    [{ hashes: null }, { hashes: 0 }],
    [
      { rig: 'a b', session: '', more: 1 },
      { rig: 'unnamed', session: '' },
    ],
    [
      { job: 7, issuer: 'x'.repeat(501) },
      { job: '', issuer: '' },
    ],
  ])('a candidate with %j still has its work', (changes, taken) => {
    expect(decoded({ ...candidate, ...changes })).toEqual({ ...candidate, ...taken })
    expect(decoded({ work })).toMatchObject({ work, job: '', rig: 'unnamed', hashes: 0 })
  })

  it.each([{ ...candidate, work: 'A A' }, { ...candidate, work: undefined }, 'text', null])(
    'a candidate without work is invalid',
    (message) => {
      expect(() => decoded(message)).toThrow(/candidate/)
    },
  )

  it.each([
    ['{', /not JSON/],
    ['{}', /term/],
    ['{"term":-1,"number":1,"job":null}', /term/],
    ['{"term":1,"number":1,"job":{"id":"1","issuer":"x","reason":"start","work":"AA","target":"00"}}', /job/],
  ])('the message %s is refused, and the error says why', (text, why) => {
    expect(() => decodeMessage(JobMessage, new TextEncoder().encode(text), 'job')).toThrow(why)
  })
})

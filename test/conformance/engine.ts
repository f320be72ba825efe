/** Tests for every engine: the contract of src/mining/engine/engine.ts. @noble/hashes checks the hash of the complete work. */
import { expect, it } from 'vitest'
import { withCreationTime, withNonce } from '../../src/ground/chain/header.ts'
import { FREE_NONCE } from '../../src/ground/chain/nonce.ts'
import { meets, powHash } from '../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { type Candidate, type Engine, type EngineWork, noWork } from '../../src/mining/engine/engine.ts'
import { rotating } from '../rotation.ts'
import { freshWork, UNREACHABLE } from '../support/work.ts'
import { until } from '../wait.ts'

export interface EngineUnderTest {
  readonly create: () => Engine
  /** For engines whose hashes are reported late: resolves when the earlier hashes are counted. */
  readonly untilCounted?: (engine: Engine) => Promise<void>
  /** Work that the engine cannot search, and its warning. */
  readonly unsearchable: { readonly degree?: number; readonly bits?: number; readonly warning: RegExp }
  /** Whether the engine can leave nonce bits to a pool. */
  readonly keepsFixedBits: boolean
  /** Expected hashes for one candidate, chosen for a few candidates a second. */
  readonly difficulty: bigint
  /** Number of tests in a run that is not full, for an engine that starts slowly; default: all. */
  readonly some?: number
}

const WORK_BYTES = 286

/** Declares the tests; call it inside `describe`. */
export function engineConformance({
  create,
  untilCounted,
  unsearchable,
  keepsFixedBits,
  difficulty,
  some,
}: EngineUnderTest): void {
  const tests: (readonly [title: string, run: () => Promise<void>])[] = []
  const test = (title: string, run: () => Promise<void>) => void tests.push([title, run])
  const target = MAX_TARGET / difficulty

  function workOf(sequence: number, changes: Partial<EngineWork> = {}): EngineWork & { readonly bytes: Uint8Array } {
    const bytes = changes.bytes ?? freshWork(UNREACHABLE)
    return { sequence, job: `job ${sequence}`, target, fixedNonce: FREE_NONCE, ...changes, bytes }
  }

  /**
   * Another engine of the same kind starts, finds a candidate and stops. In that time an engine that is not silent
   * shows itself; nothing can prove silence.
   */
  const anotherFinds = () =>
    using(async ({ engine, seen }) => {
      await engine.setWork(workOf(1))
      await seen(1)
    })

  /** Expects no further reports and no further hashes. */
  async function expectSilence({ engine, candidates, warnings }: Session): Promise<void> {
    const countReports = () => [candidates.length, warnings.length, engine.hashes()]
    const before = countReports()
    await anotherFinds()
    expect(countReports()).toEqual(before)
  }

  /** Runs a test with a started engine, and stops the engine. */
  async function using(test: (session: Session) => Promise<void>): Promise<void> {
    const session = new Session(create())
    try {
      await session.start()
      await test(session)
    } finally {
      await session.engine.stop()
    }
  }

  test('the engine finds nonces that solve the work of their sequence', () =>
    using(async ({ engine, candidates, seen }) => {
      const work = workOf(7)
      expect(await engine.setWork(work)).toBe(true)
      await seen(2)
      const names = engine.devices().map(({ device }) => device)
      for (const { sequence, nonce, device, creationTime } of candidates) {
        expect(sequence).toBe(7)
        expect(meets(powHash(workWithNonce(work.bytes, nonce, creationTime)), target)).toBe(true)
        expect(names).toContain(device)
      }
      expect(new Set(candidates.map(({ nonce }) => nonce)).size).toBe(candidates.length)
    }))

  test('the engine warns once about unsearchable work, searches nothing, and continues with the next', () =>
    using(async ({ engine, candidates, warnings, seen }) => {
      const { degree = 3, bits = 0, warning } = unsearchable
      for (const sequence of [1, 2]) {
        const work = workOf(sequence, { bytes: freshWork(UNREACHABLE, degree), fixedNonce: { bits, value: 0 } })
        expect(await engine.setWork(work)).toBe(true)
      }
      await until(() => engine.devices().every(({ state }) => state === 'unable'))
      expect(warnings.filter((text) => warning.test(text))).toHaveLength(1)
      expect(candidates).toEqual([])
      await engine.setWork(workOf(3))
      await seen(1)
      expect(candidates[0].sequence).toBe(3)
      expect(engine.devices().every(({ state }) => state === undefined)).toBe(true)
    }))

  test('the engine reports nothing after a stop while it is busy', () =>
    using(async (session) => {
      const { engine, seen } = session
      await engine.setWork(workOf(1, { target: MAX_TARGET / 500n }))
      await seen(1)
      const pending = engine.setWork(workOf(2, { target: MAX_TARGET / 500n }))
      await engine.stop()
      await expectSilence(session)
      expect([true, false]).toContain(await pending)
      expect(await engine.setWork(workOf(3))).toBe(false)
    }))

  for (const bits of keepsFixedBits ? rotating([8, 16, 24, 32], some === undefined ? 4 : 1) : []) {
    test(`the engine keeps ${bits} fixed bits of the nonce`, () =>
      using(async ({ engine, candidates, seen }) => {
        const value = (bits > 16 ? 0xa5c3b7d9 : 0xa5c3) % 2 ** bits
        const work = workOf(1, { fixedNonce: { bits, value } })
        await engine.setWork(work)
        await seen(3)
        for (const { nonce } of candidates) {
          expect(BigInt.asUintN(bits, nonce)).toBe(BigInt(value))
          expect(meets(powHash(withNonce(work.bytes, nonce)), target)).toBe(true)
        }
      }))
  }

  test('the engine counts the hashes of a candidate before it reports it', () =>
    using(async (session) => {
      await session.engine.setWork(workOf(1))
      await session.seen(1)
      expect(session.hashesAtCandidates[0]).toBeGreaterThan(0)
    }))

  test('the engine counts as many hashes as its devices in total, and never fewer than before', () =>
    using(async ({ engine, seen }) => {
      await engine.setWork(workOf(1))
      await seen(1)
      const before = engine.hashes()
      const devices = engine.devices().reduce((sum, { hashes }) => sum + hashes, 0)
      const after = engine.hashes()
      expect(devices).toBeGreaterThanOrEqual(before)
      expect(devices).toBeLessThanOrEqual(after)
    }))

  test('the engine continues the same job under a newer creation time', () =>
    using(async ({ engine, candidates, seen }) => {
      const first = workOf(1)
      const second = { ...first, sequence: 2, bytes: withCreationTime(first.bytes, 99n) }
      await engine.setWork(first)
      expect(await engine.setWork(second)).toBe(true)
      await seen(2)
      for (const { sequence, nonce, creationTime } of candidates) {
        const { bytes } = sequence === 1 ? first : second
        expect(meets(powHash(workWithNonce(bytes, nonce, creationTime)), target)).toBe(true)
      }
    }))

  test('the engine reports late candidates with the sequence of their work', () =>
    using(async ({ engine, candidates, seen }) => {
      const works = Array.from({ length: 4 }, (_, index) => workOf(index + 1, { target: MAX_TARGET / 500n }))
      // Solutions of older work may arrive after newer work was set.
      for (const [i, work] of works.entries()) {
        void engine.setWork(work)
        await seen(i + 1)
      }
      for (const { sequence, nonce, creationTime } of candidates) {
        const { bytes } = works[sequence - 1]
        expect(meets(powHash(workWithNonce(bytes, nonce, creationTime)), MAX_TARGET / 500n)).toBe(true)
      }
    }))

  test('the engine resolves true for the newest of several works', () =>
    using(async ({ engine }) => {
      const answers = await Promise.all([1, 2, 3].map((sequence) => engine.setWork(workOf(sequence))))
      expect(answers[2]).toBe(true)
    }))

  test('the engine hashes nothing without work, and resumes with new work', () =>
    using(async ({ engine, seen, candidates }) => {
      await engine.setWork(workOf(1))
      await seen(1)
      expect(await engine.setWork(noWork(2))).toBe(true)
      // Hashes in progress when the work was cleared may still count.
      await anotherFinds()
      await untilCounted?.(engine)
      const before = engine.hashes()
      await anotherFinds()
      expect(engine.hashes()).toBe(before)
      await engine.setWork(workOf(3))
      await until(() => candidates.some(({ sequence }) => sequence === 3))
    }))

  test('the engine ends start() if it is stopped meanwhile, and reports nothing', async () => {
    const session = new Session(create())
    const started = session.start().catch(() => undefined)
    await session.engine.stop()
    await started
    await expectSilence(session)
  })

  for (const [title, run] of rotating(tests, some ?? tests.length)) it(title, run)
}

/** The work of a candidate, with its nonce and creation time. */
function workWithNonce(bytes: Uint8Array, nonce: bigint, creationTime: bigint | undefined): Uint8Array {
  return withNonce(creationTime === undefined ? bytes : withCreationTime(bytes, creationTime), nonce)
}

/** An engine and everything that it reported. */
class Session {
  readonly engine: Engine
  readonly candidates: Candidate[] = []
  readonly warnings: string[] = []
  /** The value of `hashes()` at each candidate. */
  readonly hashesAtCandidates: number[] = []

  constructor(engine: Engine) {
    this.engine = engine
  }

  start(): Promise<void> {
    return this.engine.start(WORK_BYTES, {
      onCandidate: (candidate) => {
        this.hashesAtCandidates.push(this.engine.hashes())
        this.candidates.push(candidate)
      },
      onWarning: (message) => void this.warnings.push(message),
    })
  }

  /** Resolves when `count` candidates have been reported. */
  readonly seen = (count: number) => until(() => this.candidates.length >= count)
}

/**
 * Tests for every source of work: the contract of src/mining/source/source.ts. Each source runs against a real counterpart,
 * which the test bed controls.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { withCreationTime } from '../../src/ground/chain/header.ts'
import { meets, powHash } from '../../src/ground/chain/pow.ts'
import type { FollowUp } from '../../src/ground/chain/solution.ts'
import type { Job, Solution, Source } from '../../src/mining/source/source.ts'
import { settle } from '../mine/virtual-clock.ts'
import { miss, solve } from '../solve.ts'
import { until } from '../wait.ts'

export interface SourceTestBed {
  readonly source: Source
  /** Another miner solves the work of this job. */
  readonly solveElsewhere: (job: Job) => Promise<void>
  /** Leaves all requests of the source unanswered until the returned function is called. */
  readonly hang: () => () => void
  readonly close: () => Promise<void>
  /** The last step of a good solution. Default: confirmed. */
  readonly goodEnd?: 'confirmed' | 'credited'
}

/** Runs a source and reads its jobs. */
export class SourceReader {
  readonly source: Source
  readonly jobs: (Job | null)[] = []
  readonly said: string[] = []
  readonly stop = new AbortController()
  readonly ended: Promise<void>

  constructor(source: Source) {
    this.source = source
    const events = {
      onTrouble: (message: string) => void this.said.push(message),
      onRecovered: (message: string) => void this.said.push(message),
    }
    this.ended = (async () => {
      for await (const job of source.jobs(this.stop.signal, events)) this.jobs.push(job)
    })()
  }

  /** Resolves when the newest job meets the condition. */
  async job(isWanted: (job: Job) => boolean = () => true): Promise<Job> {
    let found: Job | undefined
    await until(() => {
      const newest = this.jobs.at(-1)
      if (newest != null && isWanted(newest)) found = newest
      return found !== undefined
    })
    return found as Job
  }
}

export const solutionOf = (job: Job): Solution => ({ job, bytes: solve(job.work.bytes) })

/** All steps of a solution after its acknowledgement. */
export async function fateOf(source: Source, solution: Solution): Promise<FollowUp[]> {
  const steps: FollowUp[] = []
  for await (const step of source.follow(solution, new AbortController().signal)) steps.push(step)
  return steps
}

export function sourceConformance(name: string, start: () => Promise<SourceTestBed>): void {
  describe(name, () => {
    const cleanups: (() => unknown)[] = []
    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    async function startReader() {
      const bed = await start()
      cleanups.push(bed.close)
      const reader = new SourceReader(bed.source)
      cleanups.push(async () => {
        reader.stop.abort()
        await reader.ended
      })
      return { ...bed, reader }
    }

    it('the source gives jobs with an identity, of the promised length, that can be solved', async () => {
      const { source, reader } = await startReader()
      const job = await reader.job()
      expect(job.id).not.toBe('')
      expect(job.issuer).not.toBe('')
      expect(job.work.bytes).toHaveLength(source.workBytes)
      expect(job.target).toBeGreaterThanOrEqual(job.work.fields.target)
      expect(meets(powHash(solutionOf(job).bytes), job.target)).toBe(true)
      expect(source.description).not.toBe('')
    })

    it('the source gives every job a unique id', async () => {
      const { source, reader } = await startReader()
      for (let count = 0; count < 5; count++) {
        const { length } = reader.jobs
        const job = await reader.job()
        expect(await source.submit(solutionOf(job))).toEqual({ step: 'acknowledged' })
        await until(() => reader.jobs.slice(length).some((later) => later !== null))
      }
      const ids = reader.jobs.flatMap((job) => job?.id ?? [])
      expect(ids.length).toBeGreaterThanOrEqual(5)
      expect(new Set(ids).size).toBe(ids.length)
    })

    it('the source acknowledges a solution, and confirms it in its chain', async () => {
      const { source, reader, goodEnd = 'confirmed' } = await startReader()
      const solution = solutionOf(await reader.job())
      expect(await source.submit(solution)).toEqual({ step: 'acknowledged' })
      const [last] = (await fateOf(source, solution)).slice(-1)
      expect(last).toMatchObject({ step: goodEnd, ...(goodEnd === 'confirmed' && { depth: expect.any(Number) }) })
    })

    it("the source accepts a solution with a newer creation time than the job's", async () => {
      const { source, reader, goodEnd = 'confirmed' } = await startReader()
      const job = await reader.job()
      const bytes = solve(withCreationTime(job.work.bytes, job.work.fields.creationTime + 1n))
      expect(await source.submit({ job, bytes })).toEqual({ step: 'acknowledged' })
      expect(await fateOf(source, { job, bytes })).toMatchObject([{ step: goodEnd }])
    })

    it('the source rejects a solution that misses the target', async () => {
      const { source, reader } = await startReader()
      const job = await reader.job()
      expect(await source.submit({ job, bytes: miss(job.work.bytes) })).toMatchObject({
        step: 'rejected',
        reason: 'invalid-pow',
      })
    })

    it('the source replaces a job that another miner solves, with a new cut as the reason', async () => {
      const { source, solveElsewhere, reader } = await startReader()
      const lost = await reader.job()
      await until(() => source.connected)
      await solveElsewhere(lost)
      const job = await reader.job(({ id }) => id !== lost.id)
      expect(job.reason).toBe('newCut')
    })

    it('the source reports a late solution as stale', async () => {
      const { source, solveElsewhere, reader } = await startReader()
      const lost = await reader.job()
      await until(() => source.connected)
      await solveElsewhere(lost)
      await reader.job(({ id }) => id !== lost.id)
      const late = { job: lost, bytes: solve(lost.work.bytes, 1_000_000n) }
      const receipt = await source.submit(late)
      const end = receipt.step === 'acknowledged' ? (await fateOf(source, late)).at(-1) : receipt
      expect(end?.step).toBe('stale')
    })

    it('the source gives no ended job to a slow reader', async () => {
      const { source, close } = await start()
      cleanups.push(close)
      const stop = new AbortController()
      cleanups.push(() => stop.abort())
      const said = { onTrouble: () => undefined, onRecovered: () => undefined }
      const iterator = source.jobs(stop.signal, said)[Symbol.asyncIterator]()
      const next = async (): Promise<Job> => {
        const { value } = await iterator.next()
        return value ?? next()
      }
      const first = await next()
      await until(() => source.connected)
      const over = [first.work.fields.parent]
      let newest = first
      for (let i = 0; i < 3; i++) {
        // The source replaces its job while the reader does not read.
        const solution = solutionOf(newest)
        expect(await source.submit(solution)).toEqual({ step: 'acknowledged' })
        await fateOf(source, solution)
        newest = await next()
        expect(over).not.toContainEqual(newest.work.fields.parent)
        over.push(newest.work.fields.parent)
      }
    })

    it('the source gives another job, or none, while a solution of this one is pending', async () => {
      const { source, hang, reader } = await startReader()
      const job = await reader.job()
      const release = hang()
      const receipt = source.submit(solutionOf(job))
      await until(() => reader.jobs.at(-1)?.id !== job.id)
      release()
      expect(await receipt).toMatchObject({ step: 'acknowledged' })
      await reader.job(({ id }) => id !== job.id)
    })

    it('the source ends at once if it is stopped while requests hang, and reports nothing afterwards', async () => {
      const { hang, reader, solveElsewhere } = await startReader()
      const job = await reader.job()
      await until(() => reader.source.connected)
      const release = hang()
      const solved = solveElsewhere(job)
      reader.stop.abort()
      // The requests hang until the source has ended.
      await reader.ended
      const [jobs, said] = [reader.jobs.length, reader.said.length]
      release()
      await solved
      await settle()
      expect(reader.jobs.length).toEqual(jobs)
      expect(reader.said.length).toEqual(said)
    })

    it('the source gives no job if it was stopped before it began', async () => {
      const { source, close } = await start()
      cleanups.push(close)
      const said = { onTrouble: () => undefined, onRecovered: () => undefined }
      const jobs: unknown[] = []
      for await (const job of source.jobs(AbortSignal.abort(), said)) jobs.push(job)
      expect(jobs).toEqual([])
    })
  })
}

import { FREE_NONCE } from '../../src/ground/chain/nonce.ts'
import type { FollowUp } from '../../src/ground/chain/solution.ts'
import type { Work } from '../../src/ground/chain/work.ts'
import type { Job, Solution } from '../../src/mining/source/source.ts'

let jobs = 0

/** A job for this work, as a node would give it. */
export function jobOf(work: Work, parts: Partial<Job> = {}): Job {
  const { target } = work.fields
  const fixed = { issuer: 'test', fixedNonce: FREE_NONCE, manySolutions: false }
  return { id: `test ${++jobs}`, work, target, reason: 'newCut', noticedAtMs: 0, ...fixed, ...parts }
}

/** The work of a job as its solution, for nodes that do not check it. */
export function solutionOf(job: Job | null | undefined): Solution {
  if (job == null) throw new Error('there is no job')
  return { job, bytes: job.work.bytes }
}

/** All follow-ups of a solution. */
export async function followed(updates: AsyncIterable<FollowUp>): Promise<FollowUp[]> {
  const steps: FollowUp[] = []
  for await (const step of updates) steps.push(step)
  return steps
}

/** Solutions of a rig on their way to the leader: JetStream stores them, and the leader decides on their verdict. */
import { setMaxListeners } from 'node:events'
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError } from '#ground/base/errors.ts'
import { printable } from '#ground/base/printable.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import { type FollowUp, type Receipt, rejectReasons } from '#ground/chain/solution.ts'
import type { FleetLink } from '../../fleet/link.ts'
import { encodeMessage, SolutionOutcome } from '../../fleet/messages.ts'
import { type Job, type Solution, WORK_LIFE_MS } from '../source.ts'

interface SolutionSubmitterOptions {
  readonly link: FleetLink
  readonly rig: string
  readonly session: string
  readonly clock: Clock
  /** Hashes of the rig since its start. */
  readonly hashes: () => number
}

/** Pause between attempts to store a solution. */
const RETRY_MS = 200
const STORE_MS = 1_000
const ANSWER_MS = 1_000
/** First and longest interval between questions to the leader about a solution. */
const FIRST_ASK_MS = 30
const LAST_ASK_MS = 2_000
/** A solution that no leader knows is stored again after this time. */
const UNHEARD_MS = 5_000
/** Maximum time to ask for a verdict. If the leader cannot tell by then, nobody can. */
const FOLLOW_MS = 600_000

export class SolutionSubmitter {
  readonly #options: SolutionSubmitterOptions

  constructor(options: SolutionSubmitterOptions) {
    this.#options = options
  }

  /** Submits a solution. It is acknowledged once JetStream has it. After the signal aborts, makes one last attempt. */
  async submit({ job, bytes }: Solution, signal: AbortSignal): Promise<Receipt> {
    const { clock } = this.#options
    const endMs = clock.monotonicMs() + WORK_LIFE_MS
    const hash = hashOf(bytes)
    let problem = 'nobody answered'
    while (clock.monotonicMs() < endMs) {
      try {
        await this.#store(job, bytes, hash)
        return { step: 'acknowledged' }
      } catch (error) {
        problem = describeError(error)
      }
      if (signal.aborted) return { step: 'lost', reason: 'stopped', message: `the miner stopped, and ${problem}` }
      await sleep(clock, RETRY_MS, signal)
    }
    return { step: 'lost', reason: 'unreachable', message: `JetStream did not take it: ${problem}` }
  }

  /** Asks the leader until it knows the verdict or the signal aborts. */
  async *follow({ job, bytes }: Solution, signal: AbortSignal): AsyncGenerator<FollowUp, void, void> {
    const { clock, link } = this.#options
    setMaxListeners(0, signal)
    const hash = hashOf(bytes)
    const startMs = clock.monotonicMs()
    let unheardSinceMs = startMs
    let copies = 0
    let problem = 'it does not know yet'
    for (let pauseMs = FIRST_ASK_MS; !signal.aborted; pauseMs = Math.min(LAST_ASK_MS, 2 * pauseMs)) {
      await sleep(clock, pauseMs, signal)
      const nowMs = clock.monotonicMs()
      if (nowMs - startMs > FOLLOW_MS) {
        yield { step: 'unconfirmed', message: `the leader of the fleet could not say what became of it: ${problem}` }
        return
      }
      try {
        const outcome = await link.request(link.subjects.outcome, { hash }, SolutionOutcome, ANSWER_MS)
        const end = endOf(outcome)
        if (end !== null) {
          yield end
          return
        }
        if (outcome.step === 'working') unheardSinceMs = nowMs
        else if (nowMs - unheardSinceMs > UNHEARD_MS && nowMs - startMs < WORK_LIFE_MS) {
          // The current leader does not know it; perhaps the one that did is gone.
          await this.#store(job, bytes, `${hash}:${++copies}`)
          unheardSinceMs = nowMs
        }
      } catch (error) {
        // Ask again. The reports of the rig already show an outage.
        problem = describeError(error)
      }
    }
  }

  /**
   * Publishes a solution. JetStream stores each id once.
   * @throws errors of NATS
   */
  async #store({ id: job, issuer }: Job, bytes: Uint8Array, msgID: string): Promise<void> {
    const { link, rig, session, hashes } = this.#options
    const candidate = { job, issuer, work: encodeBase64Url(bytes), rig, session, hashes: hashes() }
    await link.jetstream.publish(link.subjects.candidate, encodeMessage(candidate), { msgID, timeout: STORE_MS })
  }
}

const hashOf = (bytes: Uint8Array) => encodeBase64Url(blockHash(bytes))

/**
 * @returns null while the verdict is open. Unlike the leader, a rig does not look further for a block that is not in
 * its chain.
 */
function endOf({ step, reason, message: text = '' }: SolutionOutcome): FollowUp | null {
  const message = printable(text)
  switch (step) {
    case 'accepted':
      return { step: 'credited' }
    case 'stale':
    case 'orphaned':
      return { step }
    case 'rejected':
      return { step, reason: rejectReasons.find((each) => each === reason) ?? 'unknown', message }
    case 'lost':
      // The leader gave it up when it stopped; the next leader submits it.
      return reason === 'stopped' ? null : { step, reason: 'unreachable', message }
    default:
      return null
  }
}

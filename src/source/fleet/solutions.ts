/** Solutions of a rig on their way to its leader: JetStream keeps them, and the leader says what became of them. */
import { setMaxListeners } from 'node:events'
import { blockHash } from '../../core/block-hash.ts'
import { encodeBase64Url } from '../../core/bytes.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { describeError } from '../../core/errors.ts'
import { printable } from '../../core/printable.ts'
import { type FollowUp, type Receipt, rejectReasons } from '../../core/solution.ts'
import type { Link } from '../../fleet/link.ts'
import { encodeMessage, Outcome } from '../../fleet/messages.ts'
import { type Job, type Solution, WORK_LIFE_MS } from '../source.ts'

export interface SolutionsOptions {
  readonly link: Link
  readonly rig: string
  readonly session: string
  readonly clock: Clock
  /** What the rig has searched since its start. */
  readonly hashes: () => number
}

/** Between two attempts to bring a solution to JetStream. */
const RETRY_MS = 200
const STORE_MS = 1_000
const ANSWER_MS = 1_000
/** How soon the leader is asked for the first time what became of a solution, and how seldom at last. */
const FIRST_ASK_MS = 30
const LAST_ASK_MS = 2_000
/** A solution that no leader has heard of for so long is sent anew. */
const UNHEARD_MS = 5_000
/** Whether a block counts is known by then, or nobody knows. */
const FOLLOW_MS = 600_000

export class Solutions {
  readonly #options: SolutionsOptions

  constructor(options: SolutionsOptions) {
    this.#options = options
  }

  /** Acknowledged once JetStream keeps it. Tries once more when the signal has aborted, and then no more. */
  async handIn({ job, bytes }: Solution, signal: AbortSignal): Promise<Receipt> {
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

  /** Asks the leader until it knows what became of it, or the signal aborts. */
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
        const outcome = await link.ask(link.subjects.outcome, { hash }, Outcome, ANSWER_MS)
        const end = endOf(outcome)
        if (end !== null) {
          yield end
          return
        }
        if (outcome.step === 'working') unheardSinceMs = nowMs
        else if (nowMs - unheardSinceMs > UNHEARD_MS && nowMs - startMs < WORK_LIFE_MS) {
          // Whoever leads now has not heard of it: perhaps the one that had is no more.
          await this.#store(job, bytes, `${hash}:${++copies}`)
          unheardSinceMs = nowMs
        }
      } catch (error) {
        // It is asked again. The reports of the rig tell of an outage.
        problem = describeError(error)
      }
    }
  }

  /** JetStream keeps one of each id. Throws what NATS throws. */
  async #store({ id: job, issuer }: Job, bytes: Uint8Array, msgID: string): Promise<void> {
    const { link, rig, session, hashes } = this.#options
    const candidate = { job, issuer, work: encodeBase64Url(bytes), rig, session, hashes: hashes() }
    await link.jetstream.publish(link.subjects.candidate, encodeMessage(candidate), { msgID, timeout: STORE_MS })
  }
}

const hashOf = (bytes: Uint8Array) => encodeBase64Url(blockHash(bytes))

/** null: it is not decided yet. The leader may look further for a block that is not in its chain; a rig does not. */
function endOf({ step, reason, message: text = '' }: Outcome): FollowUp | null {
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
      // One that its leader gave up when it stopped is handed in by the next.
      return reason === 'stopped' ? null : { step, reason: 'unreachable', message }
    default:
      return null
  }
}

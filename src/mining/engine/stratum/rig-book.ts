/** Records of rigs beyond their sessions: workers, users, shares and accounts, including those that are gone. */

import type { Clock } from '#ground/base/clock.ts'
import { printable } from '#ground/base/printable.ts'
import { Accounts } from '../../accounts/accounts.ts'
import { ShareRecorder } from '../../accounts/recorder.ts'
import type { RigNotice } from '../../accounts/rig-ledger.ts'
import { unpaidReason } from '../../accounts/user-account.ts'
import type { ShareVerdict } from '../../stratum/messages.ts'
import type { DeviceStatus } from '../engine.ts'
import type { RigCounts, StratumStatus } from '../rigs.ts'
import { RefusalCounter } from './refusal-counter.ts'
import type { Rig, Share } from './share.ts'
import { accountName, noShares, Users } from './users.ts'
import { nameAfterAccount, Workers } from './workers.ts'

/** Maximum number of notices kept before there is a listener: rigs may connect during the start. */
const MAX_EARLY = 16
/** Maximum number of users who are warned about because they cannot be paid: clients choose names freely. */
const MAX_UNPAID = 256
/** Length of a refused line in a notice. */
const MAX_LINE = 300

/** Opens the accounts, and passes on their notices. */
export type OpenRecorder = (onNotice: (notice: RigNotice) => void) => ShareRecorder

export class RigBook {
  readonly recorder: ShareRecorder
  readonly refusals = new RefusalCounter()
  readonly #clock: Clock
  readonly #workers = new Workers()
  readonly #users = new Users()
  readonly #shares = noShares()
  /** Users who cannot be paid and have logged in. */
  readonly #unpaid = new Set<string>()
  /** Null before there is a listener. */
  #receive: ((notice: RigNotice) => void) | null = null
  /** Notices from before there was a listener. */
  #early: RigNotice[] = []

  constructor(clock: Clock, open: OpenRecorder = inMemory(clock)) {
    this.#clock = clock
    this.recorder = open((notice) => this.notice(notice))
  }

  /** Registers a session that authorized for this user. */
  join(text: string): Rig {
    const presence = this.recorder.accounts.join(accountName(text), nameAfterAccount(text))
    this.#warnUnpaid(presence.user)
    return {
      worker: this.#workers.join(text, this.#clock.monotonicMs()),
      user: this.#users.join(text),
      presence,
    }
  }

  /** Warns once about a user who cannot be paid. Only a server with a share log pays for shares. */
  #warnUnpaid(user: string): void {
    if (this.recorder.storage === null || this.#unpaid.size > MAX_UNPAID || this.#unpaid.has(user)) return
    const reason = unpaidReason(user)
    if (reason === null) return
    this.#unpaid.add(user)
    const message =
      this.#unpaid.size > MAX_UNPAID
        ? `newcut payouts cannot pay more than ${MAX_UNPAID} users who have logged in; further ones are not named`
        : `newcut payouts cannot pay the user ${user}: ${reason}; its rigs may log in as k:KEY.NAME`
    this.notice({ type: 'warning', message })
  }

  /** Handles the end of a session. */
  leave(rigs: Iterable<Rig>): void {
    for (const { worker, user, presence } of rigs) {
      this.recorder.accounts.leave(presence)
      this.#workers.leave(worker, this.#clock.monotonicMs())
      user.sessions--
    }
  }

  /**
   * Counts a share once its answer is decided.
   * @param line the line of the rig
   */
  count({ rig, hashes, isUnknownJob }: Share, verdict: ShareVerdict, line: string): void {
    this.#shares[verdict]++
    if (rig === null) return
    const { worker, user, presence } = rig
    worker.shares[verdict]++
    user.shares[verdict]++
    if (verdict === 'accepted') {
      user.hashes += hashes
      return
    }
    if (!this.recorder.refuse(presence.user, presence.worker, verdict, isUnknownJob)) return
    const message = `first refused share of ${worker.device} of ${presence.user}: ${verdict}; its line was: `
    this.notice({ type: 'detail', message: message + printable(line, MAX_LINE) })
  }

  /** @param unable why no rig can search the current work, or null if connected rigs can */
  devices(unable: string | null): DeviceStatus[] {
    return this.#workers.statuses(this.#clock.monotonicMs(), unable)
  }

  /** @param sessions number of open connections */
  status(sessions: number): StratumStatus {
    const refused = new Map<string, RigCounts['refusedAs']>()
    for (const { user, worker, warning } of this.recorder.accounts.all)
      if (warning !== null) refused.set(this.#workers.deviceOf(user, worker), warning.reason)
    const rigs = this.#workers.counts().map((rig) => ({ ...rig, refusedAs: refused.get(rig.device) ?? null }))
    const isLogWell = this.recorder.storage === null ? null : this.recorder.isWell
    const users = this.#users.statuses()
    return { sessions, shares: { ...this.#shares }, refusals: this.refusals.counts(), users, rigs, isLogWell }
  }

  /** Sets the listener of notices; earlier ones come first. */
  setNoticeListener(receive: (notice: RigNotice) => void): void {
    this.#receive = receive
    for (const notice of this.#early.splice(0)) receive(notice)
  }

  notice(notice: RigNotice): void {
    if (this.#receive !== null) this.#receive(notice)
    else if (this.#early.length < MAX_EARLY) this.#early.push(notice)
  }
}

/** Accounts without a share log, which end with the process. */
function inMemory(clock: Clock): OpenRecorder {
  return (onNotice) => {
    const onWarning = (message: string, isWell: boolean) =>
      onNotice({ type: isWell ? 'recovered' : 'warning', message })
    return new ShareRecorder(null, new Accounts({ onWarning }), clock, onNotice)
  }
}

/** The accounts of all workers: the one source of what `newcut rigs`, HTTP, dashboard and metrics show of them. */
import { accountKey, minuteOf, type RefusedVerdict, type SavedAccount, WorkerAccount } from './account.ts'
import { isForgotten, judgeAccount, warningText } from './rig-warnings.ts'
import type { RefusedShares, ShareEntry, ShareReader } from './share-store.ts'

/** Workers with an account. Beyond it those that were silent for longest are dropped; their shares stay in the log. */
export const MAX_ACCOUNTS = 65_536
/** So many are dropped at once. */
const DROPPED = 1024

/** Whom a share is of. */
type Identity = Pick<Presence, 'key' | 'user' | 'worker' | 'agent' | 'address'>

/** A connection of a worker, and what is known of it now. The stratum server fills it. */
export interface Presence {
  readonly key: string
  readonly user: string
  readonly worker: string
  agent: string
  address: string
  /** Hashes a second that its newest shares tell; null: not known. */
  rate: number | null
  /** Hashes a second that its program says; null: it says nothing. */
  announced: number | null
  /** Hashes that its shares take now; null: it was told none. */
  difficulty: number | null
}

/** What saved accounts have counted. */
export interface SavedThrough {
  /** All shares up to this time of day, and none after it. */
  readonly throughMs: number
  /** All refusals of the minutes before that of this time; of its own minute those that the account itself tells. */
  readonly savedMs: number
}

/** Where accounts are saved. */
export interface AccountStore {
  /** null: nothing was saved. */
  load(): Promise<(SavedThrough & { readonly accounts: readonly SavedAccount[] }) | null>
  /** Replaces accounts and removes others, all at once. */
  save(change: SavedChange): Promise<void>
}

export interface SavedChange extends SavedThrough {
  readonly changed: readonly SavedAccount[]
  readonly dropped: readonly Pick<WorkerAccount, 'user' | 'worker'>[]
}

export interface AccountsOptions {
  /** Told once when a worker has trouble, and once when it is well again. */
  readonly onWarning: (message: string, isWell: boolean) => void
  readonly maxAccounts?: number
}

/** The longest time that shares are replayed of where nothing was saved. */
const REPLAY_MS = 7 * 86_400_000

export class Accounts {
  readonly #options: AccountsOptions
  readonly #accounts = new Map<string, WorkerAccount>()
  readonly #present = new Map<string, Presence[]>()
  readonly #changed = new Set<WorkerAccount>()
  readonly #dropped = new Map<string, WorkerAccount>()
  /** Of the newest share that is counted. */
  #throughMs = 0

  constructor(options: AccountsOptions) {
    this.#options = options
  }

  /** Those with shares, in no order. */
  get all(): Iterable<WorkerAccount> {
    return this.#accounts.values()
  }

  get size(): number {
    return this.#accounts.size
  }

  /** Time of the newest share that is counted; 0: of none. */
  get throughMs(): number {
    return this.#throughMs
  }

  get(user: string, worker: string): WorkerAccount | undefined {
    return this.#accounts.get(accountKey(user, worker))
  }

  /** Connections of workers, by key. */
  get present(): ReadonlyMap<string, readonly Presence[]> {
    return this.#present
  }

  /** A connection of a worker begins. */
  join(user: string, worker: string): Presence {
    const key = accountKey(user, worker)
    const presence = { key, user, worker, agent: '', address: '', rate: null, announced: null, difficulty: null }
    const others = this.#present.get(key)
    if (others === undefined) this.#present.set(key, [presence])
    else others.push(presence)
    return presence
  }

  leave(presence: Presence): void {
    const others = this.#present.get(presence.key)?.filter((each) => each !== presence) ?? []
    if (others.length === 0) this.#present.delete(presence.key)
    else this.#present.set(presence.key, others)
  }

  /** Counts a share. Times never fall. */
  accept(by: Omit<Identity, 'key'> & Partial<Identity>, difficulty: number, isBlock: boolean, timeMs: number): void {
    const account = this.#of(by.user, by.worker, by.key)
    account.accept(by, difficulty, isBlock, timeMs)
    this.#changed.add(account)
    if (timeMs > this.#throughMs) this.#throughMs = timeMs
    if (account.warning !== null) this.#judge(account, timeMs)
  }

  /** Counts a share of the log. In the order of time and id. */
  acceptKept(share: ShareEntry): void {
    this.accept(share, share.difficulty, share.block !== null, share.timeMs)
  }

  /** Counts a refusal. */
  refuse(user: string, worker: string, verdict: RefusedVerdict, timeMs: number, isUnknownJob = false): WorkerAccount {
    const account = this.#of(user, worker)
    account.refuse(verdict, timeMs, 1, isUnknownJob)
    this.#changed.add(account)
    this.#judge(account, timeMs)
    return account
  }

  /** Takes up what was saved, and the shares since. `nowMs`: time of day. */
  async restore(saved: AccountStore | null, log: Omit<ShareReader, 'close'>, nowMs: number): Promise<void> {
    const state = (await saved?.load()) ?? null
    for (const each of state?.accounts ?? []) {
      const account = new WorkerAccount(each.user, each.worker, each)
      this.#accounts.set(account.key, account)
    }
    this.#throughMs = state?.throughMs ?? 0
    const oldestMs = nowMs - REPLAY_MS
    for await (const share of log.shares({ fromMs: state === null ? oldestMs : state.throughMs + 1 }))
      this.acceptKept(share)
    const fromMs = minuteOf(state?.savedMs ?? oldestMs)
    for await (const refused of log.refused({ fromMs })) this.#restoreRefused(refused)
  }

  /** Saves what has changed. The log has the refusals so far. What is counted meanwhile is saved the next time. */
  async save(to: AccountStore, nowMs: number): Promise<void> {
    for (const account of this.#accounts.values()) {
      if (!isForgotten(account, nowMs)) continue
      account.warning = null
      this.#changed.add(account)
    }
    const [changed, dropped] = [[...this.#changed], [...this.#dropped]]
    if (changed.length + dropped.length === 0) return
    // Text or copies: accounts change while it is written.
    const states = changed.map((account) => structuredClone(account.saved()))
    const through = { throughMs: this.#throughMs, savedMs: nowMs }
    this.#changed.clear()
    this.#dropped.clear()
    try {
      await to.save({ ...through, changed: states, dropped: dropped.map(([, account]) => account) })
    } catch (error) {
      for (const account of changed) if (this.#accounts.get(account.key) === account) this.#changed.add(account)
      for (const [key, account] of dropped) if (!this.#accounts.has(key)) this.#dropped.set(key, account)
      throw error
    }
  }

  /** What the log has of a minute beyond what was saved of it. */
  #restoreRefused({ user, worker, verdict, minuteMs, count }: RefusedShares): void {
    const account = this.#of(user, worker)
    const missing = count - account.refusedIn(minuteMs, verdict)
    if (missing <= 0) return
    account.refuse(verdict, minuteMs, missing)
    this.#changed.add(account)
  }

  #judge(account: WorkerAccount, nowMs: number): void {
    const found = judgeAccount(account, nowMs)
    if (found !== null) this.#options.onWarning(warningText(account), found === 'well')
  }

  #of(user: string, worker: string, key = accountKey(user, worker)): WorkerAccount {
    const known = this.#accounts.get(key)
    if (known !== undefined) return known
    if (this.#accounts.size >= (this.#options.maxAccounts ?? MAX_ACCOUNTS)) this.#drop()
    const account = new WorkerAccount(user, worker)
    this.#accounts.set(key, account)
    this.#dropped.delete(key)
    return account
  }

  /** Makes room: those go that were silent for longest. */
  #drop(): void {
    const most = this.#options.maxAccounts ?? MAX_ACCOUNTS
    const silent = [...this.#accounts.values()].toSorted((a, b) => a.heardMs - b.heardMs || (a.key < b.key ? -1 : 1))
    for (const account of silent.slice(0, Math.min(DROPPED, Math.ceil(most / 4)))) {
      this.#accounts.delete(account.key)
      this.#changed.delete(account)
      this.#dropped.set(account.key, account)
    }
  }
}

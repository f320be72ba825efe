/**
 * Control of a development network from the process that started it. Every call is a control request to its interface.
 */
import { errorRows, fileProblem, operatingError } from '#ground/base/errors.ts'
import { type AnswerRequest, type FetchedAnswer, fetchAnswer, textOfAnswer } from '#ground/base/http-answer.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { readUserText } from '#ground/base/user-file.ts'
import type {
  ClockState,
  DevnetStatus,
  MadeBlocks,
  ResetResult,
  RevertResult,
  Simulated,
  SimulateRequest,
  SnapshotResult,
} from '#ground/schema/control.ts'
import type {
  DropResult,
  GasRequest,
  GasState,
  ImpersonateResult,
  RowsRequest,
  RowsResult,
  RunRequest,
  RunResult,
} from '#ground/schema/control-commands.ts'
import { fundRequest } from '#ground/schema/fund-request.ts'
import type { PactPage } from '#ground/schema/pacts.ts'
import type { Static } from '#ground/schema/typebox.ts'
import type { DevnetFork } from './copy/open-copy.ts'
import type { EmbeddedNode } from './devnet.ts'

/** Longest wait for a control request: some make blocks with proof of work, or move a state of hundreds of MiB. */
const REQUEST_TIMEOUT_MS = 300_000
/** Maximum bytes of a state, which is held in memory: a buffer of Node.js may have 2 GiB on every platform. */
const MAX_STATE_BYTES = 2 * 1024 * 1024 * 1024

/** Errors of a request to the network, and what to do about each. */
export const controlErrors = errorRows({
  closed: { code: 'NODE_UNREACHABLE', text: 'the network is closed', hint: 'start another one' },
  cutUnreadable: {
    code: 'BAD_INPUT',
    text: 'cut: {cut}: {why}',
    hint: 'it takes a height, the text of a cut, or a file with one',
  },
  refused: {
    code: 'NODE_REFUSED',
    text: 'the network refused {path} with status {status}: {answer}',
    noHint: 'the answer of the network says what it expects',
  },
  notFunded: {
    code: 'NODE_REFUSED',
    text: '{account} got no coins: {why}',
    hint: 'name a k: account, or an account that exists',
  },
})

/** Blocks that a control request made. */
export type Mined = Static<typeof MadeBlocks>
/** The clock of a network. */
export type DevnetClock = Static<typeof ClockState>
/** Outcome of code that ran with privileges. */
export type PrivilegedRun = Static<typeof RunResult>
/** Code to run with privileges. */
export type PrivilegedCode = RunRequest
/** Rows of a table: key to fields. */
export type TableRows = RowsRequest['rows']
/** Rows that were written, and their block. */
export type WrittenRows = RowsResult
/** Gas that a node is to take. */
export type GasChange = GasRequest
/** Gas that a node takes. */
export type GasSettings = GasState
/** Transactions that were dropped. */
export type DroppedTransactions = DropResult
/** Network after a revert. */
export type RevertedNetwork = Static<typeof RevertResult>

/** Choice of pacts. */
export interface PactChoice {
  /** Only unfinished ones. */
  readonly open?: boolean
  /** Maximum number of pacts in the page. Default 50; at most 200. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly next?: string
  /** Only this pact. On a fork, it may have begun below the pin. */
  readonly pactId?: string
}

/** Blocks to simulate. */
export type SimulatedBlocks = SimulateRequest['blocks']
/** Results of a simulation. */
export type SimulationResult = Static<typeof Simulated>

/** Network after a reset. */
export type ResetNetwork = Static<typeof ResetResult>
/** The network to which a reset turns a node. */
export interface NetworkChange {
  /** Fields that are left out, except the cut, are as at the start of the node. Null for a network of its own. */
  readonly fork: Partial<DevnetFork> | null
}

/** The clock of a network. Times are a Date, or a text such as `2027-01-01T00:00:00Z`. */
export interface DevnetTime {
  /** Sets the clock, which goes on from there. */
  readonly controlsOf: (time: Date | string) => Promise<DevnetClock>
  /** Moves the clock by milliseconds; a negative number moves it back. */
  readonly advance: (ms: number) => Promise<DevnetClock>
  /** Gives the next block this time; the clock stands still until then. */
  readonly nextBlock: (time: Date | string) => Promise<DevnetClock>
  /** Makes each block this many milliseconds later than the one before it; null sets the clock going. */
  readonly every: (ms: number | null) => Promise<DevnetClock>
}

/**
 * Control requests to a network. All of them throw NewcutError `NODE_REFUSED` with the text of the network, or
 * `NODE_UNREACHABLE` once it is closed.
 */
export interface DevnetControl {
  /** Makes blocks: chain to number of blocks. Chains that hold them up grow too. */
  readonly mine: (counts: Readonly<Record<number, number>>) => Promise<Mined>
  readonly time: DevnetTime
  /**
   * Stops or starts checking signatures of these public keys.
   * @returns all keys whose signatures are not checked
   */
  readonly impersonate: (keys: readonly string[], on?: boolean) => Promise<readonly string[]>
  /** Drops pending transactions by request key, or all of them. */
  readonly drop: (requestKeys: readonly string[] | 'all') => Promise<DroppedTransactions>
  /** Runs code with admin rights and granted capabilities, in a block that it makes. */
  readonly run: (order: PrivilegedCode) => Promise<PrivilegedRun>
  /**
   * Runs commands in temporary blocks: the network stays as it is. Signatures are not checked.
   * @param blocks - each element is one block of each chain
   * @param options - `trace` adds the steps of each command
   */
  readonly simulate: (blocks: SimulatedBlocks, options?: { readonly trace?: boolean }) => Promise<SimulationResult>
  /**
   * Writes rows of a table, such as `coin.coin-table`, in a block that it makes. A row that exists keeps the fields
   * that are left out.
   */
  readonly rows: (chain: number, table: string, rows: TableRows) => Promise<WrittenRows>
  /**
   * Mints coins for an account, which must be a `k:` account or exist.
   * @param amount such as 100 or '0.5'
   * @param chain default 0
   */
  readonly fund: (account: string, amount: number | string, chain?: number) => Promise<PrivilegedRun>
  /** Sets the gas limit of the next blocks, and the lowest gas price of commands. */
  readonly gas: (terms: GasChange) => Promise<GasSettings>
  /** A page of pacts. */
  readonly pacts: (choice?: PactChoice) => Promise<PactPage>
  /** The whole network as bytes: `startDevnet({ state })` begins with them. */
  readonly state: () => Promise<Uint8Array>
  /** Takes a snapshot. @returns its id */
  readonly snapshot: () => Promise<number>
  /** Goes back to a snapshot, and drops it and all later ones. */
  readonly revert: (id: number) => Promise<RevertedNetwork>
  /**
   * Goes back to the start of the network, and undoes what control requests have set: no new network for each test
   * file. With `fork`, turns the node to a fork of another network or at another cut; `fork: null` begins a new network
   * of its own. The port stays the same, and the properties of the network become those of the new one.
   */
  readonly reset: (change?: NetworkChange) => Promise<ResetNetwork>
  /**
   * Runs `fixture` once. Later calls with the same function restore the network as it was after that run.
   * @returns what `fixture` returned
   */
  readonly loadFixture: <T>(fixture: () => T | Promise<T>) => Promise<T>
}

interface LoadedFixture {
  readonly id: number
  readonly result: unknown
}

/** Where control requests go, and the signal that ends them. */
interface Target {
  readonly url: string
  readonly signal: AbortSignal
}

/** Adds control requests to a node. They end with NewcutError NODE_UNREACHABLE once the node closes. */
export function withControl(node: EmbeddedNode): EmbeddedNode & DevnetControl {
  const closing = new AbortController()
  const { url, close } = node
  return Object.assign(node, controlOf({ url, signal: closing.signal }), {
    close: () => {
      closing.abort(operatingError(controlErrors.closed))
      return close()
    },
  })
}

function controlOf(target: Target): DevnetControl {
  const fixtures = new Map<() => unknown, LoadedFixture>()
  const call = <T>(path: string, body: unknown) => send<T>(target, path, body)
  const clock = (body: unknown) => call<DevnetClock>('clock', body)
  const snapshot = async () => (await call<SnapshotResult>('snapshot', {})).id
  const revert = async (id: number) => {
    const reverted = await call<RevertedNetwork>('revert', { id })
    for (const [fixture, loaded] of fixtures) if (loaded.id >= id) fixtures.delete(fixture)
    return reverted
  }
  return {
    mine: (counts) => call('make-blocks', counts),
    time: {
      controlsOf: (time) => clock({ to: timeText(time) }),
      advance: (advanceMs) => clock({ advanceMs }),
      nextBlock: (time) => clock({ nextBlock: timeText(time) }),
      every: (everyMs) => clock({ everyMs }),
    },
    impersonate: async (keys, on = true) =>
      (await call<Static<typeof ImpersonateResult>>('impersonate', { keys, on })).keys,
    drop: (requestKeys) => call('drop', requestKeys === 'all' ? { all: true } : { requestKeys }),
    run: (code) => call('run', code),
    simulate: (blocks, options = {}) => call('simulate', { blocks, ...options }),
    rows: (chain, table, rows) => call('rows', { chain, table, rows }),
    fund: async (account, amount, chain = 0) => {
      const { minting } = jsonOf<DevnetStatus>(await request(target, 'status'))
      const ran = await call<PrivilegedRun>('run', fundRequest({ account, amount: String(amount), chain }, minting))
      expectFunded(account, ran)
      return ran
    },
    gas: (terms) => call('gas', terms),
    pacts: (choice = {}) => pactsOf(target, choice),
    state: async () => (await request(target, 'state', { maxBytes: MAX_STATE_BYTES })).bytes,
    snapshot,
    revert,
    reset: async (change) => {
      const done = await call<ResetNetwork>('reset', change === undefined ? {} : resetBody(change))
      fixtures.clear()
      return done
    },
    loadFixture: async <T>(fixture: () => T | Promise<T>) => {
      const known = fixtures.get(fixture)
      if (known !== undefined) await revert(known.id)
      const result = known === undefined ? await fixture() : (known.result as T)
      fixtures.set(fixture, { id: await snapshot(), result })
      return result
    },
  }
}

/** The node reads no files for a control request: a file with a cut is read here. @throws NewcutError BAD_INPUT */
function resetBody({ fork }: NetworkChange): unknown {
  const { cut } = fork ?? {}
  if (cut === undefined || /^\s*(\{|\d+$)/.test(cut)) return { fork }
  try {
    return { fork: { ...fork, cut: readUserText(cut) } }
  } catch (error) {
    throw operatingError(controlErrors.cutUnreadable, { cut, why: fileProblem(error) }, error)
  }
}

async function pactsOf(target: Target, choice: PactChoice): Promise<PactPage> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(choice)) query.set(name, String(value))
  for (;;) {
    const page = jsonOf<PactPage>(await request(target, `pacts?${query}`))
    // One request searches some thousand blocks at most.
    if (page.unread === 0) return page
  }
}

/** An answer of status 200 to 299. @throws NewcutError NODE_REFUSED for another, NODE_UNREACHABLE for none */
async function request(
  { url, signal }: Target,
  path: string,
  options: Partial<AnswerRequest> = {},
): Promise<FetchedAnswer> {
  const answer = await fetchAnswer(`${url}/devnet/${path}`, { timeoutMs: REQUEST_TIMEOUT_MS, signal, ...options })
  if (answer.ok) return answer
  const { status } = answer
  throw operatingError(controlErrors.refused, { path: `/devnet/${path}`, status, answer: textOfAnswer(answer) })
}

const jsonOf = <T>(answer: FetchedAnswer) => parsePlainJson(textOfAnswer(answer)) as T

function expectFunded(account: string, { result }: PrivilegedRun): void {
  const { status, error } = result as { readonly status: string; readonly error?: { readonly message?: string } }
  if (status === 'success') return
  throw operatingError(controlErrors.notFunded, { account, why: error?.message ?? status })
}

const timeText = (time: Date | string) => (typeof time === 'string' ? time : time.toISOString())

async function send<T>(target: Target, path: string, body: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  return jsonOf(await request(target, path, { method: 'POST', headers, body: JSON.stringify(body) }))
}

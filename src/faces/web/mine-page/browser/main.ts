/** The mining page at /mine: one button. */
import { backoffMs } from '#ground/base/backoff.ts'
import { sleep } from '#ground/base/clock.ts'
import { describeError } from '#ground/base/errors.ts'
import type { MinerBody } from '#ground/schema/bodies.ts'
import type { AboutNetwork } from '../wire.ts'
import { pageClock } from './clock.ts'
import { openDevice, type SearchDevice } from './device.ts'
import { about, fetchShader } from './gateway.ts'
import { type MinerEvents, PageMiner, type WorkShown } from './miner.ts'
import { Problem } from './problem.ts'
import { RateMeter } from './rate.ts'
import { MineView } from './view.ts'

const REDRAW_MS = 500
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 15_000
/** Accounts for which this browser has mined, the last one first. */
const STORED_ACCOUNTS = 'newcut.accounts'
const MAX_STORED_ACCOUNTS = 8
const MAX_ACCOUNT_LENGTH = 256

const view = new MineView()
const meter = new RateMeter()
let network: AboutNetwork | null = null
let running: AbortController | null = null
let hashes = 0
let mined: WorkShown | null = null

/** Requests the node's description until it answers. Rejects with the signal's reason. */
async function meet(signal: AbortSignal): Promise<AboutNetwork> {
  for (let attempt = 0; network === null; attempt++) {
    signal.throwIfAborted()
    try {
      network = await about(signal)
      const { network: name, chains, account, accounts } = network
      view.network(`${name} · ${chains} ${chains === 1 ? 'chain' : 'chains'}`)
      if (view.account.value === '') view.account.value = account.account
      view.suggest([account.account, ...usedAccounts(), ...accounts.map((each) => each.account)])
    } catch (error) {
      signal.throwIfAborted()
      view.network('the node does not answer')
      if (running !== null) view.show('waiting', `No answer from the node: ${describeError(error)}. Retrying.`)
      await sleep(pageClock, backoffMs({ firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS }, attempt, Math.random), signal)
    }
  }
  return network
}

/**
 * Reads the account field.
 * @throws Problem
 */
function accountOf({ account: usual, accounts }: AboutNetwork): MinerBody {
  const text = view.account.value.trim()
  if (text === '') return usual
  const known = [usual, ...accounts].find(({ account }) => account === text)
  if (known !== undefined) return known
  if (!/^k:[0-9a-f]{64}$/.test(text)) {
    view.accountProblem('Not an account: enter k: and 64 lower-case hex digits')
    throw new Problem(
      'There is no account to pay.',
      'Correct the account below, or clear the field to use the default.',
    )
  }
  return { account: text, predicate: 'keys-all', 'public-keys': [text.slice(2)] }
}

/** A browser that stores nothing remembers none. */
function usedAccounts(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_ACCOUNTS) ?? '[]')
    return Array.isArray(stored) ? stored.filter((each): each is string => typeof each === 'string') : []
  } catch {
    return []
  }
}

/** Remembers an account for the next visit. */
function noteUsed(account: string): void {
  const others = usedAccounts().filter((each) => each !== account && each.length <= MAX_ACCOUNT_LENGTH)
  try {
    localStorage.setItem(STORED_ACCOUNTS, JSON.stringify([account, ...others].slice(0, MAX_STORED_ACCOUNTS)))
  } catch {
    // The page works without.
  }
}

function eventsFor({ software }: SearchDevice, { account }: MinerBody, stopped: AbortSignal): MinerEvents {
  const advice = software ? 'This is a software driver, so mining is slow.' : null
  // Keep the line the same for all work: screen readers announce every change.
  const payee = account.length > 24 ? `${account.slice(0, 10)}…${account.slice(-6)}` : account
  const mining = () => view.show('mining', `Mining for ${payee}.`, advice)
  return {
    onHashes: (count) => {
      hashes += count
    },
    onWork: (work) => {
      mined = work
      view.work(work)
      mining()
    },
    onEnd: (end) => view.end(end, new Date()),
    onWrongHash: () => {
      // The last batches report after the end.
      if (stopped.aborted) return
      view.show('mining', 'The graphics card reported a wrong nonce, which was not sent.')
    },
    onTrouble: (message, pauseMs) => {
      view.show('waiting', `No work: ${message}. Retrying in ${Math.ceil(pauseMs / 1000)} s.`)
    },
    onRecovered: mining,
  }
}

async function mine(stopped: AbortSignal): Promise<void> {
  view.accountProblem(null)
  view.show('starting', 'Connecting to the node.')
  const node = await meet(stopped)
  const account = accountOf(node)
  noteUsed(account.account)
  view.show('starting', 'Testing the graphics card.')
  const device = await openDevice(await fetchShader(stopped))
  view.device(device.name)
  try {
    stopped.throwIfAborted()
    view.show('starting', 'Waiting for work.')
    const events = eventsFor(device, account, stopped)
    await new PageMiner({ device, account, clock: pageClock, random: Math.random, events }).run(stopped)
  } finally {
    device.close()
  }
}

async function start(): Promise<void> {
  const stop = new AbortController()
  running = stop
  meter.reset()
  try {
    await mine(stop.signal)
  } catch (error) {
    if (!stop.signal.aborted) fail(error)
  } finally {
    stop.abort()
    // The visitor may have restarted meanwhile.
    if (running === stop) running = null
  }
}

function fail(error: unknown): void {
  const advice = error instanceof Problem ? error.advice : 'Start again, or reload the page.'
  view.show('failed', error instanceof Problem ? error.message : `Mining stopped: ${describeError(error)}`, advice)
}

function stop(): void {
  running?.abort()
  running = null
  view.show('stopped', 'Stopped. Solutions already sent still count.')
}

function redraw(): void {
  const isMining = running !== null && mined !== null
  if (isMining) meter.sample(performance.now(), hashes)
  view.rate(isMining ? meter.rate() : null, isMining ? (mined?.difficulty ?? null) : null)
}

view.button.addEventListener('click', () => {
  if (running === null) void start()
  else stop()
})
setInterval(redraw, REDRAW_MS)
if (navigator.gpu === undefined) {
  view.button.disabled = true
  openDevice('').then(({ close }) => close(), fail)
}
// This request ends only when the node answers.
meet(new AbortController().signal).catch(fail)

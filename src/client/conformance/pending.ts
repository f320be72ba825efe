/** Finds out whether a command stays pending at a node until the runner asks for blocks. */
import { type Clock, sleep } from '#ground/base/clock.ts'
import { NewcutError } from '#ground/base/errors.ts'
import { makeValue } from './makes.ts'
import { partOf } from './variables.ts'
import { type HttpTransport, jsonOf, type WireAnswer } from './wire.ts'

export interface PendingProbe {
  readonly wire: HttpTransport
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly network: string
  /** Path of the interface of the network. */
  readonly base: string
  readonly chain: string
  /** Clock of the node, seconds since 1970. */
  readonly nowS: number
}

/** A node that mines on arrival makes its block within this time. */
const WATCH_MS = 1000
const LOOK_MS = 50

/**
 * Asks a node how it makes blocks. If it does not report that, sends it a command and watches its chain. Only a new block
 * is evidence, not the pool: the cases judge a node with a wrong pool.
 * @returns why a command does not stay pending, or null if it does
 */
export async function findPendingRefusal(probe: PendingProbe): Promise<string | null> {
  const answer = await sendRequest(probe, 'GET', '/devnet/mining')
  const mode = answer.status === 200 ? partOf(jsonOf(answer), ['mining', 'mode']) : undefined
  if (mode === 'on-demand') return null
  if (typeof mode === 'string') return `the node makes blocks by itself: GET /devnet/mining reports ${mode}`
  const { chain } = probe
  // The command is newer than the first block of a chain.
  await makeBlock(probe)
  const before = await heightOf(probe)
  const seen = before === null ? null : await heightAfterCommand(probe, before)
  // No case finds the command in the pool.
  await makeBlock(probe)
  if (before === null || seen === null) return null
  return `the node makes blocks by itself: chain ${chain} went from height ${before} to ${seen} without a request for blocks`
}

/** @returns the height of the chain once it has grown by itself, or null if it has not */
async function heightAfterCommand(probe: PendingProbe, before: number): Promise<number | null> {
  const { clock, signal, base, chain, network, nowS } = probe
  const signers = [{ key: 'sender00', caps: ['(coin.GAS)'] }]
  const command = makeValue(
    'command',
    { chain, code: '(+ 1 2)', signers },
    { network, nowS, nonce: 'does it stay pending' },
  )
  await sendRequest(probe, 'POST', `${base}/chain/${chain}/pact/api/v1/send`, { cmds: [command] })
  const untilMs = clock.monotonicMs() + WATCH_MS
  while (clock.monotonicMs() < untilMs) {
    await sleep(clock, LOOK_MS, signal)
    const height = await heightOf(probe)
    if (height !== null && height > before) return height
  }
  return null
}

const makeBlock = (probe: PendingProbe) => sendRequest(probe, 'POST', '/make-blocks', { [probe.chain]: 1 })

async function heightOf(probe: PendingProbe): Promise<number | null> {
  const cut = jsonOf(await sendRequest(probe, 'GET', `${probe.base}/cut`))
  const height = partOf(cut, ['hashes', probe.chain, 'height'])
  return typeof height === 'number' ? height : null
}

/** Sends a request. A missing answer counts as status 0: the cases judge it. */
async function sendRequest(
  { wire, signal }: PendingProbe,
  method: string,
  path: string,
  body?: unknown,
): Promise<WireAnswer> {
  const accept = { accept: 'application/json' }
  const headers = body === undefined ? accept : { ...accept, 'content-type': 'application/json' }
  try {
    return await wire.request({ method, path, headers, body: body === undefined ? null : JSON.stringify(body) }, signal)
  } catch (error) {
    if (signal.aborted || !(error instanceof NewcutError)) throw error
    return { status: 0, headers: {}, body: new Uint8Array() }
  }
}

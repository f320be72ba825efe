/** Signed coin transfers for benchmarks, sent to a node as fast as it returns results. */
import { readCapability } from '../src/client/wallet/capability.ts'
import type { SignedCommand } from '../src/client/wallet/command.ts'
import { signedCommand } from '../src/client/wallet/keys.ts'
import { knownKey } from '../src/client/wallet/known-keys.ts'
import { knownKeyNames } from '../src/client/wallet/known-names.ts'

export const PREFIX = '/chainweb/0.0/development'
const SENDERS = 10
/** Commands per request. */
const BATCH = 25
/** Limit of a chain's commands without a result. */
const MAX_WAITING = 150
/** Poll interval of a chain without news. */
const IDLE_MS = 50

/** Cache of keys by name: creating a key takes longer than signing. */
const keys = new Map(knownKeyNames.map((name) => [name, knownKey(name)?.key]))

let made = 0

interface CommandOptions {
  readonly sender?: string
  /** Capabilities in the language's notation. Without any, the signature is unscoped. */
  readonly capabilities?: readonly string[]
  /** JSON text. */
  readonly data?: string
  readonly gasLimit?: number
}

/** Signs a unique command. */
export function commandOn(chain: number, code: string, options: CommandOptions = {}): SignedCommand {
  const { sender = 'sender00', capabilities = [], data = '{}', gasLimit = 600 } = options
  const key = keys.get(sender)
  if (key === undefined) throw new Error(`no key of ${sender}`)
  return signedCommand({
    networkId: 'development',
    chain,
    payload: { code, data },
    signers: [{ key, capabilities: capabilities.map(readCapability) }],
    sender,
    gasLimit,
    gasPrice: '0.00000001',
    ttl: 28_800,
    creationTime: Math.floor(Date.now() / 1000) - 5,
    nonce: `bench ${process.pid} ${made++}`,
  })
}

/** Signs a transfer between two funded accounts. */
export function transferOn(chain: number): SignedCommand {
  const [sender, to] = [`sender0${made % SENDERS}`, `sender0${(made + 1) % SENDERS}`]
  const capabilities = ['(coin.GAS)', `(coin.TRANSFER "${sender}" "${to}" 0.5)`]
  return commandOn(chain, `(coin.transfer "${sender}" "${to}" 0.5)`, { sender, capabilities })
}

/** Order of the sending process, as JSON on its command line. */
export interface LoadOrder {
  readonly url: string
  readonly chains: number
  readonly durationMs: number
}

export interface LoadResult {
  readonly results: number
  readonly durationMs: number
}

/**
 * Sends transfers to every chain for `durationMs`, or until each has a result. Counts those whose success was read
 * back.
 * @throws if one failed
 */
export async function sendTransfers({ url, chains, durationMs }: LoadOrder): Promise<LoadResult> {
  const startMs = performance.now()
  const counts = await Promise.all(
    Array.from({ length: chains }, (_, chain) => loadChain(url, chain, startMs + durationMs)),
  )
  return { results: counts.reduce((sum, count) => sum + count, 0), durationMs: performance.now() - startMs }
}

async function loadChain(url: string, chain: number, endMs: number): Promise<number> {
  const api = `${url}${PREFIX}/chain/${chain}/pact/api/v1`
  const waiting = new Set<string>()
  let results = 0
  while (performance.now() < endMs || results === 0) {
    while (waiting.size + BATCH <= MAX_WAITING && (performance.now() < endMs || waiting.size === 0)) {
      const cmds = Array.from({ length: BATCH }, () => transferOn(chain))
      const { requestKeys } = (await post(`${api}/send`, { cmds })) as { requestKeys: string[] }
      for (const key of requestKeys) waiting.add(key)
    }
    const found = await post(`${api}/poll`, { requestKeys: [...waiting] })
    const outcomes = Object.entries(found as Record<string, { result: { status: string } }>)
    for (const [key, { result }] of outcomes) {
      if (result.status !== 'success') throw new Error(`a transfer failed: ${JSON.stringify(result)}`)
      waiting.delete(key)
      results++
    }
    if (outcomes.length === 0) await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  }
  return results
}

export async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response.json()
}

/**
 * Runs an embedded node in its own process, for suites that load it. Options arrive as base64 of v8.serialize; messages
 * use the IPC channel.
 */
import { setTimeout } from 'node:timers/promises'
import { deserialize } from 'node:v8'
import { type DevnetOptions, startDevnet } from '../src/compose/devnet.ts'
import { startDelayProxy } from './delay-proxy.ts'
import { sharedMs } from './shared-clock.ts'

export interface ServerOptions {
  readonly node: DevnetOptions
  /** Round trip time to `farUrl`, or null without that address. */
  readonly latencyMs: number | null
  /** Whether to report each new block. */
  readonly tellsBlocks: boolean
}

/** Messages of this process: one at its start, its memory as the answer to any message, and blocks. */
export type ServerMessage =
  | { readonly type: 'ready'; readonly url: string; readonly farUrl: string; readonly startMs: number }
  | { readonly type: 'memory'; readonly bytes: number }
  /** A new block of a chain; `atMs` is on the shared clock. */
  | { readonly type: 'block'; readonly chain: number; readonly height: number; readonly atMs: number }

const send = (message: ServerMessage) => process.send?.(message)

const { node, latencyMs, tellsBlocks } = deserialize(Buffer.from(process.argv[2], 'base64')) as ServerOptions
const onSolved: DevnetOptions['onSolved'] = ({ chainId, height }, { status }) => {
  const atMs = sharedMs()
  if (status === 'added') send({ type: 'block', chain: chainId, height: Number(height), atMs })
}
const startedAtMs = performance.now()
const devnet = await startDevnet({ ...node, ...(tellsBlocks && { onSolved }) })
const startMs = performance.now() - startedAtMs
const proxy = latencyMs === null ? null : await startDelayProxy(Number(new URL(devnet.url).port), latencyMs)
send({ type: 'ready', url: devnet.url, farUrl: proxy?.url ?? devnet.url, startMs })

process.on('message', async () => {
  // Collect twice: the second collection frees finalized objects.
  for (let i = 0; i < 2; i++) {
    await setTimeout(50)
    globalThis.gc?.()
  }
  const { heapUsed, external } = process.memoryUsage()
  send({ type: 'memory', bytes: heapUsed + external })
})

process.on('disconnect', async () => {
  await proxy?.close()
  await devnet.close()
  process.exit(0)
})

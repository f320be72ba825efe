/**
 * An embedded node in a process of its own, for suites that are its load: options come in the form of v8.serialize and
 * base64, answers go over the channel.
 */
import { setTimeout } from 'node:timers/promises'
import { deserialize } from 'node:v8'
import { type DevnetOptions, startDevnet } from '../src/compose/devnet.ts'
import { startDelayProxy } from './delay-proxy.ts'
import { sharedMs } from './shared-clock.ts'

export interface ServerOptions {
  readonly node: DevnetOptions
  /** Round trip of every byte to `farUrl`; null: there is no such address. */
  readonly latencyMs: number | null
  /** Whether each new block is told of. */
  readonly tellsBlocks: boolean
}

/** Messages of this process: one at its start, its memory as the answer to any message, and blocks. */
export type ServerMessage =
  | { readonly type: 'ready'; readonly url: string; readonly farUrl: string; readonly startMs: number }
  | { readonly type: 'memory'; readonly bytes: number }
  /** A chain got a block; `atMs` is on the clock that all processes share. */
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
  // Twice: the second collection frees what the first one finalised.
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

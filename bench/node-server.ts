/** An embedded node in a process of its own, for suites that are its load: options come as JSON, answers go over the channel. */
import { setTimeout } from 'node:timers/promises'
import { type DevnetOptions, startDevnet } from '../src/compose/devnet.ts'

/** Messages of this process: one at its start, and its memory as the answer to any message. */
export type ServerMessage =
  | { readonly type: 'ready'; readonly url: string; readonly startMs: number }
  | { readonly type: 'memory'; readonly bytes: number }

const send = (message: ServerMessage) => process.send?.(message)

const startedAtMs = performance.now()
const devnet = await startDevnet(JSON.parse(process.argv[2]) as DevnetOptions)
send({ type: 'ready', url: devnet.url, startMs: performance.now() - startedAtMs })

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
  await devnet.close()
  process.exit(0)
})

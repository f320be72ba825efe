/** The embedded node as a process of its own, for suites that measure it under load. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { DevnetOptions } from '../src/compose/devnet.ts'
import type { ServerMessage } from './node-server.ts'

/** An embedded node in a process of its own. */
export interface Server {
  readonly url: string
  readonly port: number
  /** From the call of startDevnet until it listened. */
  readonly startMs: number
  /** Heap and buffers after a collection. */
  readonly memoryBytes: () => Promise<number>
  readonly stop: () => Promise<void>
}

/** Starts one, in memory and without proof of work unless the options say otherwise. */
export async function startServer(options: DevnetOptions): Promise<Server> {
  const file = fileURLToPath(new URL('./node-server.js', import.meta.url))
  const child = fork(file, [JSON.stringify({ port: 0, pow: false, ...options })], { execArgv: ['--expose-gc'] })
  const ready = await nextMessage(child, 'ready')
  return {
    url: ready.url,
    port: Number(new URL(ready.url).port),
    startMs: ready.startMs,
    memoryBytes: async () => {
      child.send('memory')
      return (await nextMessage(child, 'memory')).bytes
    },
    stop: async () => {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}

function nextMessage<T extends ServerMessage['type']>(child: ChildProcess, type: T) {
  return new Promise<Extract<ServerMessage, { type: T }>>((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the server exited with ${code}`))
    child.once('exit', onExit)
    child.once('message', (message: ServerMessage) => {
      child.off('exit', onExit)
      if (message.type === type) resolve(message as Extract<ServerMessage, { type: T }>)
      else reject(new Error(`the server said ${message.type}, not ${type}`))
    })
  })
}

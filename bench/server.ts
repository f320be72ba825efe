/** Runs the embedded node in its own process, for suites that measure it under load. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { serialize } from 'node:v8'
import type { DevnetOptions } from '../src/compose/devnet.ts'
import type { ServerMessage, ServerOptions } from './node-server.ts'

/** An embedded node in its own process. */
export interface Server {
  readonly url: string
  readonly port: number
  /** URL of the same node with the requested latency. */
  readonly farUrl: string
  /** Time from the call of startDevnet until it listened, in milliseconds. */
  readonly startMs: number
  /** Heap and buffers after garbage collection, in bytes. */
  readonly memoryBytes: () => Promise<number>
  readonly stop: () => Promise<void>
}

export type BlockMessage = Extract<ServerMessage, { type: 'block' }>

export interface Surroundings {
  /** Round trip time to `farUrl`, in milliseconds. */
  readonly latencyMs?: number
  /** Called with each new block, with a short delay. */
  readonly onBlock?: (block: BlockMessage) => void
  /**
   * Whether the node yields the cores to the measuring process and precedes only search threads, to resemble a node on
   * another machine. Only Linux has priorities per thread.
   */
  readonly givesWay?: boolean | undefined
}

/** Starts a node, by default in memory and without proof of work. */
export async function startServer(options: DevnetOptions, surroundings: Surroundings = {}): Promise<Server> {
  const { latencyMs = null, onBlock, givesWay = false } = surroundings
  const file = fileURLToPath(new URL('./node-server.js', import.meta.url))
  const node = { port: 0, pow: false, ...options }
  const serverOptions: ServerOptions = { node, latencyMs, tellsBlocks: onBlock !== undefined }
  const argument = serialize(serverOptions).toString('base64')
  const child = fork(file, [argument], { execArgv: ['--expose-gc'] })
  child.on('message', (message: ServerMessage) => {
    if (message.type === 'block') onBlock?.(message)
  })
  const ready = await nextMessage(child, 'ready')
  if (givesWay) for (const id of threadsOf(child)) setPriority(id, constants.priority.PRIORITY_BELOW_NORMAL)
  return {
    url: ready.url,
    port: Number(new URL(ready.url).port),
    farUrl: ready.farUrl,
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

function threadsOf({ pid }: ChildProcess): number[] {
  if (pid === undefined) throw new Error('the server has not started')
  return process.platform === 'linux' ? readdirSync(`/proc/${pid}/task`).map(Number) : [pid]
}

/** Resolves with the next message of this type. */
function nextMessage<T extends ServerMessage['type']>(child: ChildProcess, type: T) {
  return new Promise<Extract<ServerMessage, { type: T }>>((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the server exited with ${code}`))
    const onMessage = (message: ServerMessage) => {
      if (message.type !== type) return
      child.off('exit', onExit).off('message', onMessage)
      resolve(message as Extract<ServerMessage, { type: T }>)
    }
    child.once('exit', onExit).on('message', onMessage)
  })
}

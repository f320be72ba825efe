/** The embedded node as a process of its own, for suites that measure it under load. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { serialize } from 'node:v8'
import type { DevnetOptions } from '../src/compose/devnet.ts'
import type { ServerMessage, ServerOptions } from './node-server.ts'

/** An embedded node in a process of its own. */
export interface Server {
  readonly url: string
  readonly port: number
  /** The same node as far away as was asked for. */
  readonly farUrl: string
  /** From the call of startDevnet until it listened. */
  readonly startMs: number
  /** Heap and buffers after a collection. */
  readonly memoryBytes: () => Promise<number>
  readonly stop: () => Promise<void>
}

export type BlockMessage = Extract<ServerMessage, { type: 'block' }>

export interface Surroundings {
  /** Round trip of every byte to `farUrl`. */
  readonly latencyMs?: number
  /** Called with each new block, a little later than it came. */
  readonly onBlock?: (block: BlockMessage) => void
  /**
   * Whether it leaves the cores to whoever measures, and comes before search threads only: as far as the system allows, a
   * node on another machine. Elsewhere than on Linux all of the process has one priority.
   */
  readonly givesWay?: boolean | undefined
}

/** Starts one, in memory and without proof of work unless the options say otherwise. */
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

/** The next of this type. */
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

/** Puts the control of an embedded node together: what its router asks first, and what is served below /devnet/. */
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../core/clock.ts'
import type { Operation } from '../../schema/operation.ts'
import type { NodeClock } from '../node-clock.ts'
import { type AutoMine, AutoMiner, describeAutoMine } from '../orders/auto-mine.ts'
import { BlockMaker, type BlockMakerOptions, OrderRefused } from '../orders/block-maker.ts'
import { Faults } from './faults.ts'
import type { Router } from './router.ts'
import { Control, refuseForeign } from './routes/control.ts'
import { StreamGate } from './stream/stream-gate.ts'

export interface ControlSetup extends Omit<BlockMakerOptions, 'signal'> {
  readonly autoMine: AutoMine | null
  readonly nodeClock: NodeClock
  readonly timers: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Resolves when every change until now survives the end of the process. Default: at once. */
  readonly settled?: () => Promise<void>
}

/**
 * Made before the router, which asks `intercept`; `serve` adds its routes when all others are there, `run` is for when
 * the node can be reached.
 */
export class Controls {
  readonly streams = new StreamGate()
  readonly #stopped = new AbortController()
  readonly #faults = new Faults(this.#stopped.signal)
  #startMiner = (): AutoMiner | null => null
  #miner: AutoMiner | null = null

  /** For RouterOptions: foreigners are refused, and faults answer. */
  intercept = async (operation: Operation, reply: FastifyReply): Promise<boolean> => {
    if (operation.group === 'devnet') return refuseForeign(reply.request, reply)
    return this.#faults.intercept(operation, reply)
  }

  serve(router: Router, { autoMine, nodeClock, timers, random, settled, ...rest }: ControlSetup): void {
    const maker = new BlockMaker({ ...rest, signal: this.#stopped.signal })
    const mode = autoMine === null ? 'blocks by miners' : describeAutoMine(autoMine)
    const control = new Control(router, {
      maker,
      faults: this.#faults,
      streams: this.streams,
      clock: nodeClock,
      mode,
      settled: settled ?? (() => Promise.resolve()),
    })
    control.addRoutes()
    if (autoMine === null) return
    this.#startMiner = () => new AutoMiner({ mode: autoMine, maker, clock: timers, random })
  }

  /** Starts what makes blocks by itself. */
  run(): void {
    this.#miner = this.#startMiner()
  }

  /** Ends what runs by itself and what is being made. */
  stop(): void {
    this.#miner?.stop()
    this.#stopped.abort(new OrderRefused(503, 'the node is stopping'))
  }
}

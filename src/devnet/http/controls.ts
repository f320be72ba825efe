/** Control of an embedded node: checks before every request, and the endpoints below /devnet/. */
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import type { AutoMine } from '../../schema/auto-mine.ts'
import type { Operation } from '../../schema/operation.ts'
import { BlockMaker, type BlockMakerOptions } from '../orders/block-maker.ts'
import { Mining } from '../orders/mining.ts'
import { OrderRefused } from '../orders/order-refused.ts'
import type { PhraseAccount } from '../orders/phrase-accounts.ts'
import { NamedSnapshots } from '../orders/snapshots.ts'
import type { NodeClock } from '../rules/node-clock.ts'
import { refuse } from './app.ts'
import { Faults } from './faults.ts'
import { fundAccounts } from './fund-accounts.ts'
import type { Router } from './router.ts'
import { ControlServer, type ForkSource, type TurnNode } from './routes/control.ts'
import { StreamGate } from './stream/stream-gate.ts'
import { foreignRefusal } from './this-machine.ts'

export interface ControlSetup extends BlockMakerOptions {
  readonly autoMine: AutoMine | null
  readonly turn: TurnNode
  readonly nodeClock: NodeClock
  readonly fork: ForkSource | null
  /** Uniform in [0, 1). */
  readonly random: () => number
}

/**
 * Create it before the router, which calls `intercept` for every request. `serve` adds its routes after all others.
 * Call `run` once the node is reachable.
 */
export class Controls {
  readonly streams = new StreamGate()
  readonly #stopped = new AbortController()
  readonly #faults: Faults
  #start: () => void = () => undefined
  #fund: (accounts: readonly PhraseAccount[]) => Promise<void> = async () => undefined
  #control: ControlServer | null = null
  #mining: Mining | null = null

  constructor(clock: Clock) {
    this.#faults = new Faults(clock, this.#stopped.signal)
  }

  /**
   * For RouterOptions: refuses callers that may not control the node, and applies faults.
   * @returns true if it has responded
   */
  intercept = (operation: Operation, reply: FastifyReply): boolean | Promise<boolean> => {
    const foreign = operation.forThisMachine === true ? foreignRefusal(reply.request) : null
    if (foreign !== null) void refuse(reply, foreign)
    return foreign !== null || this.#faults.intercept(operation, reply)
  }

  serve(router: Router, setup: ControlSetup): void {
    const { autoMine, nodeClock, fork, turn } = setup
    const maker = new BlockMaker(setup)
    const mining = new Mining(autoMine, { ...setup, maker })
    this.#mining = mining
    const stopped = this.#stopped.signal
    const snapshots = new NamedSnapshots(maker, nodeClock)
    this.#start = () => snapshots.start()
    const control = new ControlServer(router, {
      maker,
      faults: this.#faults,
      streams: this.streams,
      clock: nodeClock,
      snapshots,
      mining,
      fork,
      turn,
      stopped,
    })
    control.addRoutes()
    this.#fund = (accounts) => fundAccounts(maker, accounts, () => nodeClock.ms(), stopped)
    this.#control = control
  }

  /** The mining mode, and settings changed by hand. Throws Error before `serve`. */
  get status(): ReturnType<ControlServer['status']> {
    if (this.#control === null) throw new Error('control is not served yet')
    return this.#control.status()
  }

  /** Mints coins for accounts, on each chain that does not have them. Call it before `run`. */
  fund(accounts: readonly PhraseAccount[]): Promise<void> {
    return this.#fund(accounts)
  }

  /** Notes the start, and begins automatic mining if the network has it. */
  run(): void {
    this.#start()
    this.#mining?.start()
  }

  /** Stops automatic mining, running orders and delayed responses. */
  stop(why: 'stopping' | 'turned' = 'stopping'): void {
    this.#mining?.stop()
    this.#stopped.abort(new OrderRefused({ kind: why }))
  }

  /** Takes the network back to its start, and stops it, because the node has turned to another one. */
  retire(): void {
    this.#control?.reset()
    this.stop('turned')
  }
}

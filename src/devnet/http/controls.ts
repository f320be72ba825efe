/** Control of an embedded node: checks before every request, and the endpoints below /devnet/. */
import type { FastifyReply } from 'fastify'
import type { AutoMine } from '#ground/schema/devnet-modes.ts'
import type { Operation } from '#ground/schema/operation.ts'
import { BlockMaker, type BlockMakerOptions } from '../control/block-maker.ts'
import { ControlError } from '../control/control-error.ts'
import { AutoMining } from '../control/mining.ts'
import type { PhraseAccount } from '../control/phrase-accounts.ts'
import { NamedSnapshots } from '../control/snapshots.ts'
import type { NodeClock } from '../rules/node-clock.ts'
import { writeRefusal } from './app.ts'
import type { Faults } from './faults.ts'
import { fundAccounts } from './fund-accounts.ts'
import type { Router } from './router.ts'
import { ControlServer, type ForkSource, type SwitchNetwork } from './routes/control.ts'
import type { StreamGate } from './stream/stream-gate.ts'
import { foreignRefusal } from './this-machine.ts'

interface ControlSetup extends BlockMakerOptions {
  readonly autoMine: AutoMine | null
  readonly switchNetwork: SwitchNetwork
  readonly nodeClock: NodeClock
  readonly fork: ForkSource | null
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly faults: Faults
  readonly streams: StreamGate
  /** Aborted with ControlError when the node stops. */
  readonly stop: AbortController
}

/**
 * For RouterOptions: refuses callers that may not control the node, and applies faults.
 * @returns a function that returns true if it has responded
 */
export function interceptOf(faults: Faults) {
  return (operation: Operation, reply: FastifyReply): boolean | Promise<boolean> => {
    const foreign = operation.forThisMachine === true ? foreignRefusal(reply.request) : null
    if (foreign !== null) void writeRefusal(reply, foreign)
    return foreign !== null || faults.intercept(operation, reply)
  }
}

/**
 * The endpoints that control a node, and what they control: create it last, as its routes come after all others. Call
 * `run` once the node is reachable.
 */
export class Controls {
  readonly #setup: ControlSetup
  readonly #maker: BlockMaker
  readonly #mining: AutoMining
  readonly #snapshots: NamedSnapshots
  readonly #server: ControlServer

  constructor(router: Router, setup: ControlSetup) {
    const { autoMine, nodeClock: clock, stop } = setup
    this.#setup = setup
    this.#maker = new BlockMaker(setup)
    this.#mining = new AutoMining(autoMine, { ...setup, maker: this.#maker })
    this.#snapshots = new NamedSnapshots(this.#maker, clock)
    const own = { maker: this.#maker, mining: this.#mining, snapshots: this.#snapshots, stopped: stop.signal }
    this.#server = new ControlServer(router, { ...setup, ...own, clock })
    this.#server.addRoutes()
  }

  /** The mining mode, and settings changed by hand. */
  get status(): ReturnType<ControlServer['status']> {
    return this.#server.status()
  }

  /** Mints coins for accounts, on each chain that does not have them. Call it before `run`. */
  async fund(accounts: readonly PhraseAccount[]): Promise<void> {
    const { nodeClock, stop } = this.#setup
    await fundAccounts(this.#maker, accounts, () => nodeClock.ms(), stop.signal)
  }

  /** Notes the start, and begins automatic mining if the network has it. */
  run(): void {
    this.#snapshots.start()
    this.#mining.start()
  }

  /** Stops automatic mining, running control requests and delayed responses. */
  stop(why: 'stopping' | 'turned' = 'stopping'): void {
    this.#mining.stop()
    this.#setup.stop.abort(new ControlError({ kind: why }))
  }

  /** Takes the network back to its start, and stops it, because the node has turned to another one. */
  retire(): void {
    this.#server.reset()
    this.stop('turned')
  }
}

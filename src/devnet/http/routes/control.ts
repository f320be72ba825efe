/** Endpoints below /devnet/ that control the node in tests. Only programs on this machine may call them. */
import { setMaxListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { withFirstOf } from '#ground/base/signals.ts'
import type { Cut } from '#ground/chain/cut.ts'
import { difficultyOf, MAX_TARGET, targetOfDifficulty } from '#ground/chain/target.ts'
import {
  type ClockChange,
  controlOperations,
  type DevnetStatus,
  MAX_RULE_CHANGES,
  type MadeBlock,
  type MiningMode,
} from '#ground/schema/control.ts'
import { type AutoMine, CONFIRMATIONS, describeAutoMine } from '#ground/schema/devnet-modes.ts'
import { JSON_TYPE, type Operation } from '#ground/schema/operation.ts'
import type { ForkChange } from '#ground/schema/reset-request.ts'
import type { Static } from '#ground/schema/typebox.ts'
import type { Pin } from '#language/copy/pin.ts'
import { type BlockMaker, headOf } from '../../control/block-maker.ts'
import { ControlError } from '../../control/control-error.ts'
import type { AutoMining } from '../../control/mining.ts'
import { TaskQueue } from '../../control/queue.ts'
import { reorg } from '../../control/reorg.ts'
import type { NamedSnapshots } from '../../control/snapshots.ts'
import type { NodeClock } from '../../rules/node-clock.ts'
import type { RuleChange } from '../../rules/rule-history.ts'
import type { Block } from '../../store/block-store.ts'
import { requestKeysOf } from '../../store/transaction-index.ts'
import { sendJson, writeRefusal } from '../app.ts'
import type { Faults } from '../faults.ts'
import { mintingOn } from '../fund-accounts.ts'
import { RequestRefused, refusalOf, unknownChain } from '../refusal.ts'
import type { RoutedCall, Router } from '../router.ts'
import { type StreamGate, type StreamKind, streamKinds } from '../stream/stream-gate.ts'
import { dropTransactions, impersonatedKeys } from './control-commands.ts'
import { changeGas, gasState } from './control-gas.ts'
import { resetNetwork } from './control-reset.ts'
import { writeRows } from './control-rows.ts'
import { runPrivileged } from './control-run.ts'

/** The network that a node has forked. */
export interface ForkSource {
  readonly pin: Pin
  readonly url: string
  /** Requests to the forked node since the start. */
  readonly requests: number
}

/**
 * Turns the node to a fork of another network, or to a new one of its own if `fork` is null.
 * @param signal abandons the turn
 * @param response answer of the control request: all other requests in progress end
 * @returns status of the new network
 * @throws RequestRefused if the node stays as it is
 */
export type SwitchNetwork = (
  fork: ForkChange | null,
  call: { readonly signal: AbortSignal; readonly response: ServerResponse },
) => Promise<DevnetStatus>

interface ControlOptions {
  readonly maker: BlockMaker
  readonly faults: Faults
  readonly streams: StreamGate
  readonly clock: NodeClock
  readonly snapshots: NamedSnapshots
  /** How the node makes blocks by itself. */
  readonly mining: AutoMining
  readonly fork: ForkSource | null
  readonly switchNetwork: SwitchNetwork
  /** Aborted with ControlError when the node stops. */
  readonly stopped: AbortSignal
}

/** Serves control operations, which share a queue, durability, and refusals as text. */
export class ControlServer {
  readonly #options: ControlOptions
  readonly #router: Router
  readonly #queue = new TaskQueue()

  constructor(router: Router, options: ControlOptions) {
    this.#router = router
    this.#options = options
    // Any number of calls may wait for their turn. Node.js would warn of a leak.
    setMaxListeners(0, options.stopped)
  }

  addRoutes(): void {
    this.#addBlocks()
    this.#addRules()
    this.#addChains()
    this.#addTroubles()
    this.#addTime()
    this.#addMining()
    this.#addCommands()
    this.#addReset()
    this.#router.serve(controlOperations.devnetStatus, (_call, reply) =>
      sendJson(reply, JSON_TYPE, JSON.stringify(this.status())),
    )
  }

  #addBlocks(): void {
    const { maker } = this.#options
    type Counts = { readonly body: Readonly<Record<string, number>> }
    const makeBlocks = async ({ body }: Counts, signal: AbortSignal) => {
      const made = await maker.make(countsOf(body, maker.chains.cut), signal)
      const each = [...made]
      return {
        made: Object.fromEntries(each.map(([chain, blocks]) => [chain, blocks.length])),
        blocks: Object.fromEntries(each.map(([chain, blocks]) => [chain, blocks.map(madeBlock)])),
        heights: heightsOf(maker.chains.cut),
      }
    }
    this.#serve(controlOperations.makeBlocks, makeBlocks)
    this.#serve(controlOperations.makeBlocksOnDemand, makeBlocks)
    this.#serve(controlOperations.fork, async ({ body }, signal) => {
      const { ancestor, orphaned, added } = await reorg(maker, body.chain, body.depth, signal)
      const shared = [...ancestor].map(([chain, { height, hash }]) => [
        chain,
        { height: Number(height), hash: encodeBase64Url(hash) },
      ])
      return {
        ancestor: Object.fromEntries(shared),
        orphaned: Object.fromEntries(orphaned),
        added: Object.fromEntries(added),
        heights: heightsOf(maker.chains.cut),
      }
    })
  }

  #addRules(): void {
    const { chains } = this.#options.maker
    const change = (what: Omit<RuleChange, 'from' | 'blocks'>) => {
      if (chains.rules.changes.length >= MAX_RULE_CHANGES) {
        throw new RequestRefused(409, `the rules have changed ${MAX_RULE_CHANGES} times; begin a new network`)
      }
      chains.changeRules(what)
      return ruleOf(chains.rules.changes[chains.rules.changes.length - 1])
    }
    this.#serve(controlOperations.setDifficulty, ({ body }) => {
      const difficulty = BigInt(body.difficulty)
      if (difficulty > MAX_TARGET) throw new RequestRefused(400, `difficulty ${difficulty}: must be below 2^256`)
      return change({ target: targetOfDifficulty(difficulty) })
    })
    this.#serve(controlOperations.setBlockDelay, ({ body }) =>
      change({ blockDelay: BigInt(Math.round(body.blockDelayMs * 1000)) }),
    )
  }

  #addChains(): void {
    const { chains, coordinator } = this.#options.maker
    const pausedState = () => ({ paused: [...coordinator.paused].sort((a, b) => a - b) })
    this.#serve(controlOperations.pause, ({ body: { chain } }) => {
      headOf(chains.cut, chain)
      coordinator.pause(chain)
      return pausedState()
    })
    this.#serve(controlOperations.resume, ({ body: { chain } }) => {
      headOf(chains.cut, chain)
      coordinator.resume(chain)
      return pausedState()
    })
  }

  #addTroubles(): void {
    const { streams, faults } = this.#options
    this.#serve(controlOperations.streams, ({ body: { action, stream } }) => {
      const kinds: readonly StreamKind[] = stream === 'all' ? streamKinds : [stream]
      streams[action](kinds)
      return streams.state
    })
    this.#serve(controlOperations.setFault, ({ body }) => {
      faults.set(body, this.#router.served)
      return { faults: faults.list }
    })
  }

  #addTime(): void {
    const { snapshots, maker } = this.#options
    this.#serve(controlOperations.advanceClock, ({ body }) => {
      this.#changeClock(body)
      return this.#clock()
    })
    this.#serve(controlOperations.snapshot, () => {
      return { id: snapshots.take(), heights: heightsOf(maker.chains.cut) }
    })
    this.#serve(controlOperations.revert, ({ body }) => {
      snapshots.revert(body.id)
      return { heights: heightsOf(maker.chains.cut), clock: this.#clock() }
    })
  }

  #addReset(): void {
    const { switchNetwork } = this.#options
    this.#serve(controlOperations.reset, async ({ body }, signal, { raw: response }) => {
      if (body.fork === undefined) this.reset()
      const status = body.fork === undefined ? this.status() : await switchNetwork(body.fork, { signal, response })
      const { heights, clock, fork } = status
      return { heights, clock, fork }
    })
  }

  /** Takes the network back to its start. */
  reset(): void {
    resetNetwork(this.#options)
  }

  #changeClock({ advanceMs, to, nextBlock, everyMs }: Static<typeof ClockChange>): void {
    const { snapshots, clock } = this.#options
    const given = [advanceMs, to, nextBlock, everyMs].filter((each) => each !== undefined).length
    if (given !== 1) {
      throw new RequestRefused(400, `expected one of advanceMs, to, nextBlock and everyMs, but got ${given} of them`)
    }
    if (advanceMs !== undefined) snapshots.moveClock(advanceMs)
    else if (to !== undefined) snapshots.setClock(timeOf(to))
    else if (nextBlock !== undefined) snapshots.holdClock(timeOf(nextBlock), null)
    else if (everyMs === null) clock.hold(null)
    else if (everyMs !== undefined) snapshots.stepClock(everyMs)
  }

  #addMining(): void {
    const { mining } = this.#options
    const state = () => ({ mining: mining.mode === null ? null : modeText(mining.mode) })
    this.#serve(controlOperations.setMining, ({ body }) => {
      mining.change(modeOf(body))
      return state()
    })
    this.#router.serve(controlOperations.mining, (_call, reply) => sendJson(reply, JSON_TYPE, JSON.stringify(state())))
  }

  #addCommands(): void {
    const { coordinator } = this.#options.maker
    this.#serve(controlOperations.drop, ({ body }) => dropTransactions(coordinator, body))
    this.#serve(controlOperations.run, ({ body }, signal) =>
      runPrivileged(this.#options.maker, body, this.#options.clock.ms(), signal),
    )
    this.#serve(controlOperations.writeRows, ({ body }, signal) =>
      writeRows(this.#options.maker, body, this.#options.clock.ms(), signal),
    )
    this.#serve(controlOperations.setGas, ({ body }) => changeGas(coordinator, body))
    this.#serve(controlOperations.impersonate, ({ body: { keys, on } }) => {
      const { impersonation } = coordinator.pools
      impersonation.set(impersonatedKeys(keys), on)
      return { keys: impersonation.keys }
    })
  }

  #clock(): DevnetStatus['clock'] {
    const { clock } = this.#options
    const step = clock.held?.step ?? null
    const every = step === null ? {} : { everyMs: Number(step) / 1000 }
    return { aheadMs: Math.round(clock.aheadMs), nowMs: Math.floor(clock.ms()), ...every }
  }

  /** Current state of everything that these operations change. */
  status(): DevnetStatus {
    const { maker, faults, streams, snapshots, mining, fork } = this.#options
    const { chains, coordinator } = maker
    return {
      mode: mining.mode === null ? 'blocks by miners' : describeAutoMine(mining.mode),
      heights: heightsOf(chains.cut),
      paused: [...coordinator.paused].sort((a, b) => a - b),
      streams: streams.state,
      faults: [...faults.list],
      clock: this.#clock(),
      ruleChanges: chains.rules.changes.filter(({ until }) => until === undefined).map(ruleOf),
      snapshots: snapshots.ids,
      impersonated: [...coordinator.pools.impersonation.keys],
      gas: gasState(coordinator.pools.gas),
      minting: mintingOn(chains.network),
      fork: fork && { url: fork.url, network: fork.pin.network, height: fork.pin.height, requests: fork.requests },
    }
  }

  /** Runs calls one at a time. Responds with JSON once the change is durable. */
  #serve<const O extends Operation>(
    operation: O,
    run: (call: RoutedCall<O>, signal: AbortSignal, reply: FastifyReply) => unknown,
  ): void {
    const { maker, stopped } = this.#options
    this.#router.serve<O>(operation, async (call, reply) => {
      const request = async (signal: AbortSignal) => {
        signal.throwIfAborted()
        try {
          return await run(call, signal, reply)
        } finally {
          // Some blocks may precede a refusal; they must be durable before the response.
          await maker.chains.durable()
        }
      }
      try {
        const sources = [stopped, callerLeft(reply)]
        const result = await withFirstOf(sources, (signal) => this.#queue.take(() => request(signal)))
        return sendJson(reply, JSON_TYPE, JSON.stringify(result))
      } catch (error) {
        const refusal = refusalOf(error)
        if (refusal === null) throw error
        return writeRefusal(reply, refusal)
      }
    })
  }
}

/** @returns a signal that aborts if the connection closes before the response is sent */
export function callerLeft({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) left.abort(new ControlError({ kind: 'caller-left' }))
  })
  return left.signal
}

function countsOf(body: Readonly<Record<string, number>>, cut: Cut): Map<number, number> {
  const counts = new Map<number, number>()
  for (const [name, count] of Object.entries(body)) {
    const chain = Number(name)
    if (String(chain) !== name || !cut.has(chain)) {
      throw new RequestRefused(400, unknownChain(JSON.stringify(name), cut.size).message)
    }
    counts.set(chain, count)
  }
  return counts
}

/** @throws RequestRefused for a field that the mode needs, or that belongs to another mode */
function modeOf({ mode, everyMs, ...current }: MiningMode): AutoMine {
  const given = everyMs === undefined ? current : { blockTimeMs: everyMs, ...current }
  const { confirmations = CONFIRMATIONS, blockTimeMs, hashesPerSecond } = given
  if (everyMs !== undefined && everyMs !== blockTimeMs) {
    throw new RequestRefused(400, 'everyMs is the earlier name of blockTimeMs: give one of them')
  }
  const own = FIELDS[mode]
  const other = Object.keys(given).find((name) => name !== own)
  if (other !== undefined) throw new RequestRefused(400, `${other} does not belong to the mode ${mode}`)
  if (mode === 'on-demand') return { kind: mode }
  if (mode === 'on-arrival') return { kind: mode, confirmations }
  if (mode === 'constant' && blockTimeMs !== undefined) return { kind: mode, blockTimeMs }
  if (mode === 'simulated' && hashesPerSecond !== undefined) return { kind: mode, hashesPerSecond }
  throw new RequestRefused(400, `the mode ${mode} needs ${own}`)
}

/** Mode -> the field that belongs to it. */
const FIELDS: Readonly<Record<MiningMode['mode'], string | null>> = {
  'on-demand': null,
  'on-arrival': 'confirmations',
  constant: 'blockTimeMs',
  simulated: 'hashesPerSecond',
}

function modeText(mode: AutoMine): MiningMode {
  switch (mode.kind) {
    case 'on-arrival':
      return { mode: mode.kind, confirmations: mode.confirmations }
    case 'constant':
      return { mode: mode.kind, blockTimeMs: mode.blockTimeMs, everyMs: mode.blockTimeMs }
    case 'simulated':
      return { mode: mode.kind, hashesPerSecond: mode.hashesPerSecond }
    default:
      return { mode: mode.kind }
  }
}

/** @throws RequestRefused for a text that is not a time */
function timeOf(text: string): number {
  const ms = Date.parse(text)
  if (Number.isFinite(ms)) return ms
  throw new RequestRefused(400, `${text}: expected a time such as 2027-01-01T00:00:00Z`)
}

function madeBlock(block: Block): Static<typeof MadeBlock> {
  const { height, hash } = block.header
  return { height: Number(height), hash: encodeBase64Url(hash), requestKeys: requestKeysOf(block) }
}

const heightsOf = (cut: Cut) => Object.fromEntries([...cut].map(([chain, { height }]) => [chain, Number(height)]))

function ruleOf({ from, target, blockDelay }: RuleChange): DevnetStatus['ruleChanges'][number] {
  return {
    ...(target !== undefined && { difficulty: String(difficultyOf(target)) }),
    ...(blockDelay !== undefined && { blockDelayMs: Number(blockDelay) / 1000 }),
    from: Object.fromEntries(from.entries()),
  }
}

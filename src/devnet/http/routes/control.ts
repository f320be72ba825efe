/** The endpoints below /devnet/: what testers make the node do. For programs on this machine alone. */
import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { encodeBase64Url } from '../../../core/bytes.ts'
import type { Cut } from '../../../core/cut.ts'
import { difficultyOf, MAX_TARGET, targetOfDifficulty } from '../../../core/target.ts'
import { controlOperations, type DevnetStatus, RULE_CHANGES_LIMIT } from '../../../schema/control.ts'
import { JSON_TYPE, type Operation } from '../../../schema/operation.ts'
import type { NodeClock } from '../../node-clock.ts'
import { type BlockMaker, headOf, OrderRefused } from '../../orders/block-maker.ts'
import { fork } from '../../orders/fork.ts'
import { Turns } from '../../orders/turns.ts'
import type { RuleChange } from '../../rules/rules.ts'
import { refuse, sendJson } from '../app.ts'
import type { Faults } from '../faults.ts'
import type { Call, Router } from '../router.ts'
import { type StreamGate, type StreamKind, streamKinds } from '../stream/stream-gate.ts'

export interface ControlOptions {
  readonly maker: BlockMaker
  readonly faults: Faults
  readonly streams: StreamGate
  readonly clock: NodeClock
  /** For people: where blocks come from. */
  readonly mode: string
  /** Resolves when everything until now survives the end of the process, as far as it ever will. */
  readonly settled: () => Promise<void>
}

type Status = Static<typeof DevnetStatus>

/** Serves control operations with what they have in common: taking turns, durability, refusals as text. */
export class Control {
  readonly #options: ControlOptions
  readonly #router: Router
  readonly #turns = new Turns()

  constructor(router: Router, options: ControlOptions) {
    this.#router = router
    this.#options = options
  }

  addRoutes(): void {
    this.#addBlocks()
    this.#addRules()
    this.#addChains()
    this.#addTroubles()
    this.#router.serve(controlOperations.devnetStatus, (_call, reply) =>
      sendJson(reply, JSON_TYPE, JSON.stringify(this.#status())),
    )
  }

  #addBlocks(): void {
    const { maker } = this.#options
    const makeBlocks = async ({ body }: { readonly body: Readonly<Record<string, number>> }) => {
      const made = await maker.make(countsOf(body, maker.chains.cut))
      return { made: Object.fromEntries(made), heights: heightsOf(maker.chains.cut) }
    }
    this.#serve(controlOperations.makeBlocks, makeBlocks)
    this.#serve(controlOperations.makeBlocksOnDemand, makeBlocks)
    this.#serve(controlOperations.fork, async ({ body }) => {
      const { ancestor, orphaned, added } = await fork(maker, body.chain, body.depth)
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
      if (chains.rules.changes.length >= RULE_CHANGES_LIMIT) {
        throw new OrderRefused(409, `the rules have changed ${RULE_CHANGES_LIMIT} times; begin a new network`)
      }
      chains.changeRules(what)
      return ruleOf(chains.rules.changes[chains.rules.changes.length - 1])
    }
    this.#serve(controlOperations.setDifficulty, ({ body }) => {
      const difficulty = BigInt(body.difficulty)
      if (difficulty > MAX_TARGET) throw new OrderRefused(400, `difficulty ${difficulty}: must be below 2^256`)
      return change({ target: targetOfDifficulty(difficulty) })
    })
    this.#serve(controlOperations.setBlockDelay, ({ body }) =>
      change({ blockDelay: BigInt(Math.round(body.blockDelayMs * 1000)) }),
    )
  }

  #addChains(): void {
    const { chains, coordinator } = this.#options.maker
    const paused = () => ({ paused: [...coordinator.paused].sort((a, b) => a - b) })
    this.#serve(controlOperations.pause, ({ body: { chain } }) => {
      headOf(chains.cut, chain)
      coordinator.pause(chain)
      return paused()
    })
    this.#serve(controlOperations.resume, ({ body: { chain } }) => {
      headOf(chains.cut, chain)
      coordinator.resume(chain)
      return paused()
    })
  }

  #addTroubles(): void {
    const { streams, faults, clock } = this.#options
    this.#serve(controlOperations.streams, ({ body: { action, stream } }) => {
      const kinds: readonly StreamKind[] = stream === 'all' ? streamKinds : [stream]
      streams[action](kinds)
      return streams.state
    })
    this.#serve(controlOperations.setFault, ({ body }) => {
      faults.set(body, this.#router.served)
      return { faults: faults.list }
    })
    this.#serve(controlOperations.advanceClock, ({ body }) => {
      clock.advance(body.advanceMs)
      return { aheadMs: clock.aheadMs, nowMs: clock.ms() }
    })
  }

  #status(): Status {
    const { maker, faults, streams, clock, mode } = this.#options
    const { chains, coordinator } = maker
    return {
      mode,
      heights: heightsOf(chains.cut),
      paused: [...coordinator.paused].sort((a, b) => a - b),
      streams: streams.state,
      faults: [...faults.list],
      clock: { aheadMs: clock.aheadMs, nowMs: clock.ms() },
      ruleChanges: chains.rules.changes.map(ruleOf),
    }
  }

  /** Answers with JSON once the change is made and durable. */
  #serve<const O extends Operation>(operation: O, run: (call: Call<O>) => unknown): void {
    this.#router.serve<O>(operation, async (call, reply) => {
      try {
        const result = await this.#turns.take(async () => {
          try {
            return await run(call)
          } finally {
            // A refusal may come after half of the blocks, and says so.
            await this.#options.settled()
          }
        })
        return sendJson(reply, JSON_TYPE, JSON.stringify(result))
      } catch (error) {
        if (error instanceof OrderRefused) return refuse(reply, error)
        throw error
      }
    })
  }
}

/**
 * Refuses control to everything but programs on this machine; true: it has answered. A web page is kept out in three
 * ways: the media type it would need, the CORS headers it does not get, and the name it would reach the node by.
 */
export function refuseForeign(request: FastifyRequest, reply: FastifyReply): boolean {
  const address = request.socket.remoteAddress ?? ''
  if (!isLoopback(address)) {
    void refuse(reply, {
      status: 403,
      message: `control is for this machine only, and you are ${address || 'unknown'}`,
    })
    return true
  }
  const host = hostOf(request.headers.host ?? '')
  // A page whose host name was made to point here (DNS rebinding) has the same origin as the node.
  if (host !== 'localhost' && isIP(host) === 0) {
    void refuse(reply, { status: 403, message: `control goes by an IP address or localhost, not by ${host}` })
    return true
  }
  return false
}

export function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(address)
}

function hostOf(header: string): string {
  return /^\[(.*)\](:\d+)?$/.exec(header)?.[1] ?? header.replace(/:\d+$/, '').toLowerCase()
}

function countsOf(body: Readonly<Record<string, number>>, cut: Cut): Map<number, number> {
  const counts = new Map<number, number>()
  for (const [name, count] of Object.entries(body)) {
    const chain = Number(name)
    if (String(chain) !== name || !cut.has(chain)) {
      throw new OrderRefused(400, `there is no chain ${JSON.stringify(name)}: chains are 0 to ${cut.size - 1}`)
    }
    counts.set(chain, count)
  }
  return counts
}

const heightsOf = (cut: Cut) => Object.fromEntries([...cut].map(([chain, { height }]) => [chain, Number(height)]))

function ruleOf({ from, target, blockDelay }: RuleChange): Status['ruleChanges'][number] {
  return {
    ...(target !== undefined && { difficulty: String(difficultyOf(target)) }),
    ...(blockDelay !== undefined && { blockDelayMs: Number(blockDelay) / 1000 }),
    from: Object.fromEntries(from.entries()),
  }
}

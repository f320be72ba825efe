/** Takes commands to a node: tries them out, signs and sends them, and waits until they are in the chain. */
import { type Clock, sleep } from '../core/clock.ts'
import { NewcutError } from '../core/errors.ts'
import { isRetryable, NodeRefusal } from '../node/errors.ts'
import { machineClock } from '../node/machine-clock.ts'
import type { WaitProgress } from '../node/wait-for.ts'
import type { CommandResult } from '../schema/command-bodies.ts'
import type { Capability } from './capability.ts'
import { type Payload, type SignedCommand, signedCommand } from './command.ts'
import { dataOf, explained } from './failure.ts'
import type { SigningKey } from './keys.ts'
import type { WalletNode } from './wallet-node.ts'

/** A command to be carried out. All keys sign for the same capabilities; none: for everything. */
export interface Order {
  readonly chain: number
  readonly payload: Payload
  /** The account that pays for gas. */
  readonly sender: string
  readonly keys: readonly SigningKey[]
  readonly capabilities: readonly Capability[]
}

/** What a command may cost, and how long it holds. */
export interface Terms {
  readonly gasLimit: number
  /** Coins for a unit of gas, as decimal text. */
  readonly gasPrice: string
  readonly ttlMs: number
}

/** How an order goes on. */
export type Step =
  | { readonly type: 'tried'; readonly chain: number; readonly gas: number }
  /** `again`: the node was away, and may have forgotten the command. */
  | { readonly type: 'sent'; readonly chain: number; readonly requestKey: string; readonly again: boolean }
  | { readonly type: 'proof'; readonly chain: number; readonly targetChain: number }
  | ({ readonly chain: number } & WaitProgress)

/** How a teller works. */
export interface TellerOptions {
  /** Default: 2,500 units of gas at 0.00000001 coins, 15 minutes. */
  readonly terms: Terms
  /** How many blocks have to stand on that of a command; default 0. */
  readonly depth: number
  /** Default: that of the machine. */
  readonly clock: Clock
  /** When it aborts, what is under way ends with its reason; default: never. */
  readonly signal: AbortSignal
  /** Hears of every step; default: nobody does. */
  readonly onStep: (step: Step) => void
}

/** Enough for a transfer. */
export const DEFAULT_TERMS: Terms = { gasLimit: 2500, gasPrice: '0.00000001', ttlMs: 900_000 }

/** Clocks differ, and nodes refuse what was made in their future: commands are made so long ago. */
const PAST_SECONDS = 15
/** For the last block that may take a command to be heard of. */
const GRACE_MS = 60_000
const MAX_SENDS = 5
const SEND_PAUSE_MS = 500

/** Carries out orders on one node. */
export class Teller {
  /** Where commands go. */
  readonly node: WalletNode
  /** How they go there. */
  readonly options: TellerOptions

  constructor(node: WalletNode, options: Partial<TellerOptions> = {}) {
    this.node = node
    this.options = {
      terms: DEFAULT_TERMS,
      depth: 0,
      clock: machineClock,
      signal: new AbortController().signal,
      onStep: () => undefined,
      ...options,
    }
  }

  /** The signed command for an order. */
  sign({ chain, payload, sender, keys, capabilities }: Order): SignedCommand {
    const { terms, clock } = this.options
    const nowMs = clock.wallMs()
    return signedCommand({
      networkId: this.node.info.nodeVersion,
      chain,
      payload,
      signers: keys.map((key) => ({ key, capabilities })),
      sender,
      gasLimit: terms.gasLimit,
      gasPrice: terms.gasPrice,
      ttl: Math.floor(terms.ttlMs / 1000),
      creationTime: Math.floor(nowMs / 1000) - PAST_SECONDS,
      nonce: `newcut ${new Date(nowMs).toISOString()} ${Math.random().toString(36).slice(2, 10)}`,
    })
  }

  /** Has the node execute a command as a block would, without one. Throws CommandFailed, NodeRefusal. */
  async tryOut(chain: number, command: SignedCommand): Promise<CommandResult> {
    const { signal, onStep } = this.options
    const result = await explained(this.node.local(chain, command, { preflight: true, signal }))
    dataOf(result, `it would fail on chain ${chain}`)
    onStep({ type: 'tried', chain, gas: Number(result.gas) })
    return result
  }

  /** Hands a command to the node; again when there is no answer, which does no harm. */
  async send(chain: number, command: SignedCommand): Promise<void> {
    const { clock, signal, onStep } = this.options
    for (let attempt = 1; ; attempt++) {
      try {
        await explained(this.node.send(chain, [command], { signal }))
        break
      } catch (error) {
        signal.throwIfAborted()
        // The answer to an earlier attempt was lost.
        if (attempt > 1 && error instanceof NodeRefusal && /already exists on chain/.test(error.excerpt)) break
        if (!isRetryable(error)) throw error
        if (attempt === MAX_SENDS) throw unanswered(error, command)
        const retryInMs = Math.round(SEND_PAUSE_MS * 2 ** attempt * (0.5 + Math.random()))
        if (error instanceof NewcutError) onStep({ type: 'trouble', chain, error, retryInMs })
        await sleep(clock, retryInMs, signal)
      }
    }
    onStep({ type: 'sent', chain, requestKey: command.hash, again: false })
  }

  /**
   * The result of a command that was sent. With the command itself a node that was away gets it once more, since nodes
   * keep what waits in memory only. Throws CommandFailed, NO_RESULT.
   */
  async result(chain: number, requestKey: string, command?: SignedCommand): Promise<CommandResult> {
    const { depth, signal, onStep, terms } = this.options
    let wasAway = false
    const onProgress = (progress: WaitProgress) => {
      onStep({ ...progress, chain })
      if (progress.type === 'pending' && wasAway && command !== undefined) void this.#sendAgain(chain, command)
      wasAway = progress.type === 'trouble'
    }
    const limitMs = terms.ttlMs + GRACE_MS
    const result = await this.node.waitFor(chain, requestKey, { depth, signal, limitMs, onProgress })
    dataOf(result, `it failed on chain ${chain}`)
    return result
  }

  /** Never rejects: whoever waits for the result hears of an outage by itself. */
  async #sendAgain(chain: number, command: SignedCommand): Promise<void> {
    const { signal, onStep } = this.options
    try {
      await this.node.send(chain, [command], { signal })
      onStep({ type: 'sent', chain, requestKey: command.hash, again: true })
    } catch (error) {
      // A refusal may say that a block has it by now; if not, the wait ends at its limit.
      if (error instanceof NewcutError && !signal.aborted) onStep({ type: 'trouble', chain, error, retryInMs: 0 })
    }
  }

  /** Signs, tries out, sends and waits. Throws CommandFailed, NodeRefusal, NO_RESULT, and what NodeClient throws. */
  async carryOut(order: Order): Promise<CommandResult> {
    const command = this.sign(order)
    await this.tryOut(order.chain, command)
    await this.send(order.chain, command)
    return await this.result(order.chain, command.hash, command)
  }
}

/** Nobody knows whether the command has arrived. */
function unanswered(error: unknown, { hash }: SignedCommand): unknown {
  if (!(error instanceof NewcutError)) return error
  const hint = `the command may have arrived: newcut result ${hash} tells`
  return new NewcutError(error.code, error.message, { hint, cause: error.cause })
}

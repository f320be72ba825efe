/** Sends commands to a node: signs and tries them out, submits them, and waits until they are in the chain. */
import { aroundMs, backoffMs } from '#ground/base/backoff.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { NewcutError, withHint } from '#ground/base/errors.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import { isRetryable, NodeRefusal } from '../node/errors.ts'
import { machineClock } from '../node/machine-clock.ts'
import type { WaitProgress } from '../node/wait-for.ts'
import { isOutOfTime } from './advice.ts'
import type { Capability } from './capability.ts'
import { creationTimeAt, freshNonce, type Payload, type SignedCommand } from './command.ts'
import { dataOf, explainRefusal } from './failure.ts'
import { type SigningKey, signedCommand } from './keys.ts'
import type { WalletNode } from './wallet-node.ts'

/** A command to send. All keys sign for the same capabilities; without any, for everything. */
export interface CommandRequest {
  readonly chain: number
  readonly payload: Payload
  /** The account that pays for gas. */
  readonly sender: string
  readonly keys: readonly SigningKey[]
  readonly capabilities: readonly Capability[]
}

/** Price and lifetime of a command. */
export interface FeeTerms {
  readonly gasLimit: number
  /** Coins per unit of gas, as decimal text. */
  readonly gasPrice: string
  readonly ttlMs: number
}

/** @deprecated the earlier name of FeeTerms */
export type Terms = FeeTerms

/** Progress of a command. */
export type CommandStep =
  /** The clock of the node is ahead of that of the machine by this much, or behind; the command takes its time. */
  | { readonly type: 'time'; readonly chain: number; readonly aheadMs: number }
  | { readonly type: 'tried'; readonly chain: number; readonly gas: number }
  /** `again`: resubmitted after an outage, in which the node may have forgotten the command. */
  | { readonly type: 'sent'; readonly chain: number; readonly requestKey: string; readonly again: boolean }
  | { readonly type: 'proof'; readonly chain: number; readonly targetChain: number }
  | ({ readonly chain: number } & WaitProgress)

/** Options of a CommandSender. */
export interface CommandSenderOptions {
  /** Default: 2,500 units of gas at 0.00000001 coins, 15 minutes. */
  readonly terms: FeeTerms
  /** Number of blocks required on top of the one with the command; default 0. */
  readonly depth: number
  /** Default: the clock of the machine. */
  readonly clock: Clock
  /** When it aborts, running calls end with its reason; default: never. */
  readonly signal: AbortSignal
  /** Called with every step; default: nothing. */
  readonly onStep: (step: CommandStep) => void
}

/** Gas for a transfer, the minimum gas price of live nodes (PROTOCOL.md E.3), and a quarter of an hour. */
export const DEFAULT_TERMS: FeeTerms = { gasLimit: 2500, gasPrice: '0.00000001', ttlMs: 900_000 }

/** Time for news of the last block that may include a command (PROTOCOL.md E.3). */
const RESULT_GRACE_MS = 60_000
/** The pauses between them grow to 8 s: a node that restarts takes longer, and the caller should know. */
const MAX_SUBMISSIONS = 5
/** Clocks that differ by less need no correction: commands are dated back by 15 s, and live for minutes. */
const CLOCK_TOLERANCE_MS = 60_000
const SUBMISSION_PAUSES = aroundMs(1_000, 8_000)

/**
 * Sends commands to one node. A command is
 *
 * 1. signed, with the time of this machine;
 * 2. tried out on the node, which writes nothing (`tried`);
 * 3. submitted, again and again until the node has it (`sent`), with the time of the node if that differs much;
 * 4. awaited: `pending`, then `included` in a block, until enough blocks are on top of that one.
 */
export class CommandSender {
  /** Node that gets the commands. */
  readonly node: WalletNode
  /** Options, with their defaults. */
  readonly options: CommandSenderOptions

  constructor(node: WalletNode, options: Partial<CommandSenderOptions> = {}) {
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

  /**
   * Signs the command for a request.
   * @param nowMs time of the command; default: the clock of the machine
   */
  sign(
    { chain, payload, sender, keys, capabilities }: CommandRequest,
    nowMs = this.options.clock.wallMs(),
  ): SignedCommand {
    const { terms } = this.options
    return signedCommand({
      networkId: this.node.info.nodeVersion,
      chain,
      payload,
      signers: keys.map((key) => ({ key, capabilities })),
      sender,
      gasLimit: terms.gasLimit,
      gasPrice: terms.gasPrice,
      ttl: Math.floor(terms.ttlMs / 1000),
      creationTime: creationTimeAt(nowMs),
      nonce: freshNonce(nowMs),
    })
  }

  /**
   * Signs, tries out and submits. A node whose clock is far from that of the machine may refuse the time of the command.
   * The command is then signed again with the time of the node.
   * @param isTried false to submit without trying it out
   * @throws CommandFailed, NodeRefusal, and the errors of NodeClient
   */
  async submit(request: CommandRequest, isTried = true): Promise<SignedCommand> {
    const { clock, onStep } = this.options
    const { chain } = request
    const submitAt = async (timeMs: number) => {
      const command = this.sign(request, timeMs)
      if (isTried) await this.tryOut(chain, command)
      await this.send(chain, command)
      return command
    }
    const nowMs = clock.wallMs()
    try {
      return await submitAt(nowMs)
    } catch (error) {
      const serverMs = error instanceof NodeRefusal && isOutOfTime(error.excerpt) ? error.serverMs : null
      if (serverMs === null || Math.abs(serverMs - nowMs) < CLOCK_TOLERANCE_MS) throw error
      onStep({ type: 'time', chain, aheadMs: serverMs - nowMs })
      return await submitAt(serverMs)
    }
  }

  /** Executes a command in preflight, as a block would. @throws CommandFailed, NodeRefusal */
  async tryOut(chain: number, command: SignedCommand): Promise<CommandResult> {
    const { signal, onStep } = this.options
    const result = await explainRefusal(this.node.local(chain, command, { preflight: true, signal }), command)
    dataOf(result, `it would fail on chain ${chain}`, command)
    onStep({ type: 'tried', chain, gas: Number(result.gas) })
    return result
  }

  /**
   * Submits a command, and retries if there is no response: submissions are idempotent.
   * @throws NodeRefusal, UnreachableError after the last attempt
   */
  async send(chain: number, command: SignedCommand): Promise<void> {
    const { clock, signal, onStep } = this.options
    for (let attempt = 1; ; attempt++) {
      try {
        await explainRefusal(this.node.send(chain, [command], { signal }), command)
        break
      } catch (error) {
        signal.throwIfAborted()
        // The response to an earlier attempt was lost.
        if (attempt > 1 && error instanceof NodeRefusal && /already exists on chain/.test(error.excerpt)) break
        if (!isRetryable(error)) throw error
        if (attempt === MAX_SUBMISSIONS) throw withArrivalHint(error, command)
        const retryInMs = Math.round(backoffMs(SUBMISSION_PAUSES, attempt - 1, Math.random))
        if (error instanceof NewcutError) onStep({ type: 'trouble', chain, error, retryInMs })
        await sleep(clock, retryInMs, signal)
      }
    }
    onStep({ type: 'sent', chain, requestKey: command.hash, again: false })
  }

  /**
   * Waits for the result of a submitted command.
   * @param command submitted again after an outage, since nodes store pending commands in memory only
   * @throws CommandFailed, NewcutError NO_RESULT
   */
  async waitForResult(chain: number, requestKey: string, command?: SignedCommand): Promise<CommandResult> {
    const { depth, signal, onStep, terms } = this.options
    let wasAway = false
    const onProgress = (progress: WaitProgress) => {
      onStep({ ...progress, chain })
      if (progress.type === 'pending' && wasAway && command !== undefined) void this.#sendAgain(chain, command)
      wasAway = progress.type === 'trouble'
    }
    const limitMs = terms.ttlMs + RESULT_GRACE_MS
    const result = await this.node.waitFor(chain, requestKey, { depth, signal, limitMs, onProgress })
    dataOf(result, `it failed on chain ${chain}`, command)
    return result
  }

  /** Never rejects: the wait for the result notices an outage by itself. */
  async #sendAgain(chain: number, command: SignedCommand): Promise<void> {
    const { signal, onStep } = this.options
    try {
      await this.node.send(chain, [command], { signal })
      onStep({ type: 'sent', chain, requestKey: command.hash, again: true })
    } catch (error) {
      // A refusal may mean that a block has it by now; if not, the wait ends at its limit.
      if (error instanceof NewcutError && !signal.aborted) onStep({ type: 'trouble', chain, error, retryInMs: 0 })
    }
  }

  /**
   * Signs, tries out, submits and waits.
   * @throws CommandFailed, NodeRefusal, NewcutError NO_RESULT, and the errors of NodeClient
   */
  async submitAndWait(request: CommandRequest): Promise<CommandResult> {
    const command = await this.submit(request)
    return await this.waitForResult(request.chain, command.hash, command)
  }

  /** @deprecated the earlier name of waitForResult */
  result(chain: number, requestKey: string, command?: SignedCommand): Promise<CommandResult> {
    return this.waitForResult(chain, requestKey, command)
  }

  /** @deprecated the earlier name of submitAndWait */
  carryOut(request: CommandRequest): Promise<CommandResult> {
    return this.submitAndWait(request)
  }
}

/** Adds a hint to an error after which the command may or may not have arrived. */
function withArrivalHint(error: unknown, { hash }: SignedCommand): unknown {
  if (!(error instanceof NewcutError)) return error
  return withHint(error, `the command may have arrived: newcut result ${hash} shows its result`)
}

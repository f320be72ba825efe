/** Read-only calls and trials of commands: plain ones at once, all others in a thread with a deadline. */
import { ContractError } from '#language/contracts/errors.ts'
import { MissingEntry } from '#language/contracts/machine/state.ts'
import type { Command } from '../command/command.ts'
import type { BlockContext } from '../ledger/block-context.ts'
import { type CopiedBase, textsOf } from '../ledger/copied-base.ts'
import type { Ledger, Preflight } from '../ledger/ledger.ts'
import { outOfGas, trialFault } from '../ledger/local.ts'
import type { DryRun } from '../mempool/mempools.ts'
import { TIMED_OUT } from '../mempool/refusals.ts'
import { keepVerdicts, type SignedParts } from '../mempool/slh-dsa.ts'
import { ExecutionUnavailable } from './errors.ts'
import { type Executor, isAtFault, type TaskOutcome, type TaskSource } from './executor.ts'
import type { CommandTask } from './messages.ts'

export class Calls implements DryRun {
  readonly #ledger: Ledger
  readonly #executor: Executor

  readonly #blocks: Pick<Executor, 'isWarm' | 'warm'>

  readonly #fork: CopiedBase | null

  /**
   * @param blocks executes the blocks that hold the commands later
   * @param fork state below the first blocks, if the network was forked
   */
  constructor(
    ledger: Ledger,
    executor: Executor,
    blocks: Pick<Executor, 'isWarm' | 'warm'>,
    fork: CopiedBase | null = null,
  ) {
    this.#fork = fork
    this.#blocks = blocks
    this.#ledger = ledger
    this.#executor = executor
  }

  /** Plain /local, on top of the block `depth` below the head of that moment. @returns JSON text of the result */
  local(chain: number, command: Command, depth: () => number): string | Promise<string> {
    return this.#complete(command, () => this.#local(chain, command, depth()))
  }

  /** Reports what a call printed once it is done: on a fork, it may run several times. */
  #reportPrints(by: 'local' | 'preflight', chain: number, { key }: Command, outcome: TaskOutcome): void {
    const printed = 'text' in outcome ? outcome.printed : undefined
    if (printed != null) this.#ledger.reportPrints({ by, chain, requestKey: key }, printed)
  }

  #local(chain: number, command: Command, depth: number): string | Promise<string> {
    const { context, state } = this.#ledger.base(chain, depth)
    if (this.#ledger.isPlain(state, command)) return this.#ledger.local(chain, command, depth)
    return this.#run('local', command, context, state).then((outcome) => {
      this.#reportPrints('local', chain, command, outcome)
      return 'text' in outcome ? outcome.text : stoppedText(command, context, outcome)
    })
  }

  /** Preflight, on top of the block `depth` below the head of that moment. */
  preflight(chain: number, command: Command, depth: () => number): Preflight | Promise<Preflight> {
    return this.#complete(command, () => this.#preflight(chain, command, depth()))
  }

  /** @param isReported whether to report what it prints */
  #preflight(chain: number, command: Command, depth: number, isReported = true): Preflight | Promise<Preflight> {
    const { context, state } = this.#ledger.base(chain, depth)
    if (this.#ledger.isPlain(state, command)) return this.#ledger.preflightAsSent(chain, command, depth)
    return this.#run('preflight', command, context, state).then((outcome) => {
      if (isReported) this.#reportPrints('preflight', chain, command, outcome)
      if ('text' in outcome || 'refused' in outcome) return outcome
      return { text: stoppedText(command, context, outcome), isPlain: false }
    })
  }

  /** @returns why a command may not become pending, null if it may, or undefined if only `tryLater` knows */
  tryNow(chain: number, command: Command): string | null | undefined {
    // The forked network has to be asked.
    if (this.#fork !== null) return undefined
    const { context, state } = this.#ledger.base(chain, 0)
    if (!this.#ledger.hasPlainPayer(state, command)) return undefined
    return this.#blocks.isWarm || this.#ledger.isPlain(state, command) ? trialFault(state, context, command) : undefined
  }

  /** Like `now`, in the thread. Once it resolves, the thread of blocks can take the command. */
  async tryLater(chain: number, command: Command): Promise<string | null> {
    const fault = await this.#complete(command, () => this.#tryInThread(chain, command))
    // Run it once, so that the block that takes it finds everything.
    if (fault === null && this.#fork !== null) {
      await this.#complete(command, () => this.#preflight(chain, command, 0, false))
    }
    return fault
  }

  async #tryInThread(chain: number, command: Command): Promise<string | null> {
    await this.#blocks.warm()
    const { context, state } = this.#ledger.base(chain, 0)
    if (this.#ledger.hasPlainPayer(state, command)) return trialFault(state, context, command)
    const outcome = await this.#run('trial', command, context, state)
    if ('passed' in outcome) return null
    return 'refused' in outcome ? outcome.refused : TIMED_OUT
  }

  /** Verifies the signatures of a command that take long. @returns why it could not, or null */
  async verifySignatures(chain: number, command: SignedParts): Promise<string | null> {
    const { context, state } = this.#ledger.base(chain, 0)
    const verified = await verifyIn(this.#executor, command, taskSourceOf(this.#ledger, context, state))
    return verified ? null : TIMED_OUT
  }

  /** @returns why a continuation is too late, or null */
  pactFault(chain: number, command: Command): string | null {
    try {
      return this.#ledger.pactFault(chain, command)
    } catch (error) {
      // The block finds out.
      if (error instanceof MissingEntry || error instanceof ContractError) return null
      throw error
    }
  }

  /** Runs until nothing of a forked network is missing. */
  #complete<T>(command: Command, run: () => T | Promise<T>): T | Promise<T> {
    return this.#fork === null ? run() : this.#fork.complete(run, textsOf(command))
  }

  #run(
    kind: CommandTask['kind'],
    command: Command,
    context: BlockContext,
    state: TaskSource['state'],
  ): Promise<TaskOutcome> {
    return this.#executor.run(taskOf(kind, command, context), taskSourceOf(this.#ledger, context, state))
  }
}

/** Verifies signatures in a thread. @returns whether their verdicts are known now */
export async function verifyIn(
  executor: Executor,
  { sigs, signers, hash }: SignedParts,
  source: TaskSource,
  hasDeadline = true,
): Promise<boolean> {
  const command = { sigs, signers, hash }
  const outcome = await executor.run({ kind: 'signatures', command }, source, hasDeadline)
  if (!('verdicts' in outcome)) return false
  keepVerdicts(command, outcome.verdicts)
  return true
}

/** State and proofs for a command in this block. */
export function taskSourceOf(ledger: Ledger, context: BlockContext, state: TaskSource['state']): TaskSource {
  return {
    state,
    verify: (proof) => ledger.verify(context, proof),
    verifySpv: (type, object) => ledger.verifySpv(context, type, object),
  }
}

/** The task of a command, as messages carry it. */
export function taskOf(kind: CommandTask['kind'], { key, sigs, cmd }: Command, context: BlockContext): CommandTask {
  // Messages hold no functions.
  const { spv: _, ...place } = context
  const signed = { hash: key, sigs: [...sigs], cmd } as CommandTask['command']
  return { kind, command: signed, context: place }
}

/** A call that was stopped fails as if it had used all its gas. @throws ExecutionUnavailable if it did not begin */
function stoppedText(command: Command, { rules }: BlockContext, outcome: TaskOutcome): string {
  if ('stopped' in outcome && !isAtFault(outcome.stopped)) throw new ExecutionUnavailable()
  return outOfGas(command, Math.min(command.meta.gasLimit, rules.blockGas))
}

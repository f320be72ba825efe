/** Messages between the node and its execution thread. */
import type { MessagePort } from 'node:worker_threads'
import type { MinerAccount } from '#ground/chain/payload.ts'
import type { Domain } from '#language/contracts/machine/state.ts'
import type { PrintOutput } from '#language/contracts/trace/print-log.ts'
import type { StoredValue } from '#language/contracts/values/keep.ts'
import type { SignedCommand } from '../command/read.ts'
import type { BlockContext } from '../ledger/block-context.ts'
import type { OutputLimits } from '../ledger/command-result.ts'
import type { EncodedModule, ModuleId } from '../ledger/entry-codec.ts'
import type { TracedCommand } from '../ledger/trace.ts'
import type { SignedParts } from '../mempool/slh-dsa.ts'

/** Given to the thread when it starts. */
export interface ThreadData {
  readonly port: MessagePort
  readonly signals: Int32Array<SharedArrayBuffer>
  /** Modules of the first block. The thread loads them before its first command, which needs most of them. */
  readonly genesis: readonly GenesisModule[]
}

/** A module of the first block, under its name. */
export type GenesisModule = readonly [name: string, module: EncodedModule]

/** Indexes of `signals`: each counts the messages in one direction, and wakes a waiting side. */
export const TO_THREAD = 0
export const TO_NODE = 1

/** A command to execute, and how. */
export interface CommandTask {
  readonly kind: 'local' | 'preflight' | 'trial' | 'execute' | 'trace'
  readonly command: SignedCommand
  /** The thread asks the node to verify proofs. */
  readonly context: Omit<BlockContext, 'spv'>
  /** For `trace` and `execute`: public keys that sign too. */
  readonly keys?: readonly string[]
  /** For `execute`: whether to trace it. */
  readonly isTraced?: boolean
  /** For `execute`, and for `trace` of a transaction in a block. */
  readonly block?: {
    readonly miner: MinerAccount
    readonly txId: number
    readonly gasLimit: number
    readonly isPrivileged: boolean
    readonly limits?: OutputLimits
  }
}

/** A write of a command, in the form of ledger/entry-codec.ts. */
interface EncodedWrite {
  readonly domain: Domain
  readonly key: string
  readonly json: unknown
}

/** A module that the command has made, under an id below 0. */
export type CreatedModule = readonly [id: number, module: EncodedModule]

/** Signatures to verify that take long. */
export interface SignatureTask {
  readonly kind: 'signatures'
  readonly command: SignedParts
}

/** Outcome of a task. */
export type TaskResult =
  /** `local`, `preflight`: JSON text of the result. `isPlain`: without preflight, as for code that does not parse. */
  | { readonly text: string; readonly isPlain: boolean; readonly printed?: PrintOutput | null }
  /** `preflight`: no payer, so nothing was executed. `trial`, `execute`: refused. */
  | { readonly refused: string; readonly isFinal: boolean }
  /** `trial`: the command may become pending. */
  | { readonly passed: true }
  /** `signatures`: {@link verdictsOn}. */
  | { readonly verdicts: readonly boolean[] }
  /** `trace`. */
  | TracedCommand
  /** `execute`. */
  | {
      readonly output: string
      readonly gas: number
      readonly hasFailed: boolean
      readonly writes: readonly EncodedWrite[]
      readonly modules: readonly CreatedModule[]
      readonly printed?: PrintOutput | undefined
      /** As in {@link TracedCommand}. */
      readonly traceText?: string | undefined
    }

/** A read of the state, or the verification of a proof. The thread waits for its answer. */
export type ThreadQuestion =
  | { readonly ask: 'entry'; readonly domain: Domain; readonly key: string }
  | { readonly ask: 'keys'; readonly domain: Domain }
  | { readonly ask: 'module'; readonly id: ModuleId }
  | { readonly ask: 'proof'; readonly proof: string }
  /** For `verify-spv`; `object` in the form of contracts/values/keep.ts. */
  | { readonly ask: 'spv'; readonly type: string; readonly object: StoredValue }

export type FromThread =
  /** The thread is loaded. `threadId`: its Linux id, or null on other systems. */
  | { readonly ready: true; readonly threadId: number | null }
  | { readonly question: ThreadQuestion }
  | { readonly result: TaskResult }
  /** The task ended with an error that is not one of contract code. */
  | { readonly broken: string }

/**
 * `refused`: why the command fails, such as state that a forked network does not report. `failed`: the node could not
 * read the state.
 */
export type ThreadAnswer = { readonly answer: unknown } | { readonly refused: string } | { readonly failed: true }

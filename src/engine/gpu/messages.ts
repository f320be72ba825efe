/**
 * What a GPU's child process and its parent tell each other: lines of JSON, commands on the child's standard input,
 * reports on its file descriptor 3, since drivers may write to standard output and error. The child runs foreign code,
 * so the parent checks every report; one that fails the check is a failure of the child.
 */

import { decodeHex, encodeHex } from '../../core/bytes.ts'
import { describeError } from '../../core/errors.ts'
import type { FixedNonce } from '../../core/nonce.ts'
import { type Static, type TSchema, Type, Value } from '../../schema/typebox.ts'
import type { EngineWork } from '../engine.ts'
import type { NonceRange } from '../range.ts'
import { MAX_BATCH_NONCES, MAX_RESULT_NONCES, MAX_TRIPS } from './layout.ts'

/** Longest line: a batch full of candidates takes 20 KiB. */
export const MAX_LINE_CHARACTERS = 65_536
export const REPORT_DESCRIPTOR = 3

const Text = Type.String({ maxLength: 200 })
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** What Dawn says about a device that can compute. */
export const AdapterInfo = Type.Object({
  name: Text,
  backend: Text,
  vendor: Text,
  architecture: Text,
  device: Text,
  /** Name and version of the driver, as far as known. */
  driver: Text,
  /** A driver that computes on the CPU: good for tests, slower than the CPU engine. */
  software: Type.Boolean(),
  limits: Type.Object({ invocationsPerWorkgroup: Count, workgroupsPerDimension: Count, storageBufferBytes: Count }),
})
export type AdapterInfo = Readonly<Static<typeof AdapterInfo>>

const ListedAdapter = Type.Object({
  ...AdapterInfo.properties,
  /** Number of cards for which Dawn opens this one, the first: their name is its name, or a part of it. */
  alike: Type.Integer({ minimum: 1, maximum: 64 }),
})
/** `card`: what tells it from identical ones (identical.ts). */
export type ListedAdapter = Readonly<Static<typeof ListedAdapter>> & Pick<AdapterChoice, 'card'>

/** Sizes that suit a device. */
export const Tuning = Type.Object({
  /** Lanes in a workgroup. */
  workgroup: Type.Integer({ minimum: 1, maximum: 1024 }),
  /** Nonces a lane tries in one dispatch. */
  trips: Type.Integer({ minimum: 1, maximum: MAX_TRIPS }),
  /** Whether sums are split over two pipes (shaders/search.wgsl). */
  split: Type.Boolean(),
  /** Where batch sizes start. */
  noncesPerMs: Type.Number({ minimum: 1, maximum: MAX_BATCH_NONCES }),
})
export type Tuning = Readonly<Static<typeof Tuning>>

const reports = {
  /** The answer to `list`. */
  adapters: Type.Object({ type: Type.Literal('adapters'), adapters: Type.Array(ListedAdapter, { maxItems: 64 }) }),
  ready: Type.Object({ type: Type.Literal('ready'), adapter: AdapterInfo, tuning: Tuning }),
  /** The device has begun a batch of this work, or was told that there is none. */
  began: Type.Object({ type: Type.Literal('began'), sequence: Count }),
  /** A batch whose result is proven to be its own. */
  batch: Type.Object({
    type: Type.Literal('batch'),
    sequence: Count,
    nonces: Type.Integer({ minimum: 1, maximum: MAX_BATCH_NONCES }),
    serviceMs: Type.Number({ minimum: 0 }),
    /** Nonces to report, 16 hexadecimal digits each. */
    candidates: Type.Array(Type.String({ pattern: '^[0-9a-f]{16}$' }), { maxItems: MAX_RESULT_NONCES }),
  }),
  /** Something the user should know; the child goes on. */
  warning: Type.Object({ type: Type.Literal('warning'), message: Text }),
  /** The child is about to exit. `hopeless`: another one would fail in the same way. */
  failed: Type.Object({ type: Type.Literal('failed'), message: Text, hopeless: Type.Boolean() }),
} satisfies Record<string, TSchema>

export type GpuReport = { [Kind in keyof typeof reports]: Static<(typeof reports)[Kind]> }[keyof typeof reports]

/** What Dawn needs to find an adapter again. */
export interface AdapterChoice {
  readonly backend: string
  readonly name: string
  /** Number of the only card that its process is shown; undefined: it is shown all. */
  readonly card?: number | undefined
  readonly alike?: number | undefined
}

export interface SearchSettings {
  /** null: the one Dawn prefers. */
  readonly adapter: AdapterChoice | null
  readonly allowSoftware: boolean
  readonly range: NonceRange
  /** Service time that batch sizes aim at. */
  readonly batchMs: number
  /** Batches submitted at once. Two hide the time between a result and the next batch. */
  readonly inFlight: number
  /** These override what tuning finds. */
  readonly workgroup: number | null
  readonly trips: number | null
  readonly split: boolean | null
  /** File with tuned values; null: neither read nor written, and nothing is tuned. */
  readonly tuningFile: string | null
  /** Tune even if the file has values. */
  readonly retune: boolean
}

export interface WorkCommand {
  readonly type: 'work'
  readonly sequence: number
  /** Hexadecimal; null: no work. */
  readonly bytes: string | null
  readonly target: string
  readonly fixedNonce: FixedNonce
}

export type GpuCommand =
  | { readonly type: 'list' }
  | { readonly type: 'search'; readonly settings: SearchSettings }
  | WorkCommand

export function workCommand({ sequence, bytes, target, fixedNonce }: EngineWork): WorkCommand {
  return { type: 'work', sequence, bytes: bytes && encodeHex(bytes), target: target.toString(16), fixedNonce }
}

export function workOf({ sequence, bytes, target, fixedNonce }: WorkCommand): Omit<EngineWork, 'job'> {
  return { sequence, bytes: bytes === null ? null : decodeHex(bytes), target: BigInt(`0x${target}`), fixedNonce }
}

/** Cut to what a report may hold. */
export function reportText(value: unknown): string {
  return (typeof value === 'string' ? value : describeError(value)).slice(0, 200)
}

/** The report in a line; null when the line is not a valid report. */
export function parseReport(line: string): GpuReport | null {
  try {
    const value: unknown = JSON.parse(line)
    const kind = (value as { type?: unknown } | null)?.type
    if (typeof kind !== 'string' || !Object.hasOwn(reports, kind)) return null
    return Value.Check(reports[kind as keyof typeof reports], value) ? (value as GpuReport) : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Cuts a stream of text into lines. Throws RangeError for a line that is too long. */
export class LineReader {
  #rest = ''

  push(text: string): string[] {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    if ([this.#rest, ...lines].some(({ length }) => length > MAX_LINE_CHARACTERS))
      throw new RangeError(`a line of more than ${MAX_LINE_CHARACTERS} characters`)
    return lines
  }
}

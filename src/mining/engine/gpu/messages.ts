/**
 * Messages between a GPU's child process and its parent, as lines of JSON. Commands come on stdin. Reports go to file
 * descriptor 3, because drivers may write to stdout and stderr. The child runs foreign code, so the parent checks every
 * report. An invalid report counts as a failure of the child.
 */

import { decodeHex, encodeHex } from '#ground/base/bytes.ts'
import { describeError } from '#ground/base/errors.ts'
import type { FixedNonce } from '#ground/chain/nonce.ts'
import { type Static, type TSchema, Type, Value } from '#ground/schema/typebox.ts'
import type { EngineWork } from '../engine.ts'
import type { NonceRange } from '../range.ts'
import { MAX_BATCH_NONCES, MAX_RESULT_NONCES, MAX_TRIPS } from './layout.ts'

/** Maximum length of a line; a batch full of candidates takes 20 KiB. */
export const MAX_LINE_CHARACTERS = 65_536
export const REPORT_DESCRIPTOR = 3

const Text = Type.String({ maxLength: 200 })
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** Dawn's description of a device that can compute. */
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
  /** Number of cards for which Dawn opens this one, the first: their names equal or contain its name. */
  alike: Type.Integer({ minimum: 1, maximum: 64 }),
})
/** `card` distinguishes it from identical cards (identical.ts). */
export type ListedAdapter = Readonly<Static<typeof ListedAdapter>> & Pick<AdapterChoice, 'card'>

/** Tuned parameters of a device. */
export const Tuning = Type.Object({
  /** Lanes in a workgroup. */
  workgroup: Type.Integer({ minimum: 1, maximum: 1024 }),
  /** Nonces per lane in one dispatch. */
  trips: Type.Integer({ minimum: 1, maximum: MAX_TRIPS }),
  /** Whether sums are split over two pipes (shaders/search.wgsl). */
  split: Type.Boolean(),
  /** Initial batch size. */
  noncesPerMs: Type.Number({ minimum: 1, maximum: MAX_BATCH_NONCES }),
})
export type Tuning = Readonly<Static<typeof Tuning>>

const reports = {
  /** The answer to `list`. */
  adapters: Type.Object({ type: Type.Literal('adapters'), adapters: Type.Array(ListedAdapter, { maxItems: 64 }) }),
  ready: Type.Object({ type: Type.Literal('ready'), adapter: AdapterInfo, tuning: Tuning }),
  /** The device has begun a batch of this work, or knows that there is no work. */
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
  /** A message for the user; the child continues. */
  warning: Type.Object({ type: Type.Literal('warning'), message: Text }),
  /** The child is about to exit. `hopeless`: another one would fail in the same way. */
  failed: Type.Object({ type: Type.Literal('failed'), message: Text, hopeless: Type.Boolean() }),
} satisfies Record<string, TSchema>

export type GpuReport = { [Kind in keyof typeof reports]: Static<(typeof reports)[Kind]> }[keyof typeof reports]

/** Identifies an adapter for Dawn. */
export interface AdapterChoice {
  readonly backend: string
  readonly name: string
  /** Number of the only card that its process sees, or undefined if it sees all. */
  readonly card?: number | undefined
  readonly alike?: number | undefined
}

export interface SearchSettings {
  /** The adapter, or null for the one that Dawn prefers. */
  readonly adapter: AdapterChoice | null
  readonly allowSoftware: boolean
  readonly range: NonceRange
  /** Target service time of batches. */
  readonly batchMs: number
  /** Batches submitted at once. Two hide the time between a result and the next batch. */
  readonly inFlight: number
  /** These override tuned values. */
  readonly workgroup: number | null
  readonly trips: number | null
  readonly split: boolean | null
  /** File of tuned values. If null, nothing is tuned, read or written. */
  readonly tuningFile: string | null
  /** Whether to tune even if the file has values. */
  readonly retune: boolean
}

interface WorkCommand {
  readonly type: 'work'
  readonly sequence: number
  /** Hexadecimal, or null for no work. */
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

export function engineWorkOf({ sequence, bytes, target, fixedNonce }: WorkCommand): Omit<EngineWork, 'job'> {
  return { sequence, bytes: bytes === null ? null : decodeHex(bytes), target: BigInt(`0x${target}`), fixedNonce }
}

/** Text of at most the length that a report allows. */
export function reportText(value: unknown): string {
  return (typeof value === 'string' ? value : describeError(value)).slice(0, 200)
}

/** @returns null if the line is not a valid report */
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

/**
 * Splits a stream of text into lines.
 * @throws RangeError for a line that is too long
 */
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

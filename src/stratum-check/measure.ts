/** How well the jobs of a server keep a rig busy: pure, from the times at which they came. */
import { encodeHex } from '../core/bytes.ts'
import { withCreationTime } from '../core/header.ts'
import { KA3_HEADER_MS, KA3_SHORT_HEADER_MS } from '../stratum/rig-rates.ts'
import { type JobHeard, WORK_BYTES } from './login.ts'
import type { Maker } from './makers.ts'

export interface JobMeasure {
  /** From the first job on. */
  readonly seconds: number
  readonly jobs: number
  /** Jobs whose header differs from that before. */
  readonly headers: number
  /** Those of them in which nothing but the creation time differs. */
  readonly rolled: number
  /** Jobs with a header that came before, and another one since. */
  readonly repeated: number
  readonly headersPerSecond: number
  /** Longest time without any line, from the log-in on. */
  readonly longestSilenceMs: number
  /** How long a header lasts the rig; null: its rate is not known. */
  readonly headerMs: number | null
  /** Share of its hash power that goes into nonces that it has not tried, from 0 to 1; null: not known. */
  readonly used: number | null
}

/** With five bytes of nonce2 and fewer an Antminer's boards do the same. */
const ENOUGH_BYTES = 6
const NONCE_BYTES = 8

/** How long the fastest rig of this maker has nonces for a header; null: its rate is not known. */
export function headerMsOf({ isStrict, rate }: Maker, nonce2Bytes: number): number | null {
  if (isStrict) return nonce2Bytes < ENOUGH_BYTES ? KA3_SHORT_HEADER_MS : KA3_HEADER_MS
  return rate === null ? null : (256 ** nonce2Bytes / rate) * 1000
}

/** `heardAtMs`: times of all lines from the log-in on. null: there was no job. */
export function measured(
  jobs: readonly JobHeard[],
  heardAtMs: readonly number[],
  { headerMs, endMs }: { readonly headerMs: number | null; readonly endMs: number },
): JobMeasure | null {
  if (jobs.length === 0) return null
  const seconds = (endMs - jobs[0].atMs) / 1000
  const spent = new Map<string, number>()
  let [current, work, headers, rolled, repeated, usedMs] = ['', '', 0, 0, 0, 0]
  for (const [index, { atMs, header }] of jobs.entries()) {
    const [text, without] = [searchedText(header), workText(header)]
    if (text !== current) {
      if (index > 0) headers++
      if (without === work) rolled++
      if (spent.has(text)) repeated++
    }
    current = text
    work = without
    const before = spent.get(text) ?? 0
    const lastsMs = (jobs[index + 1]?.atMs ?? endMs) - atMs
    usedMs += Math.min(lastsMs, Math.max(0, (headerMs ?? 0) - before))
    spent.set(text, before + lastsMs)
  }
  return {
    ...{ seconds, jobs: jobs.length, headers, rolled, repeated, headerMs },
    headersPerSecond: seconds === 0 ? 0 : headers / seconds,
    longestSilenceMs: longestGap([...heardAtMs, endMs]),
    used: headerMs === null ? null : seconds === 0 ? 1 : usedMs / (seconds * 1000),
  }
}

/** A header without its nonce, whose place is at the end: with another one a rig does not begin anew. */
const searchedText = (header: Uint8Array) => encodeHex(header.subarray(0, -NONCE_BYTES))

/** The same without the creation time; what is no work of these networks as it is. */
function workText(header: Uint8Array): string {
  return searchedText(header.length === WORK_BYTES ? withCreationTime(header, 0n) : header)
}

function longestGap(times: readonly number[]): number {
  return Math.max(0, ...times.slice(1).map((time, index) => time - times[index]))
}

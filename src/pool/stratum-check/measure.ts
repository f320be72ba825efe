/** Measures how well the jobs of a server keep a rig busy. Pure: uses the times of their arrival. */
import { encodeHex } from '#ground/base/bytes.ts'
import { withCreationTime } from '#ground/chain/header.ts'
import { KA3_HEADER_MS, KA3_SHORT_HEADER_MS } from '#mining/stratum/rig-rates.ts'
import { type ReceivedJob, WORK_BYTES } from './login.ts'
import type { Manufacturer } from './makers.ts'

export interface JobTiming {
  /** Duration from the first job. */
  readonly seconds: number
  readonly jobs: number
  /** Jobs whose header differs from the previous one. */
  readonly headers: number
  /** Headers that differ only in the creation time. */
  readonly rolled: number
  /** Jobs with a header of an earlier job, after a different one. */
  readonly repeated: number
  readonly headersPerSecond: number
  /** Longest time without any line, from the log-in. */
  readonly longestSilenceMs: number
  /** Time in which the rig searches all nonces of a header, or null if its rate is unknown. */
  readonly headerMs: number | null
  /** Portion of its hashrate spent on new nonces, 0 to 1, or null if its rate is unknown. */
  readonly used: number | null
}

/** With less than six bytes of nonce2, all boards of an Antminer search the same nonces. */
const ENOUGH_BYTES = 6
const NONCE_BYTES = 8

/**
 * Time in which the fastest rig of this maker searches all nonces of a header.
 * @returns null if its rate is unknown
 */
export function headerMsOf({ isStrict, rate }: Manufacturer, nonce2Bytes: number): number | null {
  if (isStrict) return nonce2Bytes < ENOUGH_BYTES ? KA3_SHORT_HEADER_MS : KA3_HEADER_MS
  return rate === null ? null : (256 ** nonce2Bytes / rate) * 1000
}

/**
 * @param heardAtMs times of all lines from the log-in
 * @returns null if there was no job
 */
export function measureJobs(
  jobs: readonly ReceivedJob[],
  heardAtMs: readonly number[],
  { headerMs, endMs }: { readonly headerMs: number | null; readonly endMs: number },
): JobTiming | null {
  if (jobs.length === 0) return null
  const seconds = (endMs - jobs[0].atMs) / 1000
  const spent = new Map<string, number>()
  let current = ''
  let work = ''
  let headers = 0
  let rolled = 0
  let repeated = 0
  let usedMs = 0
  for (const [index, { atMs, header }] of jobs.entries()) {
    const text = searchedText(header)
    const without = workText(header)
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
    seconds,
    jobs: jobs.length,
    headers,
    rolled,
    repeated,
    headerMs,
    headersPerSecond: seconds === 0 ? 0 : headers / seconds,
    longestSilenceMs: longestGap([...heardAtMs, endMs]),
    used: headerMs === null ? null : seconds === 0 ? 1 : usedMs / (seconds * 1000),
  }
}

/** The header without its nonce at the end: a different nonce does not make a rig start over. */
const searchedText = (header: Uint8Array) => encodeHex(header.subarray(0, -NONCE_BYTES))

/** The same without the creation time. Bytes that are not work of these networks stay as they are. */
function workText(header: Uint8Array): string {
  return searchedText(header.length === WORK_BYTES ? withCreationTime(header, 0n) : header)
}

function longestGap(times: readonly number[]): number {
  return Math.max(0, ...times.slice(1).map((time, index) => time - times[index]))
}

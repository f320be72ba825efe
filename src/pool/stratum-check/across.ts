/** Findings that only several connections to one server show together. */
import { createFinding, type Finding } from './findings.ts'
import type { ManufacturerReport } from './judge.ts'
import type { Transcript } from './transcript.ts'

export interface ObservedConnection {
  readonly report: ManufacturerReport
  readonly transcript: Transcript
}

/** Findings that belong to no single maker. */
export function acrossMakers(visited: readonly ObservedConnection[]): Finding[] {
  const findings: Finding[] = []
  const shared = visited.find((one, index) => visited.slice(index + 1).some((other) => isSameSpace(one, other)))
  if (shared !== undefined) findings.push(createFinding('sharedNonce1', shared.report.nonce1 ?? ''))
  const odd = visited.find(({ report: { nonce1 } }) => (nonce1?.length ?? 0) % 2 === 1)
  if (odd !== undefined) findings.push(createFinding('someNonce1Odd', odd.report.nonce1 ?? ''))
  return findings
}

/** Whether both connections searched the same nonces at the same time. */
function isSameSpace(
  { report: a, transcript: one }: ObservedConnection,
  { report: b, transcript: other }: ObservedConnection,
): boolean {
  if (a.nonce1 === null || b.nonce1 === null || a.nonce1 === '') return false
  if (a.nonce2Bytes !== b.nonce2Bytes || Number.parseInt(a.nonce1, 16) !== Number.parseInt(b.nonce1, 16)) return false
  return subscribedAt(one) < other.endedAtMs && subscribedAt(other) < one.endedAtMs
}

/** A connection may have its nonce1 from the first line of the server. */
const subscribedAt = ({ lines, endedAtMs }: Transcript) => lines.find(({ by }) => by === 'server')?.atMs ?? endedAtMs

/**
 * 100,000 simulated rigs at 10 relays of a fleet: five minutes of one work, in which every rig gets two headers a
 * second.
 */
import { expect, it } from 'vitest'
import { readI64LE } from '../../src/ground/base/bytes.ts'
import { firstOfClass, isOfClass } from '../../src/ground/chain/nonce.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { workFromBytes } from '../../src/ground/chain/work.ts'
import { RELAY_RESIDUES } from '../../src/mining/engine/fleet/residues.ts'
import { Jobs } from '../../src/mining/engine/stratum/jobs.ts'
import { Nonce1Pool } from '../../src/mining/engine/stratum/nonce1-pool.ts'
import { HEADER_MODULUS, OWN_STEP } from '../../src/mining/fleet/messages.ts'
import { readMessage } from '../../src/mining/stratum/messages.ts'
import { engineWork, freshWork } from '../support/work.ts'

const RELAYS = 10
const RIGS = 10_000
const HEADERS = 600
/** Interval at which the miner of a relay advances the creation time. */
const ROLL_MS = 5_000

function timeOf(line: string): bigint {
  const message = readMessage(line.trimEnd())
  if (message.kind !== 'request' || !Array.isArray(message.params)) throw new Error('not a job')
  return readI64LE(Buffer.from(String(message.params[1]), 'hex'), 8)
}

it('no two of 100,000 rigs search the same header and nonce1, and no header is ahead of the clock for long', () => {
  const bytes = freshWork(1n << 60n)
  const start = firstOfClass(workFromBytes(bytes).fields.creationTime, { residue: 0, modulus: OWN_STEP })
  const times = new Set<bigint>()
  let latestMs = 0
  for (let relay = 0; relay < RELAYS; relay++) {
    const pool = new Nonce1Pool(relay * 999, false)
    expect(new Set(Array.from({ length: RIGS }, () => pool.take())).size, 'nonce1 of a relay').toBe(RIGS)
    const headers = { residue: RELAY_RESIDUES[relay * 300], modulus: HEADER_MODULUS }
    let nowMs = 0
    const jobs = new Jobs(
      () => 0,
      () => nowMs,
    )
    for (let i = 0; i < HEADERS; i++) {
      nowMs = i * 500
      const clock = start + BigInt(nowMs) * 1000n
      const isRolled = nowMs % ROLL_MS === 0
      const rolled = { ...engineWork(i, bytes, MAX_TARGET >> 60n), job: 'one', headers }
      const job = isRolled ? jobs.begin({ ...rolled, bytes: withTime(bytes, clock) }) : jobs.issueFresh()
      const time = timeOf(job?.line ?? '')
      expect(isOfClass(time, headers)).toBe(true)
      expect(times.has(time), 'a header that was handed out before').toBe(false)
      times.add(time)
      latestMs = Math.max(latestMs, Number(time - clock) / 1000)
    }
  }
  expect(times.size).toBe(RELAYS * HEADERS)
  expect(latestMs, 'only the first header of a work is ahead').toBeLessThan(HEADER_MODULUS / 1000)
})

function withTime(bytes: Uint8Array, time: bigint): Uint8Array {
  const copy = Uint8Array.from(bytes)
  new DataView(copy.buffer).setBigInt64(8, time, true)
  return copy
}

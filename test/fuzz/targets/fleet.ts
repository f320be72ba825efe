/** Messages between the leader and the rigs of a fleet over NATS, and addresses of NATS servers. */

import { FormatError, type NewcutError } from '../../../src/ground/base/errors.ts'
import type { TSchema } from '../../../src/ground/schema/typebox.ts'
import { type NatsAddress, readNatsAddress } from '../../../src/mining/fleet/address.ts'
import * as fleet from '../../../src/mining/fleet/messages.ts'
import { works } from '../seeds.ts'
import { expect, isNewcutError, jsonBytes, type Target, textTarget } from '../target.ts'

const PASSWORD = 'Pa55-w0rd'
const MAX_TEXT = 2_000
const hash = 'A'.repeat(43)
const work = Buffer.from(works[0]).toString('base64url')

const schemas: readonly TSchema[] = [
  ...[fleet.JobMessage, fleet.MemberReport, fleet.MemberReportAnswer, fleet.OutcomeQuestion],
  ...[fleet.SolutionOutcome, fleet.ListQuestion, fleet.ListAnswer, fleet.MemberCommand, fleet.MemberCommandAnswer],
]

const job = {
  ...{ term: 3, number: 7 },
  job: { id: 'j1', issuer: 'http://node.test', reason: 'new-parent', work, target: 'f'.repeat(64) },
}
const figures = {
  ...{ rig: 'rig1', version: '0.1.0', hashes: 1e9, rate: 1.5e6, state: 'searching', reason: null },
  ...{ accepted: 1, refused: 0 },
}
const network = { network: 'mainnet01', account: 'k:ab' }
const seeds: readonly unknown[] = [
  job,
  { ...figures, session: 's1', lease: 5, seen: { term: 3, number: 7 } },
  { term: 3, leader: 'here', ...network, lease: 5, isPaused: false, job },
  { job: 'j1', issuer: 'http://node.test', work, rig: 'rig1', session: 's1', hashes: 5 },
  { hash },
  { step: 'rejected', reason: 'invalid-pow', message: 'no' },
  { from: 0 },
  {
    ...{ leader: 'here', version: '0.1.0', term: 3, ...network, allPaused: false },
    ...{ rigs: [{ ...figures, lease: null, seenMs: 5 }], next: null },
  },
  { pause: true, rig: 'rig1' },
  { rigs: 1, problem: null },
]

/** For each kind of message: the reader refuses the bytes, or the message survives being written and read. */
function judgeMessage(bytes: Uint8Array): void {
  for (const schema of schemas) {
    try {
      const message = fleet.decodeMessage(schema, bytes, 'message')
      const text = asText(message)
      if (text === null) continue
      const again = fleet.decodeMessage(schema, fleet.encodeMessage(message), 'message')
      expect(asText(again) === text, 'the message is changed')
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      expect(error.message.length <= MAX_TEXT, 'a refusal is short')
    }
  }
}

/** The reader refuses the candidate, or returns its work and rig. */
function judgeCandidate(bytes: Uint8Array): void {
  try {
    const { work, rig } = fleet.decodeCandidate(bytes, 'candidate')
    expect(/^[\w-]{200,4000}$/.test(work) && typeof rig === 'string', 'a candidate has work, and a rig')
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
  }
}

/** @returns null if the message nests too deeply to be serialized */
function asText(message: unknown): string | null {
  try {
    return JSON.stringify(message)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Refusals do not repeat the password. */
function judgeAddress(text: string): void {
  for (const given of [text, `nats://me:${PASSWORD}@${text}`, `nats://${PASSWORD}@${text}`]) {
    let address: NatsAddress
    try {
      address = readNatsAddress(given)
    } catch (error) {
      if (!isNewcutError(error)) throw error
      const { message, hint } = error as NewcutError
      expect(text.includes(PASSWORD) || !`${message} ${hint}`.includes(PASSWORD), 'an error repeats no password')
      continue
    }
    const { host, port, tls, url } = address
    expect(port > 0 && port < 65_536 && !url.includes('@'), 'an address that may be shown')
    const again = readNatsAddress(url)
    expect(
      again.host === host && again.port === port && again.tls === tls && again.url === url,
      'the address is changed',
    )
  }
}

export const fleetTargets: readonly Target[] = [
  {
    name: 'messages of a fleet',
    share: 0.5,
    open: () => ({ seeds: seeds.map(jsonBytes), read: judgeMessage }),
  },
  {
    name: 'candidates of a fleet',
    open: () => ({ seeds: seeds.map(jsonBytes), read: judgeCandidate }),
  },
  textTarget(
    'addresses of NATS servers',
    [
      ...['nats://me:p%40ss@h:1', 'tls://host:5222/', 'nats://token@[::1]:4222', 'host', 'host:4222', '[::1]'],
      ...['nats://h:0', 'h:99999'],
    ],
    judgeAddress,
    { share: 5 },
  ),
]

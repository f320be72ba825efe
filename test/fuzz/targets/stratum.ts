/** Stratum: lines, messages, nonces and targets of both ends, and everything that a rig may send to the server. */

import { decodeHex } from '../../../src/ground/base/bytes.ts'
import { stringifyJson } from '../../../src/ground/base/json.ts'
import { withNonce } from '../../../src/ground/chain/header.ts'
import { FREE_NONCE } from '../../../src/ground/chain/nonce.ts'
import { meets, powHash } from '../../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../../src/ground/chain/target.ts'
import { Accounts } from '../../../src/mining/accounts/accounts.ts'
import { Jobs, nonceOfShare, RIG_WORK_BYTES, type RigJob, shareHash } from '../../../src/mining/engine/stratum/jobs.ts'
import { defaultLimits } from '../../../src/mining/engine/stratum/limits.ts'
import { Session, type SessionPorts } from '../../../src/mining/engine/stratum/session.ts'
import type { Share } from '../../../src/mining/engine/stratum/share.ts'
import { startDifficulty } from '../../../src/mining/engine/stratum/share-difficulty.ts'
import { accountName, MAX_USERS, Users } from '../../../src/mining/engine/stratum/users.ts'
import { MAX_NAMED, nameAfterAccount, Workers } from '../../../src/mining/engine/stratum/workers.ts'
import { receiptOf } from '../../../src/mining/source/pool/receipt.ts'
import { LineSplitter } from '../../../src/mining/stratum/lines.ts'
import { type MessageId, readMessage, requestLine, resultLine } from '../../../src/mining/stratum/messages.ts'
import {
  type ByteOrder,
  composeNonce,
  nonce1Text,
  nonce2Number,
  nonce2Text,
  readNonce1,
} from '../../../src/mining/stratum/nonces.ts'
import { readTarget, targetOfShares, targetText } from '../../../src/mining/stratum/targets.ts'
import { minerLines, poolLines, works } from '../seeds.ts'
import { bytesOf, expect, isNewcutError, jsonBytes, lineStream, pieces, type Target, textTarget } from '../target.ts'

const MAX_LINE_BYTES = 4096
/** Maximum line of a pool. Rigs may send less. */
const MAX_POOL_LINE_CHARACTERS = 16_384
const MAX_REASON_CHARACTERS = 250
const recorded = [...minerLines, ...poolLines]
/** Errors in all forms that servers use. */
const refusals = [
  ...[[21, 'Job not found', null], { code: 23, message: 'low difficulty' }, 'duplicate share', [-1, null]].map(
    (error) => JSON.stringify({ id: 4, result: null, error }),
  ),
  '[20,"no"]',
]

/** The lines before the first that is too long. */
function linesIn(parts: readonly Uint8Array[]): { readonly lines: readonly string[]; readonly isTooLong: boolean } {
  const splitter = new LineSplitter(MAX_LINE_BYTES)
  const lines: string[] = []
  for (const part of parts) {
    const more = splitter.push(Buffer.from(part))
    if (more === null) return { lines, isTooLong: true }
    lines.push(...more)
  }
  return { lines, isTooLong: false }
}

function splitsAlike(bytes: Uint8Array): void {
  const whole = linesIn([bytes])
  const single = bytes.length > 600 ? [] : [Array.from(bytes, (byte) => Uint8Array.of(byte))]
  for (const parts of [pieces(bytes), ...single]) {
    const { lines, isTooLong } = linesIn(parts)
    expect(isTooLong === whole.isTooLong, 'a line is too long however the bytes come')
    expect(isTooLong || lines.join('\n') === whole.lines.join('\n'), 'the same lines however the bytes come')
    expect(
      lines.every((line) => line.length <= MAX_LINE_BYTES && !line.includes('\n') && line.trim() !== ''),
      'lines have a limit, and are not empty',
    )
  }
}

/** @returns null if the parameters nest too deeply to be serialized */
function written(id: MessageId, method: string, params: readonly unknown[]): string | null {
  try {
    return requestLine(id, method, params)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function isLine(text: string): boolean {
  return text.indexOf('\n') === text.length - 1
}

function readsAlike(text: string): void {
  // The line splitter lets no longer line through.
  if (text.length > MAX_POOL_LINE_CHARACTERS) return
  const message = readMessage(text)
  if (message.kind === 'response') {
    expect((message.error?.message.length ?? 0) <= 200, 'a failure of bounded length')
    const receipt = receiptOf(message)
    const reason = 'message' in receipt ? receipt.message : ''
    expect(reason.length <= MAX_REASON_CHARACTERS && !/\p{Cc}/u.test(reason), 'a short and printable reason')
    return
  }
  const { id, method, params, unlisted } = message
  const answer = resultLine(id, true)
  const echoed = readMessage(answer.slice(0, -1)).id
  expect(isLine(answer) && stringifyJson(echoed) === stringifyJson(id), 'ids are echoed as they came')
  // newcut writes parameters only as a list.
  const line = unlisted === undefined ? written(id, method, params) : null
  if (line === null) return
  const again = readMessage(line.slice(0, -1))
  expect(isLine(line) && stringifyJson(again) === stringifyJson(message), 'the message is changed')
}

/** Input lines: nonce1, bytes of nonce2, nonce2, byte order. */
function composes(text: string): void {
  const [own = '', size = '', nonce2 = '', last] = text.split('\n')
  const order: ByteOrder = last === 'memory' ? 'memory' : 'usual'
  const fixed = readNonce1(own, Number(size))
  const nonce2Bytes = 8 - fixed.bits / 8
  expect(
    [0, 8, 16, 24, 32].includes(fixed.bits) && fixed.value >= 0 && fixed.value < 2 ** fixed.bits,
    'nonce1 has its bits',
  )
  expect(readNonce1(nonce1Text(fixed), nonce2Bytes).value === fixed.value, 'nonce1 is changed')
  const nonce = composeNonce(nonce2, fixed, order)
  expect(BigInt.asUintN(64, nonce) === nonce, 'a nonce has 64 bits')
  expect(Number(BigInt.asUintN(fixed.bits, nonce)) === fixed.value, 'nonce1 is the low part')
  expect(composeNonce(nonce2Text(nonce, fixed), fixed) === nonce, 'the nonce is changed')
  if (fixed.bits !== 16 || nonce2 === '') return
  expect(nonceOfShare(fixed.value, nonce2Number(nonce2, 12, order)) === nonce, 'nonces are composed in one way')
}

/** Half of all hashes solve the work, so random nonces are valid shares. */
const TARGET = MAX_TARGET / 2n
const SHARES_PER_JOB = 8
/** The nonce1 of another session. */
const TAKEN = 0x0102
const NONCE1 = 0x0201
/** After this many lines, new work arrives. */
const LINES_PER_WORK = 16
const [work] = works.filter(({ length }) => length === RIG_WORK_BYTES)

/** State that all sessions of a server share. */
interface Shop {
  readonly accounts: Accounts
  readonly workers: Workers
  readonly users: Users
  nowMs: number
}

/** A session without a server: it records and judges the lines that the session writes. */
class Trial {
  readonly session: Session
  readonly #shop: Shop
  readonly #jobs: Jobs
  readonly #found = new Set<string>()
  /** Answers to the current line. */
  #answers: { readonly id: MessageId }[] = []
  #needsJob = false
  #isOpen = true
  #lines = 0
  #works = 0

  constructor(shop: Shop) {
    this.#shop = shop
    this.#jobs = new Jobs(
      () => 0,
      () => shop.nowMs,
    )
    this.#begin()
    this.session = new Session(NONCE1, this.#ports())
  }

  /** Sends a line to the session. @returns false if the session is closed */
  hear(line: string): boolean {
    this.#answers = []
    this.session.receive(line)
    this.#judgeAnswers(line)
    this.#shop.nowMs += 1_000
    this.session.check()
    if (++this.#lines % LINES_PER_WORK === 0) this.#tell(this.#begin())
    else if (this.#needsJob) this.#tell(this.#jobs.issueFresh())
    this.#needsJob = false
    return this.#isOpen
  }

  end(): void {
    for (const { worker, user, presence } of this.session.rigs) {
      this.#shop.accounts.leave(presence)
      this.#shop.workers.leave(worker, this.#shop.nowMs)
      user.sessions--
    }
  }

  #ports(): SessionPorts {
    const shop = this.#shop
    return {
      jobs: this.#jobs,
      shareHash,
      nonce1Bits: 16,
      limits: { ...defaultLimits, sharesPerJob: SHARES_PER_JOB },
      nowMs: () => shop.nowMs,
      write: (lines) => this.#write(lines),
      close: () => {
        this.#isOpen = false
      },
      claim: (nonce1) => nonce1 !== TAKEN,
      isBehind: () => false,
      isBanned: () => false,
      address: '127.0.0.1',
      onUser: (user) => ({
        worker: shop.workers.join(user, shop.nowMs),
        user: shop.users.join(user),
        presence: shop.accounts.join(accountName(user), nameAfterAccount(user)),
      }),
      firstDifficulty: (_rig, agent) => startDifficulty(agent),
      onReady: () => this.#tell(this.#jobs.current),
      onShare: (_session, share, tell) => {
        this.#judgeShare(share)
        tell(share.verdict)
      },
      onGarbage: () => undefined,
      onRefused: () => undefined,
      onNeed: () => {
        this.#needsJob = true
      },
    }
  }

  #begin(): RigJob {
    const sequence = ++this.#works
    const named = { sequence, job: `job ${sequence}`, reason: 'newCut' } as const
    return this.#jobs.begin({ ...named, bytes: work, target: TARGET, fixedNonce: FREE_NONCE })
  }

  #tell(job: RigJob | null): void {
    if (job !== null && this.session.isReady) this.session.send(job)
  }

  #write(lines: string): void {
    expect(lines.endsWith('\n') && lines.length <= MAX_LINE_BYTES, 'whole lines of bounded length are written')
    for (const line of lines.slice(0, -1).split('\n')) {
      const message = readMessage(line)
      if (message.kind === 'response') this.#answers.push(message)
    }
  }

  /** Each request has one answer, with its id; a notification has none. */
  #judgeAnswers(line: string): void {
    const asked = idsIn(line)
    const told = (ids: readonly MessageId[]) => ids.map((id) => `${typeof id} ${id}`).join()
    const given = this.#answers.map(({ id }) => id)
    expect(told(given) === told(asked), 'a request has one answer, with its id')
  }

  #judgeShare({ verdict, hashes, solution }: Share): void {
    expect(hashes === 0 || verdict === 'accepted', 'only shares that are accepted count')
    expect(verdict !== 'accepted' || (hashes > 0 && solution !== undefined), 'each share solves this easy work')
    if (solution === undefined) return
    const { job, nonce } = solution
    const [, header] = JSON.parse(job.line).params
    expect(meets(powHash(withNonce(decodeHex(header), nonce)), TARGET), 'a solution solves')
    // The session does not remember shares of jobs that have too many: those are stale, and the miner takes one of a
    // job.
    if (verdict !== 'accepted') return
    const name = `${job.number} ${nonce}`
    expect(!this.#found.has(name), 'a share is accepted once')
    this.#found.add(name)
  }
}

/** The ids of the answers that a line should have. */
function idsIn(line: string): MessageId[] {
  try {
    const message = readMessage(line)
    return message.kind === 'request' && message.id !== null ? [message.id] : []
  } catch (error) {
    if (!isNewcutError(error)) throw error
    return [null]
  }
}

const PIECE_BYTES = 1_000

function serve(shop: Shop, bytes: Uint8Array): void {
  const splitter = new LineSplitter(MAX_LINE_BYTES)
  const trial = new Trial(shop)
  let isOpen = true
  for (let at = 0; isOpen && at < bytes.length; at += PIECE_BYTES) {
    const lines = splitter.push(Buffer.from(bytes.subarray(at, at + PIECE_BYTES)))
    for (const line of lines ?? []) isOpen = isOpen && trial.hear(line)
    isOpen = isOpen && lines !== null
  }
  trial.end()
  const [rigs, users] = [shop.workers.counts(), shop.users.statuses()]
  expect(rigs.length <= MAX_NAMED + 1 && users.length <= MAX_USERS + 1, 'workers and users have their limits')
  for (const name of [...rigs.map(({ device }) => device), ...users.map(({ user }) => user)]) {
    expect(name.length <= 100 && !/\p{Cc}/u.test(name), 'names are short and printable')
  }
}

const request = (id: MessageId, method: string, params: readonly unknown[]) => ({ id, method, params })
const shares = ['1', '2', '3', '00000000000a', 'FFFFFFFFFFFF', '1'].map((nonce2, i) =>
  request(3 + i, 'mining.submit', ['k:ab.rig', i < 4 ? '1' : '2', nonce2]),
)
const rigSessions = [
  [
    request(1, 'mining.subscribe', ['miner/1.0', null]),
    request(2, 'mining.authorize', [`k:${'ab'.repeat(32)}.rig1`, 'x']),
    ...shares,
    request('a', 'mining.suggest_difficulty', [1e9]),
    request(null, 'mining.suggest_target', ['f'.repeat(60)]),
    request(9, 'mining.configure', [['version-rolling', 'minimum-difficulty'], {}]),
    request(10, 'mining.extranonce.subscribe', []),
    request(11, 'mining.ping', []),
    request(12, 'client.get_version', []),
    { id: 13, result: true, error: null },
  ],
  [
    request(1, 'mining.authorize', ['k:ab.f1', 'x,order=memory']),
    request(2, 'mining.subscribe', ['BlackMiner F1/1']),
    ...shares,
  ],
  [request(1, 'mining.suggest_difficulty', [1e9]), request(2, 'mining.suggest_target', ['f'.repeat(60)])],
]

export const stratumTargets: readonly Target[] = [
  {
    name: 'lines of stratum',
    share: 5,
    open: () => ({ seeds: recorded.map((lines) => bytesOf(`${lines.join('\n')}\n`)), read: splitsAlike }),
  },
  textTarget('messages of stratum', [...recorded.flat(), ...refusals], readsAlike, { share: 3 }),
  textTarget(
    'nonces of stratum',
    ['09e8\n6\n00000000000a', 'e8\n7\nff', '\n8\n0123456789abcdef', '0201\n6\n0a\nmemory'],
    composes,
    { share: 5 },
  ),
  textTarget(
    'targets of stratum',
    ['0000000000ffffffffffffffffffffffffffffffffffffffffffffffffffffff', 'f', '0'.repeat(64)],
    (text) => {
      const target = readTarget(text)
      expect(target >= 0n && target <= MAX_TARGET && readTarget(targetText(target)) === target, 'the target is changed')
    },
    { share: 5 },
  ),
  textTarget(
    'difficulties of stratum',
    ['1', '0.5', '65536', '1099511627776', '1e30'],
    (text) => {
      const target = targetOfShares(Number(text))
      expect(target > 0n && target <= MAX_TARGET, 'a hash can meet the target')
    },
    { share: 5 },
  ),
  {
    name: 'a rig sends the server',
    share: 2,
    maxMs: 500,
    open: () => {
      const accounts = new Accounts({ onWarning: () => undefined })
      const shop: Shop = { workers: new Workers(), users: new Users(), accounts, nowMs: 0 }
      return {
        seeds: [...rigSessions.map(jsonBytes), ...minerLines.map((lines) => bytesOf(`${lines.join('\n')}\n`))],
        // The session must not throw, whatever a rig sends: an error would crash the miner.
        allows: () => false,
        read: (bytes) => serve(shop, lineStream(bytes)),
      }
    },
  },
]

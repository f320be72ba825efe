/** A search thread, run on the test's own thread: which nonces it hashes, in which order, and its messages. */
import type { MessagePort } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { withNonce } from '../../src/ground/chain/header.ts'
import { FREE_NONCE } from '../../src/ground/chain/nonce.ts'
import { meets, powHash } from '../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { NO_NATIVE } from '../../src/mining/engine/cpu/native-choice.ts'
import { SharedWork } from '../../src/mining/engine/cpu/shared.ts'
import { search, type ThreadMessage } from '../../src/mining/engine/cpu/thread.ts'
import { HIGHS, nextLow, nonceOf } from '../../src/mining/engine/range.ts'
import { engineWork, freshWork, UNREACHABLE } from '../support/work.ts'

const TARGET = MAX_TARGET / 1_500n
/** About 90,000 hashes: all of one middle, and the first of the next low. */
const CANDIDATES = 60
const range = { first: 7, count: 1, start: 0, low: 0xffff, high: 0 }
/** The test repeats this many hashes at each spot, since repeating all takes too long. */
const CHECKED = 4_096
const isChecked = (index: number) => index < CHECKED || Math.abs(index - HIGHS) < CHECKED

/** The search order: the nonce at an index, and the index of a nonce. */
const nonceAt = (index: number) =>
  nonceOf(index < HIGHS ? range.low : nextLow(range.low, FREE_NONCE), range.first, index % HIGHS)
const indexOf = (nonce: bigint) => Number(nonce >> 48n) + ((nonce & 0xffffn) === BigInt(range.low) ? 0 : HIGHS)

it.each(['js', 'wasm'] as const)(
  'a thread hashes nonce after nonce of its range, and reports all that solve: %s',
  (kernel) => {
    const work = freshWork(UNREACHABLE)
    const shared = new SharedWork(1)
    shared.publish(engineWork(1, work, TARGET))
    const told: ThreadMessage[] = []
    const candidates = () => told.flatMap((message) => (message.type === 'candidate' ? [message] : []))
    // The search blocks this thread until it is stopped, so no other message can arrive meanwhile.
    const postMessage = (message: ThreadMessage) => {
      told.push(message)
      if (candidates().length === CANDIDATES || told.length > 2 * CANDIDATES) shared.stop()
    }
    const port = { postMessage } as Pick<MessagePort, 'postMessage'> as MessagePort
    const layout = { thread: 0, threads: 1, shared: shared.buffer, range, workBytes: work.length }
    search({ ...layout, kernel, native: NO_NATIVE, priority: 'normal', port })
    const others = told.filter(({ type }) => type !== 'candidate')
    expect(others).toEqual([
      { type: 'ready', kernel, refused: [], note: null },
      { type: 'took', sequence: 1, searches: true },
    ])
    const hashes = shared.hashesOf(0)
    expect(hashes).toBeGreaterThan(CANDIDATES)
    const found = candidates().map(({ nonce }) => indexOf(nonce))
    expect(found).toEqual([...new Set(found)].sort((a, b) => a - b))
    const solving = (index: number) => meets(powHash(withNonce(work, nonceAt(index))), TARGET)
    const checked = Array.from({ length: hashes }, (_, index) => index).filter(isChecked)
    expect(found.filter(isChecked)).toEqual(checked.filter(solving))
    expect(found.filter((index) => !solving(index))).toEqual([])
    expect(candidates().at(-1)).toMatchObject({ sequence: 1, hashes })
  },
)

it('a thread tries the nonces that a pool leaves once, reports that it is done, and rests until other work comes', () => {
  const fixedNonce = { bits: 32, value: 0xa5c3_b7d9 }
  const [work, other] = [freshWork(UNREACHABLE), freshWork(UNREACHABLE)]
  const shared = new SharedWork(1)
  const content = { ...engineWork(1, work, TARGET), fixedNonce }
  shared.publish(content)
  const told: ThreadMessage[] = []
  const hashesWhenDone: number[] = []
  const postMessage = (message: ThreadMessage) => {
    told.push(message)
    if (message.type !== 'done') return
    hashesWhenDone.push(shared.hashesOf(0))
    // First the same header again, then another one.
    if (message.sequence === 1) shared.publish({ ...content, sequence: 2, target: MAX_TARGET / 3_000n })
    else if (message.sequence === 2) shared.publish({ ...content, sequence: 3, bytes: other })
    else shared.stop()
  }
  const port = { postMessage } as Pick<MessagePort, 'postMessage'> as MessagePort
  const small = { first: 3 * HIGHS, count: HIGHS, start: 0, low: 0xffff, high: 0 }
  const layout = { thread: 0, threads: 1, shared: shared.buffer, range: small, workBytes: work.length }
  search({ ...layout, kernel: 'wasm', native: NO_NATIVE, priority: 'normal', port })
  expect(hashesWhenDone).toEqual([HIGHS, HIGHS, 2 * HIGHS])
  const nonces = told.flatMap((message) => (message.type === 'candidate' ? [message.nonce] : []))
  expect(nonces.length).toBeGreaterThan(20)
  expect(nonces.filter((nonce) => BigInt.asUintN(48, nonce) !== (3n << 32n) + BigInt(fixedNonce.value))).toEqual([])
})

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CommandFault, readCommandText } from '../../src/devnet/command/read.ts'
import { sealFault } from '../../src/devnet/mempool/checks.ts'
import { signatureFault } from '../../src/devnet/mempool/signatures.ts'
import { isCommandHash } from '../../src/ground/chain/command-hash.ts'
import { until } from '../wait.ts'
import { type Signed, signed } from './command.ts'
import { clockByHand, OBJECTS, PATIENT, PREFIX, start } from './common.ts'
import { headPayload, insert, keysIn, lookup, pending, textOf } from './mempool-common.ts'
import { askForWork, bob, getWork, heightOf, mineBlock, mineWhole, payloadOf, solve, submit } from './miner.ts'
import { hashesOf } from './payload-hashes.ts'
import { pendingOf } from './read-command.ts'
import { OpenResponse, Peer } from './request.ts'

const keysOf = (commands: readonly Signed[]) => commands.map((command) => command.hash)
const pendingKeys = async (peer: Peer, chain = 0) => (await pending(peer, '', chain)).hashes
const cheap = { gasPrice: 1e-8 }

describe('a block', () => {
  it('a block holds the pending transactions of its chain, their outputs, and the hashes of both', async () => {
    const started = await start({}, PATIENT)
    const { peer } = started
    const [a, b, other] = [signed(), signed({ gasPrice: 1 }), signed({ chainId: '1' })]
    await insert(peer, [a, b])
    await insert(peer, [other], 1)
    const contents = await lookup(peer, keysOf([b, a]))
    const work = await mineWhole(peer, 0)
    const payload = headPayload(started)
    expect(payload.transactions.map(({ transaction }) => textOf(transaction))).toEqual(
      contents.map((each: { contents: string }) => each.contents),
    )
    const outputs = payload.transactions.map(({ output }) => JSON.parse(textOf(output)))
    const success = { result: { status: 'success', data: { int: 3 } }, continuation: null }
    expect(outputs).toMatchObject([b, a].map(({ hash }) => ({ ...success, reqKey: hash })))
    for (const { gas, txId, logs } of outputs) {
      expect(gas).toBeGreaterThan(0)
      expect(txId).toBeGreaterThan(0)
      expect(logs).toMatch(/^[\w-]{43}$/)
    }
    const { transactionsHash, outputsHash, payloadHash } = hashesOf(payload)
    expect(Buffer.from(payload.transactionsHash)).toEqual(transactionsHash)
    expect(Buffer.from(payload.outputsHash)).toEqual(outputsHash)
    expect(payloadOf(work)).toBe(payloadHash.toString('base64url'))
    const headers = await peer.get(`${PREFIX}/chain/0/header?minheight=1`, { headers: { accept: OBJECTS } })
    expect(JSON.parse(headers.body.toString()).items[0].payloadHash).toBe(payloadHash.toString('base64url'))
    expect(await pendingKeys(peer)).toEqual([])
    expect(await pendingKeys(peer, 1)).toEqual([other.hash])
    // Chain 5 is adjacent to chain 0; its block holds no transaction of chain 0.
    await mineBlock(peer, 5)
    expect(headPayload(started, 5).transactions).toEqual([])
  })

  it('a block takes at most 512 transactions and 2 MiB of them', async () => {
    // In release 2.32 the size of a proof costs no gas.
    const started = await start({ graph: 'singleton', pow: false, nodeRelease: '2.32' }, PATIENT)
    const { peer } = started
    const small = Array.from({ length: 514 }, () => signed({ gasLimit: 10 }))
    await insert(peer, small)
    await mineWhole(peer)
    expect(keysIn(headPayload(started))).toEqual(keysOf(small.slice(0, 512)))
    await mineWhole(peer)
    expect(keysIn(headPayload(started))).toEqual(keysOf(small.slice(512)))
    const cont = { pactId: 'p', step: 1, rollback: false, proof: 'x'.repeat(900_000), data: {} }
    const large = Array.from({ length: 3 }, () => signed({}, { payload: { cont } }))
    for (const each of large) await insert(peer, [each])
    const last = signed()
    await insert(peer, [last])
    await mineWhole(peer)
    expect(keysIn(headPayload(started))).toEqual(keysOf([large[0], large[1], last]))
    expect(await pendingKeys(peer)).toEqual([large[2].hash])
  })

  it('a block stays valid when transactions arrive during the search; the next work request gets them', async () => {
    const started = await start({ graph: 'singleton' }, PATIENT)
    const { peer, additions } = started
    const [a, b] = [signed(), signed()]
    const empty = await getWork(peer)
    await insert(peer, [a])
    const withA = await getWork(peer)
    await insert(peer, [b])
    const [withBoth, again] = [await getWork(peer), await getWork(peer)]
    const ofBob = await getWork(peer, 0, { account: bob })
    expect(new Set([empty, withA, withBoth, ofBob].map(payloadOf)).size).toBe(4)
    expect(payloadOf(again)).toBe(payloadOf(withBoth))
    expect((await submit(peer, solve(withA))).status).toBe(200)
    expect(keysIn(headPayload(started))).toEqual([a.hash])
    expect(await pendingKeys(peer)).toEqual([b.hash])
    // The work is stale; a live node answers 200 too.
    expect((await submit(peer, solve(empty))).status).toBe(200)
    expect(additions.map(({ status }) => status)).toEqual(['added', 'stale'])
    await mineBlock(peer)
    expect(keysIn(headPayload(started))).toEqual([b.hash])
  })

  it('a block with the oldest choice of transactions is forgotten first if too many wait for a solution', async () => {
    const { peer, additions } = await start({ graph: 'singleton', workLimit: 3 }, PATIENT)
    const works: Buffer[] = []
    for (let i = 0; i < 6; i++) {
      works.push(await getWork(peer))
      await insert(peer, [signed()])
    }
    expect((await submit(peer, solve(works[2]))).status).toBe(404)
    expect((await submit(peer, solve(works[3]))).status).toBe(200)
    expect(additions.map(({ status }) => status)).toEqual(['added'])
    // Current work is never forgotten; the node refuses further requests instead.
    for (const account of ['x', 'y', 'z']) await getWork(peer, 0, { account: { ...bob, account } })
    expect((await askForWork(peer, 0)).status).toBe(503)
  })
})

describe('Refreshed Block', () => {
  const REFRESH_MS = 400
  const [NEW, REFRESHED] = ['event:New Cut\n\n', 'event:Refreshed Block\n\n']

  async function watch(url: string, chain: number): Promise<OpenResponse> {
    const stream = await OpenResponse.open(`${url}${PREFIX}/mining/updates`, { body: Buffer.of(chain, 0, 0, 0) })
    onTestFinished(() => stream.destroy())
    return stream
  }
  /** Two chains on a clock that the test moves, and the update streams of their miners. */
  async function watched() {
    const { time, clock } = clockByHand()
    const { devnet } = await start({ graph: 'pair', pow: false, refreshMs: REFRESH_MS }, { clock, ...PATIENT })
    // The node's clock moves with the test, so use a plain peer, which checks no timestamps.
    const peer = new Peer(devnet.url)
    onTestFinished(() => peer.close())
    const [zero, one] = [await watch(devnet.url, 0), await watch(devnet.url, 1)]
    let inserted = 0
    /** Moves the clock, and runs timers as they become due until the stream has had this many refresh events. */
    const passUntil = async (stream: OpenResponse, times: number, milliseconds: number) => {
      await time.pass(milliseconds)
      await until(async () => {
        await time.pass(0)
        return stream.text.split(REFRESHED).length > times
      })
    }
    /**
     * Waits for the event of a transaction on chain 1. By then those of chain 0 are executed and their interval is
     * over.
     */
    const afterOthers = async (milliseconds = REFRESH_MS) => {
      await insert(peer, [signed({ chainId: '1' })], 1)
      await passUntil(one, ++inserted, milliseconds)
    }
    return { time, peer, zero, one, passUntil, afterOthers }
  }

  it('the event Refreshed Block comes only if the next block of the chain has changed', async () => {
    const { peer, zero, one, passUntil, afterOthers } = await watched()
    const large = signed({ gasLimit: 150_000, gasPrice: 1 })
    await insert(peer, [large])
    await passUntil(zero, 1, 0)
    // The first is pending already; the second does not fit.
    await insert(peer, [large])
    await insert(peer, [signed(cheap)])
    await afterOthers()
    // A busy node may answer before it has executed the transaction. Only in that case does its miner get another
    // event.
    const work = await getWork(peer, 0)
    await afterOthers()
    const whole = await getWork(peer, 0)
    const toWhole = payloadOf(whole) === payloadOf(work) ? REFRESHED : REFRESHED + REFRESHED
    expect(await zero.read(toWhole.length)).toBe(toWhole)
    // The block makes room for the other transaction, which New Cut announces.
    expect((await submit(peer, solve(whole))).status).toBe(200)
    await zero.read(toWhole.length + NEW.length)
    await afterOthers()
    // The chain is now blocked, so its work cannot have changed.
    await insert(peer, [signed()])
    await afterOthers()
    expect(one.text).toBe(REFRESHED.repeat(4))
    await mineBlock(peer, 1)
    const all = toWhole + NEW + NEW
    expect(await zero.read(all.length)).toBe(all)
    expect(heightOf(await getWork(peer, 0))).toBe(2)
  })

  it('the event Refreshed Block comes at once after a quiet time, and the next one only after the interval', async () => {
    const { time, peer, zero, passUntil, afterOthers } = await watched()
    await insert(peer, [signed()])
    await passUntil(zero, 1, 0)
    for (let i = 0; i < 5; i++) await insert(peer, [signed()])
    await afterOthers(0)
    // Two timers end the streams; the third is the next event.
    expect(time.pending).toBe(3)
    await time.pass(REFRESH_MS - 1)
    expect(time.pending).toBe(3)
    await time.pass(1)
    expect(time.pending).toBe(2)
    expect(await zero.read(2 * REFRESHED.length)).toBe(REFRESHED.repeat(2))
    // Chain 1 grows with chain 0, so that chain 0 is never blocked.
    await mineBlock(peer, 1)
    await mineBlock(peer, 0)
    await mineBlock(peer, 1)
    const toNew = REFRESHED.repeat(2) + NEW
    await zero.read(toNew.length)
    await insert(peer, [signed()])
    await passUntil(zero, 3, REFRESH_MS)
    // New Cut covers the removal of transactions by a block, so no refresh event follows.
    await mineBlock(peer, 0)
    await afterOthers()
    await mineBlock(peer, 1)
    await mineBlock(peer, 0)
    const all = toNew + REFRESHED + NEW + NEW
    expect(await zero.read(all.length)).toBe(all)
  })
})

describe('real transactions of mainnet01', () => {
  interface Vector {
    readonly payload: { readonly transactions: readonly (string | readonly [string, string])[] }
  }
  const vectors: Vector[] = JSON.parse(readFileSync(new URL('../vectors/payloads.json', import.meta.url), 'utf8'))
  const texts = vectors
    .flatMap(({ payload }) => payload.transactions)
    .map((each) => Buffer.from(typeof each === 'string' ? each : each[0], 'base64url').toString())

  it('real transactions of mainnet01 have the signatures and the spelling that this node expects', () => {
    expect(texts.length).toBe(2)
    const { bytes } = pendingOf(signed())
    for (const text of texts) {
      const { hash, sigs, cmd } = JSON.parse(text)
      const [signer] = JSON.parse(cmd).signers
      expect(signatureFault(sigs[0].sig, signer, Buffer.from(hash, 'base64url'))).toBe(null)
      expect(signatureFault(sigs[0].sig, signer, Buffer.alloc(32))).toBe('invalid ed25519 signature')
      const spelling = (json: string) => [Object.keys(JSON.parse(json)), Object.keys(JSON.parse(json).sigs[0])]
      expect(spelling(textOf(bytes))).toEqual(spelling(text))
      // The source of the samples has reformatted the numbers in cmd, so the hash does not match.
      const theirs = readCommandText(text)
      if (theirs instanceof CommandFault) throw new Error(theirs.message)
      expect(sealFault(theirs, { gasModel: 'post32' })).toBe('Invalid transaction hash')
    }
  })

  it('real transactions of mainnet01 are hashed with BLAKE2b-256, as the known hash of the empty text shows; BLAKE2s-256 is accepted too', () => {
    // The request key of the coinbase in a block without contracts (PROTOCOL.md B.4).
    const ofNothing = Buffer.from('DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g', 'base64url')
    expect(isCommandHash(ofNothing, new Uint8Array(0))).toBe(true)
    expect(isCommandHash(hash('blake2s256', 'text', 'buffer'), Buffer.from('text'))).toBe(true)
    expect(isCommandHash(ofNothing, Buffer.from('text'))).toBe(false)
  })
})

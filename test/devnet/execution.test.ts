/** The last net: code that no meter of the language stops. Real HTTP, and a thread that never ends by itself. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { takeCut } from '../../src/devnet/rules/cut-intake.ts'
import type { StoredPayload } from '../../src/devnet/store/payload.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { encodeHeader } from '../../src/ground/chain/header.ts'
import type { CutHashes } from '../../src/ground/schema/bodies.ts'
import { until } from '../wait.ts'
import {
  exec,
  local,
  makeBlocks,
  ok,
  poll,
  send,
  sharedLedger,
  signers,
  startLedger,
  transfer,
} from './commands-common.ts'
import { brief, CheckedPeer, start, TEXT } from './common.ts'
import { rewound } from './control-common.ts'
import type { Devnet } from './whole-node.ts'

const executionThread = new URL('./hostile-thread.mjs', import.meta.url)
/** Less than usual, which costs the tests less; harmless commands take some ms. */
const commandLimits = { cpuMs: 500, memoryMb: 64 }
const ledger = rewound(sharedLedger({}, { executionThread, commandLimits }))
/** No plain code, so a thread executes it. */
const spin = '(length ["spin forever"])'
const wait = '(length ["wait forever"])'
const allocate = '(length ["take all memory"])'
const short = '(length [1 2 3])'
const outOfGas = { status: 'failure', error: { message: 'Gas limit "1000" exceeded: 1000' } }

/** Asks for /info until `work` is over. Returns how many answers came before. */
async function infosDuring(peer: CheckedPeer, work: Promise<unknown>): Promise<number> {
  let isOver = false
  void work.finally(() => {
    isOver = true
  })
  let count = 0
  await until(async () => {
    // A connection of its own: requests on one connection wait for each other.
    const answer = await fetch(`${peer.url}/info`)
    expect(answer.status).toBe(200)
    expect((await answer.text()).includes('nodeNumberOfChains')).toBe(true)
    if (!isOver) count++
    return isOver
  })
  return count
}

describe('code that never ends', () => {
  it('code that never ends in /local and preflight fails as out of gas, and the node answers meanwhile', async () => {
    const { peer } = await ledger()
    for (const code of [spin, allocate]) {
      const called = local(peer, exec(code, { gasLimit: 1000 }))
      expect(await infosDuring(peer, called)).toBeGreaterThan(2)
      expect((await ok(called)).result).toMatchObject(outOfGas)
      const tried = local(peer, exec(code, { gasLimit: 1000 }), '?preflight=true')
      expect((await ok(tried)).preflightResult).toMatchObject({ gas: 1000, result: outOfGas })
      // The next call has a new thread.
      expect((await ok(local(peer, exec(short)))).result.data).toEqual({ int: 3 })
    }
  })

  it('code that never ends does not delay plain calls and blocks of transfers', async () => {
    const { peer, devnet } = await startLedger({}, { executionThread })
    const other = new CheckedPeer(peer.url)
    onTestFinished(() => other.close())
    const called = local(other, exec(wait, { gasLimit: 1000 }))
    let isOver = false
    void called.finally(() => {
      isOver = true
    })
    expect((await ok(local(peer, exec('(coin.get-balance "sender00")')))).result.status).toBe('success')
    const sent = transfer('sender01', 1)
    await ok(send(peer, [sent]))
    await makeBlocks(peer, { 0: 1 })
    expect((await ok(poll(peer, [sent.hash])))[sent.hash].result.status).toBe('success')
    expect(isOver).toBe(false)
    await devnet.close()
    expect((await called).status).toBe(503)
  })

  it('code of a gas payer that never ends is refused by /send', async () => {
    const { peer } = await ledger()
    const paid = exec(spin, { gasLimit: 1000 }, signers(['free.payer.GAS_PAYER', 'a', { int: 1 }, 1]))
    const sent = send(peer, [paid])
    expect(await infosDuring(peer, sent)).toBeGreaterThan(2)
    const [status, type, message] = brief(await sent)
    expect(status).toBe(400)
    expect(type).toBe(TEXT)
    expect(message).toContain('Transaction validation timed out')
  })

  it('a transaction whose code never ends is left out of blocks and badlisted, and other transactions are in them', async () => {
    const { peer } = await ledger()
    const hostile = exec(spin, { gasLimit: 1000, gasPrice: 1e-6 })
    const others = [transfer('sender01', 1), exec(short)]
    await ok(send(peer, [hostile, ...others]))
    const made = makeBlocks(peer, { 0: 1 })
    expect(await infosDuring(peer, made)).toBeGreaterThan(2)
    const results = await ok(
      poll(
        peer,
        [hostile, ...others].map(({ hash }) => hash),
      ),
    )
    expect(others.map(({ hash }) => results[hash].result.error?.message ?? results[hash].result.status)).toEqual([
      'success',
      'success',
    ])
    expect(results[hostile.hash].result.error.message).toContain('badlisted')
    const again = await send(peer, [hostile])
    expect(again.status).toBe(400)
    expect(again.body.toString()).toContain('badlisted')
  })
})

/** The blocks of a node after its first ones, as they come with a cut. `change` replaces outputs. */
function cutWith({ chains }: Devnet, change: (output: string) => string = (output) => output): CutHashes {
  const blocks = Array.from({ length: chains.store.size - chains.store.chains }, (_, i) =>
    chains.store.at(chains.store.chains + i),
  )
  const payloads = blocks.map(({ payload }) => {
    const transactions = payload.transactions.map(({ transaction, output }) => {
      return [encodeBase64Url(transaction), encodeBase64Url(Buffer.from(change(Buffer.from(output).toString())))]
    })
    return { ...payloadText(payload), transactions }
  })
  const hashes = [...chains.cut].map(([chain, { hash, height }]) => [
    chain,
    { hash: encodeBase64Url(hash), height: Number(height) },
  ])
  return {
    ...{ hashes: Object.fromEntries(hashes), origin: null, weight: '', height: 0, instance: '', id: '' },
    headers: Object.fromEntries(blocks.map((block) => [block.id, encodeBase64Url(encodeHeader(block.header))])),
    payloads: Object.fromEntries(blocks.map((block, i) => [encodeBase64Url(block.payloadHash), payloads[i]])),
  } as unknown as CutHashes
}

const payloadText = ({ minerData, coinbase, transactionsHash, outputsHash, payloadHash }: StoredPayload) => ({
  ...{ minerData: encodeBase64Url(minerData), coinbase: encodeBase64Url(coinbase) },
  ...{ transactionsHash: encodeBase64Url(transactionsHash), outputsHash: encodeBase64Url(outputsHash) },
  payloadHash: encodeBase64Url(payloadHash),
})

it('a block of others executes in a thread to the same state, without a deadline', async () => {
  const makes = await startLedger()
  const code = `(namespace "free")
    (module m G (defcap G () true) (defschema s x:integer) (deftable t:{s}) (defun f (x) (+ x 1)))
    (create-table t) (insert t "k" {"x": 7})`
  await ok(send(makes.peer, [exec(code, { gasLimit: 100_000 }), transfer('sender01', 1)]))
  await makeBlocks(makes.peer, { 0: 1, 1: 1 })
  await ok(send(makes.peer, [exec('(free.m.f (at "x" (read free.m.t "k")))', { gasLimit: 10_000 })]))
  await makeBlocks(makes.peer, { 0: 1 })
  const takes = await start({ graph: 'pair', difficulty: undefined, autoMine: { kind: 'on-demand' } })
  expect(await takeCut(takes.devnet.chains, cutWith(makes.devnet))).toBe(null)
  for (const { peer } of [makes, takes]) {
    expect((await ok(local(peer, exec('(free.m.f (at "x" (read free.m.t "k")))')))).result.data).toEqual({ int: 8 })
  }
  const heads = ({ chains }: Devnet) => [...chains.cut.values()].map(({ hash }) => encodeBase64Url(hash))
  expect(heads(takes.devnet)).toEqual(heads(makes.devnet))
})

/** Hashes of modules on the network: upgrades between the steps of a pact, blessings, restarts, older networks. */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type Change, type Signed, signed } from './command.ts'
import { exec, local, makeBlocks, ok, poll, send, sharedLedger, spv, startLedger } from './commands-common.ts'
import { type CheckedPeer, start } from './common.ts'
import { rewound } from './control-common.ts'
import { temporaryDirectory } from './grow.ts'

const ledger = rewound(sharedLedger())

/** Yields a number to chain 1, which adds `added` to it. `more` are further members. */
const hop = (added: number, more = '') => `(namespace "free")
  (module hop G (defcap G () true) ${more}
    (defpact go () (step (yield {"n": 1} "1")) (step (resume {"n" := n} (+ n ${added})))))`
const MISMATCH = /provenance/i

/** Sends a command, makes a block for it, and returns its result. */
async function run(peer: CheckedPeer, command: Signed, chain = 0) {
  await ok(send(peer, [command], chain))
  await makeBlocks(peer, { [chain]: 1 })
  return (await ok(poll(peer, [command.hash], '', chain)))[command.hash]
}

function code(text: string, chain = 0): Signed {
  return exec(text, { chainId: String(chain), gasLimit: 20_000 })
}

/** Loads a module and returns the hash in its result. */
async function load(peer: CheckedPeer, text: string, chain = 0): Promise<string> {
  const { result } = await run(peer, code(text, chain), chain)
  expect(result.data).toMatch(/^Loaded module free\.hop, hash [\w-]{43}$/)
  return result.data.slice(-43)
}

async function ask(peer: CheckedPeer, text: string, chain = 0) {
  const { result } = await ok(local(peer, code(text, chain), '', chain))
  return result.status === 'success' ? result.data : result.error.message
}

/** Chain 0 has yielded to chain 1, where the module has changed since. */
async function startedHop(upgrade: (hash: string) => string) {
  const { peer, devnet } = await ledger()
  const hash = await load(peer, hop(10))
  expect(await load(peer, hop(10), 1)).toBe(hash)
  const begin = code('(free.hop.go)')
  const begun = await run(peer, begin)
  expect(begun.continuation.yield.provenance).toEqual({ targetChainId: '1', moduleHash: hash })
  const upgraded = await load(peer, upgrade(hash), 1)
  await makeBlocks(peer, { 0: 1, 1: 2 })
  const proof: string = await ok(spv(peer, { requestKey: begin.hash, targetChainId: '1' }))
  const cont: Change = { pactId: begin.hash, step: 1, rollback: false, data: {}, proof }
  const result = () => run(peer, signed({ chainId: '1', gasLimit: 20_000 }, { payload: { cont } }), 1)
  return { peer, devnet, hash, upgraded, result }
}

describe('a module that is upgraded between the steps of a pact', () => {
  it('a module that is upgraded between the steps of a pact refuses the yield of its earlier version', async () => {
    const { hash, upgraded, result, peer } = await startedHop(() => hop(20))
    expect(upgraded).not.toBe(hash)
    expect((await result()).result.error.message).toMatch(MISMATCH)
    // A version that blesses the hash takes it after all.
    await load(peer, hop(30, `(bless "${hash}")`), 1)
    expect((await result()).result).toEqual({ status: 'success', data: { int: 31 } })
  })

  it('a module that is upgraded between the steps of a pact takes the yield of an earlier version that it blesses, and continues with its own code', async () => {
    const { hash, upgraded, result } = await startedHop((before) => hop(20, `(bless "${before}")`))
    const { result: outcome, events } = await result()
    expect(outcome).toEqual({ status: 'success', data: { int: 21 } })
    const resumed = events.find(({ name }: { name: string }) => name === 'X_RESUME')
    expect(resumed.moduleHash).toBe(hash)
    expect(upgraded).not.toBe(hash)
  })

  it('a module that is upgraded between the steps of a pact takes it after an upgrade to the same code, whatever its comments', async () => {
    const { hash, upgraded, result } = await startedHop(() => `; a comment\n${hop(10, '; another one\n')}`)
    expect(upgraded).toBe(hash)
    expect((await result()).result).toEqual({ status: 'success', data: { int: 11 } })
  })
})

describe('a hash in use', () => {
  it('a hash in use must be that of the current version; the error names it', async () => {
    const { peer } = await ledger()
    const first = await load(peer, hop(1))
    expect(await ask(peer, `(use free.hop "${first}")`)).toBe('Loaded imports from free.hop')
    const second = await load(peer, hop(2, `(bless "${first}")`))
    const there = `The module hash has not been blessed: ${second}`
    expect(await ask(peer, `(use free.hop "${first}")`)).toContain(there)
    const user = (hash: string) => `(namespace "free") (module user G (defcap G () true) (use hop "${hash}"))`
    expect(await ask(peer, user(first))).toContain(there)
    expect(await ask(peer, user(second))).toMatch(/^Loaded module free\.user/)
  })
})

describe('a data directory', () => {
  it('a data directory keeps the hashes of its modules', async () => {
    const dataDir = join(await temporaryDirectory(), 'network')
    const first = await startLedger({ dataDir })
    const hash = await load(first.peer, hop(1))
    await first.devnet.close()
    const { peer } = await startLedger({ dataDir, graph: undefined })
    expect(await ask(peer, '(at "hash" (describe-module "free.hop"))')).toBe(hash)
    expect(await load(peer, hop(1))).toBe(hash)
    expect(await ask(peer, '(at "hash" (describe-module "fungible-v2"))')).toBe(
      'YxE-KgC6JmKmCcgKTJmlEn_I58I4EXmhfrvzX7berYk',
    )
  })

  it('a data directory of an older newcut keeps hashes of texts, which its blocks name', async () => {
    const dataDir = join(await temporaryDirectory(), 'devnet')
    await cp(fileURLToPath(new URL('../fixtures/0.1.0/devnet', import.meta.url)), dataDir, { recursive: true })
    const { peer } = await start({ graph: undefined, difficulty: undefined, blockDelayMs: undefined, dataDir })
    const describe = (name: string) => ask(peer, `(at "hash" (describe-module "${name}"))`)
    expect(await describe('fungible-v2')).not.toBe('YxE-KgC6JmKmCcgKTJmlEn_I58I4EXmhfrvzX7berYk')
    const commented = ['', '; comment\n'].map((comment) =>
      ask(peer, `(namespace "free") (module t G ${comment} (defcap G () true))`),
    )
    const [plain, other] = await Promise.all(commented)
    expect(plain).toMatch(/^Loaded module free\.t, hash /)
    expect(other).not.toBe(plain)
  })
})

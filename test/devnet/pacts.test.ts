/** Pacts in the lookups of the developer page, and the accounts whose keys it signs with. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { knownKey } from '../../src/client/wallet/known-keys.ts'
import { PactIndex } from '../../src/devnet/http/lookup/pact-index.ts'
import { PlaceList } from '../../src/devnet/http/lookup/place-list.ts'
import { developmentAccounts } from '../../src/ground/chain/development-accounts.ts'
import { type KnownAccounts, ListedPact, type PactPage } from '../../src/ground/schema/pacts.ts'
import { validatorOf } from '../../src/ground/schema/validator.ts'
import { roundsOf } from '../rotation.ts'
import { type Change, funded, type Signed, signed } from './command.ts'
import { exec, makeBlocks, ok, poll, send, sharedLedger, signers, spv, startLedger } from './commands-common.ts'
import { brief, type CheckedPeer, jsonOf, TEXT } from './common.ts'
import { order, rewound } from './control-common.ts'
import { Peer } from './request.ts'

const guard = { pred: 'keys-all', keys: [funded.publicKey] }

const STEPS = `(namespace "free")
(module steps GOVERNANCE
  (defcap GOVERNANCE () (enforce false "nobody"))
  (defun later (n:integer) (enforce (= n 1) "not one"))
  (defpact three (n:integer)
    (step-with-rollback (+ n 0) (+ n 10))
    (step (later n))
    (step n))
  (defschema s x:integer)
  (defpact inner (target:string)
    (step (let ((y:object{s} { "x": 1 })) (yield y target)))
    (step (resume { "x" := x } x)))
  (defpact outer (target:string)
    (step (inner target))
    (step (continue (inner target))))
)`

/** A transfer of `sender00` to itself on another chain. */
function leaving(amount: string, to = '1'): Signed {
  const code = `(coin.transfer-crosschain "sender00" "sender00" (read-keyset "guard") "${to}" ${amount})`
  const capability = ['coin.TRANSFER_XCHAIN', 'sender00', 'sender00', { decimal: amount }, to] as const
  return exec(code, {}, { payload: { exec: { code, data: { guard } } }, ...signers(['coin.GAS'], capability) })
}

const continued = (pactId: string, { chain = 0, meta = {}, ...change }: Change & { chain?: number; meta?: Change }) =>
  signed(
    { chainId: String(chain), ...meta },
    { payload: { cont: { pactId, step: 1, rollback: false, data: {}, proof: null, ...change } } },
  )

async function run(peer: CheckedPeer, command: Signed, chain = 0): Promise<string> {
  await ok(send(peer, [command], chain))
  await makeBlocks(peer, { [chain]: 1 })
  return (await ok(poll(peer, [command.hash], '', chain)))[command.hash].result.status
}

async function get<T>(peer: Peer, path: string): Promise<T> {
  const answer = await peer.get(path)
  expect(answer.status, answer.body.toString()).toBe(200)
  return jsonOf(answer) as T
}

const { accepts, complaint } = validatorOf(ListedPact)

async function pacts(peer: CheckedPeer, query = '') {
  const page = await get<PactPage>(peer, `/devnet/pacts${query}`)
  for (const each of page.pacts) if (!accepts(each)) expect.fail(complaint(each, 'pact'))
  return page
}

/** The only pact of the network. */
async function onlyPact(peer: CheckedPeer): Promise<ListedPact> {
  const { pacts: all } = await pacts(peer)
  expect(all).toHaveLength(1)
  return all[0]
}

/** A network of three chains without pacts; chains 0 and 1 have the module. */
const withSteps = rewound(
  sharedLedger({ graph: 'triangle', phraseAccounts: 2 }, {}, async ({ peer }) => {
    for (const chain of [0, 1]) {
      const meta = { chainId: String(chain), gasLimit: 100_000 }
      const command = exec(STEPS, meta, { signers: [{ pubKey: funded.publicKey }] })
      expect(await run(peer, command, chain)).toBe('success')
    }
  }),
)

describe('GET /devnet/pacts', () => {
  it('GET /devnet/pacts counts the blocks that are missing until the proof exists, as spv has it', async () => {
    const { peer } = await startLedger({ graph: 'petersen' })
    // Chain 1 is two chains away from chain 0.
    const command = leaving('2.000000000001')
    expect(await run(peer, command)).toBe('success')
    const proof = () => spv(peer, { requestKey: command.hash, targetChainId: '1' })
    const seen: [number | null | undefined, string, number][] = []
    for (let i = 0; i < 5; i++) {
      const { next, state } = await onlyPact(peer)
      seen.push([next?.missingBlocks, state, (await proof()).status])
      await makeBlocks(peer, { 1: 1 })
    }
    expect(seen).toEqual([
      [3, 'waiting', 400],
      [2, 'waiting', 400],
      [1, 'waiting', 400],
      [0, 'ready', 200],
      [0, 'ready', 200],
    ])
    const answer = await peer.get('/devnet/pacts')
    expect(answer.body.toString()).toContain('2.000000000001')
    expect(await onlyPact(peer)).toMatchObject({
      pactId: command.hash,
      name: 'coin.transfer-crosschain',
      args: ['sender00', 'sender00', guard, '1', 2.000000000001],
      stepCount: 2,
      steps: [{ requestKey: command.hash, chain: 0, height: 2, step: 0, isRollback: false, targetChain: 1 }],
      next: { step: 1, chain: 1, proofOf: { chain: 0, requestKey: command.hash }, hasRollback: false },
    })
  })

  it('GET /devnet/pacts follows a transfer from a failed claim through the mempool to its end', async () => {
    const { peer } = await withSteps()
    const command = leaving('1.0')
    await run(peer, command)
    await makeBlocks(peer, { 1: 2 })
    const proof = jsonOf(await spv(peer, { requestKey: command.hash, targetChainId: '1' }))
    const dry = continued(command.hash, { chain: 1, proof, meta: { gasLimit: 200 } })
    expect(await run(peer, dry, 1)).toBe('failure')
    const failed = await onlyPact(peer)
    expect(failed.state).toBe('failed')
    expect(failed.steps.length).toBe(1)
    expect(failed.failures).toEqual([
      expect.objectContaining({ requestKey: dry.hash, chain: 1, step: 1, fault: expect.stringMatching(/^Gas limit/) }),
    ])
    const claim = continued(command.hash, { chain: 1, proof })
    await ok(send(peer, [claim], 1))
    const pending = await onlyPact(peer)
    expect(pending.state).toBe('pending')
    expect(pending.next?.pendingKey).toEqual(claim.hash)
    await makeBlocks(peer, { 1: 1 })
    const done = await pacts(peer)
    expect(done.open).toBe(0)
    expect(done.finished).toBe(1)
    expect(done.next).toBe(null)
    expect(done.unread).toBe(0)
    expect(done.pacts[0]).toMatchObject({ state: 'finished', next: null, failures: [{ requestKey: dry.hash }] })
    expect(done.pacts[0].steps.map(({ chain, step, requestKey }) => [chain, step, requestKey])).toEqual([
      [0, 0, command.hash],
      [1, 1, claim.hash],
    ])
    expect((await pacts(peer, '?open=true')).pacts).toEqual([])
    expect(await pacts(peer, `?pactId=${command.hash}`)).toEqual(done)
    expect(brief(await peer.get(`/devnet/pacts?pactId=${dry.hash}`))).toEqual([
      404,
      TEXT,
      `no chain has the pact ${dry.hash} now`,
    ])
  })

  it('GET /devnet/pacts reports the open step of any pact, its failures, and a rollback', async () => {
    const { peer } = await withSteps()
    const [one, two] = [1, 2].map((n) => exec(`(free.steps.three ${n})`))
    await run(peer, one)
    await run(peer, two)
    const next = { step: 1, chain: 0, proofOf: null, missingBlocks: 0, hasRollback: true, pendingKey: null }
    expect((await pacts(peer)).pacts).toMatchObject([
      { pactId: two.hash, name: 'free.steps.three', args: [{ int: 2 }], stepCount: 3, state: 'ready', next },
      { pactId: one.hash, state: 'ready', next },
    ])
    expect(await run(peer, continued(two.hash, {}))).toBe('failure')
    expect(await run(peer, continued(one.hash, {}))).toBe('success')
    expect((await pacts(peer)).pacts).toMatchObject([
      { pactId: two.hash, state: 'failed', failures: [{ step: 1, fault: 'not one' }] },
      { pactId: one.hash, state: 'ready', next: { step: 2, hasRollback: false } },
    ])
    const back = continued(two.hash, { step: 0, rollback: true })
    await ok(send(peer, [back]))
    expect((await pacts(peer)).pacts[0]).toMatchObject({ state: 'pending', next: { pendingKey: back.hash } })
    await makeBlocks(peer, { 0: 1 })
    expect((await pacts(peer)).pacts).toMatchObject([
      { pactId: one.hash, state: 'ready' },
      { pactId: two.hash, state: 'rolled back', steps: [{ isRollback: false }, { isRollback: true }], next: null },
    ])
  })

  it('GET /devnet/pacts finds the chain to which a nested pact yields, even one that does not exist', async () => {
    const { peer } = await withSteps()
    const command = exec('(free.steps.outer "1")')
    expect(await run(peer, command)).toBe('success')
    expect(await onlyPact(peer)).toMatchObject({ name: 'free.steps.outer', next: { step: 1, chain: 1 } })
    // The network does not have this chain.
    expect(await run(peer, exec('(free.steps.outer "7")'))).toBe('success')
    const [other] = (await pacts(peer)).pacts
    expect(other).toMatchObject({ state: 'unreachable', next: { chain: 7, missingBlocks: null } })
  })

  it('GET /devnet/pacts forgets the steps of lost blocks, and has them again on the next branch', async () => {
    const { peer } = await withSteps()
    const own = new Peer(peer.url)
    onTestFinished(() => own.close())
    const { id } = await order(own, '/devnet/snapshot', {})
    const command = leaving('1.0')
    await run(peer, command)
    expect((await pacts(peer)).open).toBe(1)
    await order(own, '/devnet/fork', { chain: 0, depth: 1 })
    await makeBlocks(peer, { 0: 1 })
    const { steps } = await onlyPact(peer)
    expect(steps).toHaveLength(1)
    await order(own, '/devnet/revert', { id })
    expect(await pacts(peer)).toMatchObject({ pacts: [], open: 0, finished: 0 })
  })

  it('GET /devnet/pacts reads many blocks in several steps, each block once', async () => {
    const { peer, devnet } = await startLedger()
    await run(peer, leaving('1.0'))
    const index = new PactIndex(devnet, devnet.chains.store.size - 1)
    index.read()
    expect(index.unread).toBe(1)
    expect(index.open).toBe(0)
    await makeBlocks(peer, { 0: 1, 1: 1 })
    expect(index.unread).toBe(3)
    index.read()
    index.read()
    const [pact, ...others] = index.newest('open')
    expect(index.unread).toBe(0)
    expect(index.open).toBe(1)
    expect(index.finished).toBe(0)
    expect(pact.current?.steps.length).toBe(1)
    expect(others).toEqual([])
  })

  it('GET /devnet/pacts has pages with the unfinished ones first, whatever ends between two of them', async () => {
    const { peer } = await withSteps()
    const commands = Array.from({ length: 5 }, () => exec('(free.steps.three 1)'))
    for (const command of commands) await run(peer, command)
    const [a, b, c, d, e] = commands.map(({ hash }) => hash)
    await run(peer, continued(e, { step: 0, rollback: true }))
    await run(peer, continued(b, { step: 0, rollback: true }))
    const ids = async (query: string, limit = 2) => {
      const page = await pacts(peer, `?limit=${limit}${query}`)
      return { ids: page.pacts.map(({ pactId }) => pactId), next: page.next }
    }
    const first = await ids('')
    expect(first.ids).toEqual([d, c])
    const second = await ids(`&next=${first.next}`)
    expect(second.ids).toEqual([a, e])
    expect(await ids(`&next=${second.next}`)).toEqual({ ids: [b], next: null })
    // After the last unfinished one come all finished ones, newer ones too.
    const unfinished = await ids('', 3)
    expect(unfinished.ids).toEqual([d, c, a])
    expect((await ids(`&next=${unfinished.next}`)).ids).toEqual([e, b])
    // The last one of the first page ends: the second page continues after its place.
    await run(peer, continued(c, { step: 0, rollback: true }))
    expect((await ids(`&next=${first.next}`)).ids).toEqual([a, e])
    expect(await ids('&open=true')).toEqual({ ids: [d, a], next: null })
    expect(brief(await peer.get('/devnet/pacts?next=open'))).toEqual([
      400,
      TEXT,
      'next: "open" is not a cursor; take the text of `next` of the page before',
    ])
    expect((await peer.get(`/devnet/pacts?next=open:${'A'.repeat(43)}`)).status).toBe(404)
  })
})

/** Counts the entries, tests of branches and blocks that a request looks at. */
function counted({ devnet }: Awaited<ReturnType<typeof withSteps>>) {
  const spies = [
    vi.spyOn(PlaceList.prototype, 'at'),
    vi.spyOn(devnet.ledger, 'isOnChain'),
    vi.spyOn(devnet.chains.store, 'blockAt'),
  ]
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
  })
  return async (act: () => Promise<unknown>) => {
    for (const spy of spies) spy.mockClear()
    await act()
    return spies.map(({ mock }) => mock.calls.length)
  }
}

describe('a list of some thousand pacts', () => {
  it('a list of some thousand pacts costs what a page has, not what the list has', async () => {
    const started = await withSteps()
    const { peer } = started
    const cost = counted(started)
    const begun: string[] = []
    const begin = async (count: number) => {
      const commands = Array.from({ length: count }, () => exec('(free.steps.three 1)', { gasLimit: 300 }))
      await ok(send(peer, commands))
      await makeBlocks(peer, { 0: 1 })
      begun.push(...commands.map(({ hash }) => hash))
    }
    const costs = async () => {
      // The first read sorts in what is new.
      const first = await pacts(peer, '?limit=10')
      const second = await cost(() => pacts(peer, '?limit=10'))
      const middle = await cost(() => pacts(peer, `?limit=10&next=open:${begun[begun.length >> 1]}`))
      return { open: first.open, costs: [second, middle] }
    }
    await begin(30)
    const few = await costs()
    const rounds = roundsOf(30, 1)
    for (let i = 0; i < rounds; i++) await begin(100)
    // Many continuations wait in the pool; none of them belongs to the page.
    const waiting = begun.slice(0, 30 * rounds).map((id) => continued(id, { meta: { gasLimit: 300 } }))
    await ok(send(peer, waiting))
    const many = await costs()
    expect(few.open).toBe(30)
    expect(many.open).toEqual(30 + 100 * rounds)
    const search = Math.ceil(Math.log2(many.open))
    // Entries: those of the page, the one after it, and those on the way of two binary searches.
    for (const [entries] of [...few.costs, ...many.costs]) expect(entries).toBeLessThan(10 + 1 + 2 * search)
    for (const [i, [, tests, blocks]] of many.costs.entries()) {
      expect([tests, blocks]).toEqual(few.costs[i].slice(1))
    }
    // A change costs the pacts that it moves: here one ends, and one has a failure.
    const own = new Peer(peer.url)
    onTestFinished(() => own.close())
    await order(own, '/devnet/drop', { all: true })
    await ok(send(peer, [continued(begun[5], { step: 0, rollback: true }), continued(begun[6], { step: 2 })]))
    await makeBlocks(peer, { 0: 1 })
    const [entries, tests] = await cost(() => pacts(peer, '?limit=10'))
    expect(entries).toBeLessThan(10 + 1 + 4 * search)
    expect(tests).toBeLessThan(40)
    expect(await pacts(peer, '?limit=1')).toMatchObject({ open: many.open - 1, finished: 1 })
  })

  it('a list of some thousand pacts has the same entries after reorganisations as a list that has never seen them', async () => {
    const started = await withSteps()
    const own = new Peer(started.peer.url)
    onTestFinished(() => own.close())
    const index = new PactIndex(started.devnet)
    const listOf = (from: PactIndex) => {
      from.read()
      const named = (list: 'open' | 'finished') =>
        [...from.newest(list)].map(({ pactId, current, failures }) => {
          return [pactId, current?.steps.map(({ step, isRollback }) => [step, isRollback]), failures.length]
        })
      return { open: named('open'), finished: named('finished'), counts: [from.open, from.finished] }
    }
    /** In the same order: pacts of one block keep it, and those of several blocks go by the first of them. */
    const expectSame = () => expect(listOf(index)).toEqual(listOf(new PactIndex(started.devnet)))
    const commands = [1, 1, 2].map((n) => exec(`(free.steps.three ${n})`))
    for (const command of commands) {
      await run(started.peer, command)
      expectSame()
    }
    const [one, , two] = commands.map(({ hash }) => hash)
    await run(started.peer, continued(one, { step: 0, rollback: true }))
    await run(started.peer, continued(two, {}))
    expectSame()
    expect(listOf(index).counts).toEqual([2, 1])
    // The two last blocks are lost: the rollback, and the step that failed.
    await order(own, '/devnet/drop', { all: true })
    const { id } = await order(own, '/devnet/snapshot', {})
    await order(own, '/devnet/fork', { chain: 0, depth: 2 })
    await order(own, '/devnet/drop', { all: true })
    expectSame()
    expect(listOf(index).counts).toEqual([3, 0])
    await makeBlocks(started.peer, { 0: 2 })
    expectSame()
    await order(own, '/devnet/revert', { id })
    expectSame()
    expect(listOf(index).counts).toEqual([2, 1])
  })
})

/** Answers for this machine only lack a header that CheckedPeer expects. */
async function uncheckedPeer(): Promise<Peer> {
  const { peer } = await withSteps()
  const own = new Peer(peer.url)
  onTestFinished(() => own.close())
  return own
}

describe('GET /devnet/accounts', () => {
  it('GET /devnet/accounts lists the accounts that the node funded, and their keys', async () => {
    const { accounts } = await get<KnownAccounts>(await uncheckedPeer(), '/devnet/accounts')
    expect(accounts.slice(0, 10)).toEqual(
      developmentAccounts.map(({ account, publicKey, secretKey }) => ({ account, publicKey, secretKey })),
    )
    expect(accounts.slice(10).map(({ account }) => account)).toEqual(
      ['account0', 'account1'].map((name) => knownKey(name)?.account),
    )
  })

  it('GET /devnet/accounts answers only this machine', async () => {
    const peer = await uncheckedPeer()
    const answer = await peer.get('/devnet/accounts', { headers: { host: 'node.example' } })
    expect(answer.status).toBe(403)
    expect(answer.body.toString()).not.toContain(developmentAccounts[0].secretKey)
  })
})

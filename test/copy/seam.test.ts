/** The seam of a fork: pacts, proofs, results and headers from below the pin; time and name above it. */
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { signed } from '../devnet/command.ts'
import { exec, local, makeBlocks, ok, poll, send, signers, spv } from '../devnet/commands-common.ts'
import { jsonOf, PREFIX, type Started } from '../devnet/common.ts'
import { execWith, folder, inBlock, KEYSET, remoteOfFile, startFork } from './network.ts'

const continued = (pactId: string, step: number, proof: string | null = null, chain = 0) =>
  signed({ chainId: String(chain) }, { payload: { cont: { pactId, step, rollback: false, data: {}, proof } } })

/** A transfer of `sender00` from chain 0 to chain 1. */
const leaving = (amount: string) =>
  execWith(
    `(coin.transfer-crosschain "sender00" "sender00" (read-keyset "k") "1" ${amount})`,
    { k: KEYSET },
    {},
    signers(['coin.GAS'], ['coin.TRANSFER_XCHAIN', 'sender00', 'sender00', { decimal: amount }, '1']),
  )

const grown = (remote: Started) => makeBlocks(remote.peer, { 0: 2, 1: 2 })

const remote = remoteOfFile()

describe('a pact that began below the pin', () => {
  it('a pact from below the pin continues in the fork, step by step', async () => {
    const begun = exec('(free.fork-token.steps "bob")')
    await inBlock(remote.peer, [begun])
    await grown(remote)
    const forked = await startFork(remote)
    const [second] = await inBlock(forked.peer, [continued(begun.hash, 1)])
    expect(second.result).toEqual({ status: 'success', data: 'bob 1.25' })
    const [third] = await inBlock(forked.peer, [continued(begun.hash, 2)])
    expect(third.result).toEqual({ status: 'success', data: 'over' })
  })

  it('a pact from below the pin needs the request key of its last command for the second and later steps', async () => {
    const begun = exec('(free.fork-token.steps "bob")')
    await inBlock(remote.peer, [begun])
    const next = continued(begun.hash, 1)
    await inBlock(remote.peer, [next])
    await grown(remote)
    const last = continued(begun.hash, 2)
    const without = await startFork(remote)
    const [refused] = await inBlock(without.peer, [last])
    expect(refused.result.error.message).toContain('name its request key with `fork.pactKeys`')
    const named = await startFork(remote, { pactKeys: [next.hash] })
    expect((await inBlock(named.peer, [last]))[0].result).toEqual({ status: 'success', data: 'over' })
  })

  it('a pact that ended below the pin is over in the fork', async () => {
    const begun = exec('(free.fork-token.steps "bob")')
    for (const command of [begun, continued(begun.hash, 1), continued(begun.hash, 2)]) {
      await inBlock(remote.peer, [command])
    }
    await grown(remote)
    const forked = await startFork(remote)
    const { result } = await ok(local(forked.peer, continued(begun.hash, 1)))
    expect(result.error.message).toContain('already completed')
  })
})

/** Pacts within pacts, with a rollback, and with a yield to another chain. */
const STEPS = `(namespace "free")
(module seam-steps G
  (defcap G () (enforce false "nobody"))
  (defschema s x:decimal)
  (defpact back (n:integer)
    (step-with-rollback (+ n 1) (+ n 10))
    (step n))
  (defpact near (n:integer)
    (step (let ((y:object{s} { "x": 1.25 })) (yield y) n))
    (step (resume { "x" := x } (format "{} {}" [x n]))))
  (defpact far (n:integer)
    (step (let ((y:object{s} { "x": 1.25 })) (yield y "1") n))
    (step (resume { "x" := x } x)))
  (defpact here (n:integer)
    (step (let ((y:object{s} { "x": 1.25 })) (yield y "0") n))
    (step (resume { "x" := x } x)))
  (defpact outer (n:integer)
    (step (near n))
    (step (continue (near n))))
  (defpact further (n:integer)
    (step (far n))
    (step (continue (far n))))
)`

it('a fork continues pacts of each kind as the forked node does', async () => {
  const begun = ['back', 'near', 'far', 'here', 'outer', 'further'].map((name) => exec(`(free.seam-steps.${name} 1)`))
  const [deployed] = await inBlock(remote.peer, [exec(STEPS, { gasLimit: 100_000 })])
  expect(deployed.result.status, JSON.stringify(deployed.result)).toBe('success')
  await inBlock(remote.peer, begun)
  await grown(remote)
  const forked = await startFork(remote)
  for (const { hash } of begun) expect(await listed(forked, hash)).toEqual(await listed(remote, hash))
  const [back, ...others] = begun.map(({ hash }) => hash)
  const next = [
    signed({}, { payload: { cont: { pactId: back, step: 0, rollback: true, data: {}, proof: null } } }),
    ...others.map((hash) => continued(hash, 1)),
  ]
  const told = async ({ peer }: Started) =>
    (await inBlock(peer, next)).map(({ result, continuation, events }) =>
      JSON.stringify([result, continuation, events]),
    )
  const there = await told(remote)
  expect(await told(forked)).toEqual(there)
  expect(there.map((text) => text.includes('success'))).toEqual([true, true, false, true, true, false])
  expect(there[3]).toContain('X_RESUME')
})

/** The answer to `GET /devnet/pacts` for one pact: status, and the pact or the text. */
async function listed({ peer }: Started, pactId: string, query = `?pactId=${pactId}`) {
  const { status, body } = await peer.request('GET', `/devnet/pacts${query}`)
  return status === 200 ? jsonOf({ body } as never).pacts : [status, body.toString()]
}

describe('the list of pacts', () => {
  it('the list of pacts contains a transfer from below the pin by its id', async () => {
    const command = leaving('2.500000000001')
    await inBlock(remote.peer, [command])
    await grown(remote)
    const cacheFolder = folder()
    const forked = await startFork(remote, { cacheFolder })
    expect(await listed(forked, command.hash, '')).toEqual([])
    const [there] = await listed(remote, command.hash)
    const [here] = await listed(forked, command.hash)
    expect(here).toEqual(there)
    expect(here.state).toBe('ready')
    expect(here.args[4]).toBe(2.500000000001)
    expect(here.next.step).toBe(1)
    const exact = await forked.peer.request('GET', `/devnet/pacts?pactId=${command.hash}`)
    expect(exact.body.toString()).toContain('2.500000000001')
    // Without the node, from the cache.
    const cut = String(forked.devnet.fork?.pin.height)
    const offline = await startFork(remote, { cacheFolder, cut }, {}, {}, async () => null)
    expect(await listed(offline, command.hash)).toEqual([here])
    // Its claim here.
    const proof = await ok(spv(forked.peer, { requestKey: command.hash, targetChainId: '1' }))
    const claim = continued(command.hash, 1, proof, 1)
    await ok(send(forked.peer, [claim], 1))
    expect((await listed(forked, command.hash))[0]).toMatchObject({
      state: 'pending',
      next: { pendingKey: claim.hash },
    })
    await makeBlocks(forked.peer, { 1: 1 })
    const [done] = await listed(forked, command.hash)
    expect(done.steps.map((each: { requestKey: string }) => each.requestKey)).toEqual([command.hash, claim.hash])
    expect(done.state).toBe('finished')
    expect(done.next).toBe(null)
    expect(done.note).toBeUndefined()
    // The list of all has it now, with the step of this network.
    expect((await listed(forked, '', ''))[0].steps).toHaveLength(1)
  })

  it('the list of pacts reports that a transfer is newer than the fork, or claimed below the pin', async () => {
    const claimed = leaving('1.5')
    await inBlock(remote.peer, [claimed])
    await grown(remote)
    const proof = await ok(spv(remote.peer, { requestKey: claimed.hash, targetChainId: '1' }))
    await inBlock(remote.peer, [continued(claimed.hash, 1, proof, 1)], 1)
    await grown(remote)
    const late = leaving('2.5')
    await inBlock(remote.peer, [late])
    await makeBlocks(remote.peer, { 1: 1 })
    const [there] = (await listed(remote, late.hash)) as [{ steps: [{ height: number }] }]
    const height = there.steps[0].height
    const forked = await startFork(remote, { cut: String(height) })
    expect((await listed(forked, late.hash))[0]).toMatchObject({
      state: 'unreachable',
      next: { step: 1, chain: 1, missingBlocks: null },
    })
    expect((await listed(forked, claimed.hash))[0]).toMatchObject({
      state: 'finished',
      next: null,
      note: 'later steps ran below the fork: nodes do not tell which commands ran them',
    })
    const earlier = await startFork(remote, { cut: String(height - 1) })
    expect(await listed(earlier, late.hash)).toEqual([404, `no chain has the pact ${late.hash} now`])
  })

  it('the list of pacts has a pact of one chain, at any step of it', async () => {
    const begun = [1, 2].map(() => exec('(free.fork-token.steps "bob")'))
    await inBlock(remote.peer, begun)
    const [first, second] = begun.map(({ hash }) => hash)
    await inBlock(remote.peer, [continued(second, 1)])
    await grown(remote)
    const forked = await startFork(remote)
    const [there] = await listed(remote, first)
    expect((await listed(forked, first))[0]).toEqual(there)
    const [further] = await listed(forked, second)
    expect(further.state).toBe('ready')
    expect(further.next.step).toBe(2)
    expect(further.steps).toHaveLength(1)
    expect(further.note).toContain('later steps ran below the fork')
    await inBlock(forked.peer, [continued(first, 1)])
    const [own] = await listed(forked, first)
    expect(own.state).toBe('ready')
    expect(own.next.step).toBe(2)
    expect(own.steps).toHaveLength(2)
    expect(own.note).toBeUndefined()
    await forked.proxy.close()
    expect(await listed(forked, 'A'.repeat(43))).toEqual([502, expect.stringContaining('gave no answer in 6 attempts')])
  })
})

describe('coins that left a chain', () => {
  it('coins that left a chain below the pin arrive in the fork', async () => {
    const command = leaving('2.5')
    await inBlock(remote.peer, [command])
    await grown(remote)
    const forked = await startFork(remote)
    const proof = await ok(spv(forked.peer, { requestKey: command.hash, targetChainId: '1' }))
    const [minted] = await inBlock(forked.peer, [continued(command.hash, 1, proof, 1)], 1)
    expect(minted.result).toEqual({ status: 'success', data: 'Write succeeded' })
    const forged = Buffer.from(Buffer.from(proof, 'base64url').toString().replace('2.5', '9.5')).toString('base64url')
    const { preflightResult } = await ok(
      local(forked.peer, continued(command.hash, 1, forged, 1), '?preflight=true', 1),
    )
    expect(preflightResult.result.error.message).toMatch(/spv verification failed|already completed/)
  })

  it('coins that left a chain above the pin are newer than the fork', async () => {
    const forked = await startFork(remote)
    const command = leaving('2.5')
    await inBlock(remote.peer, [command])
    await grown(remote)
    expect(await ok(poll(forked.peer, [command.hash]))).toEqual({})
    const { status, body } = await spv(forked.peer, { requestKey: command.hash, targetChainId: '1' })
    expect(body.toString()).toContain('this transfer is newer than the fork')
    expect(status).toBe(400)
    const proof = await ok(spv(remote.peer, { requestKey: command.hash, targetChainId: '1' }))
    const { preflightResult } = await ok(local(forked.peer, continued(command.hash, 1, proof, 1), '?preflight=true', 1))
    expect(preflightResult.result.error.message).toContain('target header is not in the chain')
  })

  it('coins that left a chain in the fork arrive in the fork', async () => {
    const forked = await startFork(remote)
    const command = leaving('1.25')
    await inBlock(forked.peer, [command])
    await makeBlocks(forked.peer, { 1: 2 })
    const proof = await ok(spv(forked.peer, { requestKey: command.hash, targetChainId: '1' }))
    const [minted] = await inBlock(forked.peer, [continued(command.hash, 1, proof, 1)], 1)
    expect(minted.result).toEqual({ status: 'success', data: 'Write succeeded' })
  })
})

it('a fork serves results, headers and payloads below the pin as the forked node does', async () => {
  const command = exec('(free.fork-token.steps "bob")')
  await inBlock(remote.peer, [command])
  await grown(remote)
  const forked = await startFork(remote)
  const own = exec('(+ 1 2)')
  await inBlock(forked.peer, [own])
  const result = (await ok(poll(remote.peer, [command.hash])))[command.hash]
  const polled = await ok(poll(forked.peer, [own.hash, command.hash, 'A'.repeat(43)]))
  expect(Object.keys(polled).sort()).toEqual([own.hash, command.hash].sort())
  expect(polled[command.hash]).toEqual(result)
  const { blockHash } = result.metaData
  const get = async (node: Started, path: string) => {
    const { status, body } = await node.peer.request('GET', `${PREFIX}/chain/0/${path}`)
    return [status, body.toString()]
  }
  const accept = { headers: { accept: 'application/json;blockheader-encoding=object' } }
  const header = jsonOf(await remote.peer.request('GET', `${PREFIX}/chain/0/header/${blockHash}`, accept))
  const pinned = forked.devnet.fork?.pin.hashes.get(0) ?? ''
  const root = jsonOf(await remote.peer.request('GET', `${PREFIX}/chain/0/header/${pinned}`, accept))
  for (const path of [
    `header/${blockHash}`,
    `payload/${header.payloadHash}`,
    `payload/${header.payloadHash}/outputs`,
    `header/${pinned}`,
    `payload/${root.payloadHash}`,
  ]) {
    expect(await get(forked, path), path).toEqual(await get(remote, path))
    for (const type of ['application/json;blockheader-encoding=object', 'application/octet-stream']) {
      const asked = (node: Started) => {
        return node.peer.request('GET', `${PREFIX}/chain/0/${path}`, { headers: { accept: type } })
      }
      const [there, here] = [await asked(remote), await asked(forked)]
      const all = ({ status, headers, body }: typeof here) => [status, headers['content-type'], body.toString('latin1')]
      expect(all(here), `${path} ${type}`).toEqual(all(there))
    }
  }
  expect((await get(forked, `header/${'A'.repeat(43)}`))[0]).toBe(404)
})

it('a fork serves the pinned block with its payload wherever blocks are served', async () => {
  await inBlock(remote.peer, [exec('(+ 1 2)')])
  await makeBlocks(remote.peer, { 1: 1 })
  const forked = await startFork(remote)
  const pin = forked.devnet.fork?.pin.height ?? 0
  const accept = { headers: { accept: 'application/json;blockheader-encoding=object' } }
  const { items } = jsonOf(
    await remote.peer.request('GET', `${PREFIX}/chain/0/header?minheight=${pin}&maxheight=${pin}`, accept),
  )
  const [{ payloadHash }] = items
  await forked.proxy.close()
  const told = async (node: Started, method: string, path: string, body?: unknown) => {
    const request = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const { status, body: text } = await node.peer.request(
      method,
      `${PREFIX}/chain/0/${path}`,
      body === undefined ? {} : request,
    )
    return [status, text.toString()]
  }
  for (const [method, path, body] of [
    ['GET', `block?minheight=${pin}&maxheight=${pin}`, undefined],
    ['GET', `payload/${payloadHash}`, undefined],
    ['GET', `payload/${payloadHash}/outputs`, undefined],
    ['POST', 'payload/batch', [payloadHash]],
    ['POST', 'payload/outputs/batch', [payloadHash]],
  ] as const) {
    const there = await told(remote, method, path, body)
    expect(there[0], path).toBe(200)
    expect(await told(forked, method, path, body), path).toEqual(there)
  }
  const [, block] = await told(forked, 'GET', `block?minheight=${pin}&maxheight=${pin}`)
  expect(JSON.parse(String(block)).items[0].payloadWithOutputs.transactions).toHaveLength(1)
})

it('a fork continues the time of the pinned blocks on request', async () => {
  const newest = Math.max(...[...remote.devnet.cut.values()].map(({ creationTime }) => Number(creationTime) / 1e6))
  const [day, month] = [86_400, 30 * 86_400]
  const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + month * 1000 }
  const firstTime = async (time: 'pinned' | 'now') => {
    const forked = await startFork(remote, { time }, {}, { clock })
    await makeBlocks(forked.peer, { 0: 1 })
    return Number(forked.devnet.cut.get(0)?.creationTime) / 1e6 - newest
  }
  const [pinned, now] = [await firstTime('pinned'), await firstTime('now')]
  expect(pinned).toBeGreaterThan(0)
  expect(pinned).toBeLessThan(day)
  expect(now).toBeGreaterThan(month - day)
})

it('a fork serves the given name in headers and commands', async () => {
  const forked = await startFork(remote, {}, { networkName: 'mainnet01' })
  const response = await fetch(`${forked.devnet.url}/info`)
  expect(await response.json()).toMatchObject({ nodeVersion: 'mainnet01' })
  await makeBlocks(forked.peer, { 0: 1 })
  const [head] = [...forked.devnet.cut.values()]
  expect(head.version).toBe(5)
})

it('a fork begins chains that are not forked with the state of a development network', async () => {
  const forked = await startFork(remote, { chains: [0] })
  const balance = async (chain: number) => {
    const command = exec('(floor (coin.get-balance "sender00"))', { chainId: String(chain) })
    return (await ok(local(forked.peer, command, '', chain))).result.data.int
  }
  expect(await balance(0)).toBeLessThan(100_000_000)
  expect(await balance(1)).toBe(100_000_000)
  await makeBlocks(forked.peer, { 1: 2 })
  expect(forked.proxy.seen.filter(({ url }) => url.includes('/chain/1/pact'))).toEqual([])
})

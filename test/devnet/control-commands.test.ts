/** Orders about commands: pending ones are dropped, and signers are impersonated; over HTTP, in memory and on disk. */
import { rm } from 'node:fs/promises'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { run, start as startProcess, stopAll } from '../cli/run.ts'
import { sharedWatched, startWatched } from './arrival.ts'
import { funded, signed } from './command.ts'
import { exec, local, makeBlocks, ok, poll, send, signers, startLedger, transfer } from './commands-common.ts'
import { jsonOf } from './common.ts'
import { order, post, refusal } from './control-common.ts'
import { temporaryDirectory } from './grow.ts'
import { localValue } from './local.ts'
import { pending } from './mempool-common.ts'
import { getWork, solve, submit } from './miner.ts'
import { Peer } from './request.ts'

const shared = sharedWatched()

/** A network as new, in which all keys sign for themselves. */
async function ledger() {
  const started = await shared()
  await order(started.control, '/devnet/impersonate', { keys: ['*'], on: false })
  return started
}

const DUKE = '2d70aa4f697c3a3b8dd6d97745ac074edcfd0eb65c37774cde25135483bea71e'

/** A transfer of `sender04` without any signature. */
function unsignedTransfer(amount: number, clist?: readonly unknown[]) {
  const caps = clist ?? [
    { name: 'coin.GAS', args: [] },
    { name: 'coin.TRANSFER', args: ['sender04', 'sender01', amount] },
  ]
  const change = {
    payload: { exec: { code: `(coin.transfer "sender04" "sender01" ${amount.toFixed(1)})`, data: {} } },
    signers: [{ pubKey: DUKE, clist: caps }],
  }
  return { ...signed({ sender: 'sender04' }, change, []), sigs: [null] }
}

describe('/devnet/drop', () => {
  it('/devnet/drop drops named transactions of all pools, and reports which', async () => {
    const { peer, control, made } = await ledger()
    const [first, second] = [transfer('sender01', 1), transfer('sender01', 2)]
    const other = exec('(+ 1 2)', { chainId: '1' })
    await send(peer, [first, second])
    await send(peer, [other], 1)
    const unknown = exec('(+ 1 3)').hash
    const requestKeys = [first.hash, other.hash, unknown, first.hash, unknown]
    expect(await order(control, '/devnet/drop', { requestKeys })).toEqual({
      dropped: { 0: [first.hash], 1: [other.hash] },
      notPending: [unknown],
    })
    expect((await pending(peer)).hashes).toEqual([second.hash])
    await makeBlocks(peer, { 0: 1, 1: 1 })
    expect(made().flatMap(({ requestKeys }) => requestKeys)).toEqual([second.hash])
    // It may be sent again.
    await send(peer, [first])
    await makeBlocks(peer, { 0: 1, 1: 1 })
    expect(made().flatMap(({ requestKeys }) => requestKeys)).toEqual([second.hash, first.hash])
  })

  it('/devnet/drop drops everything, and reports it to listeners', async () => {
    const steps: unknown[] = []
    const { peer, control, until } = await startWatched({
      onTransaction: (event) => void (event.step === 'dropped' && steps.push([event.requestKey, event.reason])),
    })
    const commands = [transfer('sender01', 1), transfer('sender01', 2)]
    await send(peer, commands)
    const keys = commands.map(({ hash }) => hash)
    expect(await order(control, '/devnet/drop', { all: true })).toEqual({ dropped: { 0: keys }, notPending: [] })
    expect(await order(control, '/devnet/drop', { all: true })).toEqual({ dropped: {}, notPending: [] })
    await until(() => steps.length === 2)
    expect(steps).toEqual(keys.map((key) => [key, 'dropped by order']))
  })

  it('/devnet/drop takes them from work that miners have, too', async () => {
    const { peer, control, devnet } = await startWatched({ difficulty: 20n })
    const command = transfer('sender01', 1)
    const coins = localValue(devnet.ledger, 0, '(coin.get-balance "sender01")')
    await getWork(peer, 0)
    await send(peer, [command])
    const before = solve(await getWork(peer, 0))
    await order(control, '/devnet/drop', { requestKeys: [command.hash] })
    expect((await submit(peer, before)).status).toBe(404)
    expect((await submit(peer, solve(await getWork(peer, 0)))).status).toBe(200)
    expect(localValue(devnet.ledger, 0, '(coin.get-balance "sender01")')).toBe(coins)
  })

  it.each([
    [{}, 'expected either requestKeys or "all": true'],
    [{ all: true, requestKeys: ['A'.repeat(43)] }, 'expected either requestKeys or "all": true'],
    [{ all: false }, '/all'],
    [{ requestKeys: ['short'] }, '/requestKeys/0'],
    [{ keys: [] }, '/keys is not a known field'],
  ])('/devnet/drop refuses %j', async (body, text) => {
    const { control } = await ledger()
    expect(await refusal(control, '/devnet/drop', body)).toEqual([400, expect.stringContaining(text)])
  })
})

describe('/devnet/impersonate', () => {
  it('/devnet/impersonate lets in commands without signatures, until it ends', async () => {
    const { peer, control, devnet } = await ledger()
    const coins = () => localValue(devnet.ledger, 0, '(coin.get-balance "sender01")') as number
    const before = coins()
    const command = unsignedTransfer(3)
    const refused = await send(peer, [command])
    expect(refused.status).toBe(400)
    expect(refused.body.toString()).toContain('Invalid transaction sigs')
    expect((await local(peer, command, '?preflight=true')).status).toBe(400)
    expect(await order(control, '/devnet/impersonate', { keys: [`k:${DUKE}`], on: true })).toEqual({ keys: [DUKE] })
    expect(await ok(local(peer, command, '?preflight=true'))).toMatchObject({
      preflightResult: { result: { status: 'success' } },
    })
    await ok(send(peer, [command]))
    expect(await order(control, '/devnet/impersonate', { keys: [DUKE], on: false })).toEqual({ keys: [] })
    await makeBlocks(peer, { 0: 1 })
    expect(coins()).toBe(before + 3)
    expect((await send(peer, [unsignedTransfer(4)])).status).toBe(400)
  })

  it('/devnet/impersonate takes wrong signatures, and fewer than signers', async () => {
    const { peer, control } = await ledger()
    await order(control, '/devnet/impersonate', { keys: ['*'], on: true })
    const wrong = { ...unsignedTransfer(1), sigs: [{ sig: '00'.repeat(64) }] }
    const none = { ...unsignedTransfer(2), sigs: [] }
    await ok(send(peer, [wrong, none]))
    await makeBlocks(peer, { 0: 1 })
    const results = await ok(poll(peer, [wrong.hash, none.hash]))
    expect(Object.values(results)).toHaveLength(2)
    // A signature too many names no signer.
    const many = { ...unsignedTransfer(1), sigs: [null, null] }
    expect((await send(peer, [many])).status).toBe(400)
    // The hash still binds the text.
    const other = { ...unsignedTransfer(1), hash: exec('(+ 1 2)').hash }
    expect((await send(peer, [other])).body.toString()).toContain('Invalid transaction hash')
  })

  it('/devnet/impersonate leaves guards and scopes of signatures in force', async () => {
    const { peer, control } = await ledger()
    await order(control, '/devnet/impersonate', { keys: ['*'], on: true })
    const gasOnly = unsignedTransfer(5, [{ name: 'coin.GAS', args: [] }])
    const change = { payload: { exec: { code: '(coin.transfer "sender05" "sender01" 1.0)', data: {} } } }
    const notTheirs = { ...signed({}, { ...signers(['coin.GAS']), ...change }, []), sigs: [null] }
    await ok(send(peer, [gasOnly, notTheirs]))
    await makeBlocks(peer, { 0: 1 })
    const results = await ok(poll(peer, [gasOnly.hash, notTheirs.hash]))
    for (const { hash } of [gasOnly, notTheirs]) expect(results[hash].result.status).toBe('failure')
  })

  it('/devnet/impersonate checks the keys of others', async () => {
    const { peer, control } = await ledger()
    await order(control, '/devnet/impersonate', { keys: [funded.publicKey], on: true })
    const refused = await send(peer, [unsignedTransfer(1)])
    expect(refused.body.toString()).toContain('Invalid transaction sigs: The signature at position 0 is invalid')
  })

  it('/devnet/impersonate returns such a command to the pool after a reorganisation', async () => {
    const { peer, control } = await ledger()
    await order(control, '/devnet/impersonate', { keys: [DUKE], on: true })
    const command = unsignedTransfer(1)
    await ok(send(peer, [command]))
    await makeBlocks(peer, { 0: 1 })
    expect(await order(control, '/devnet/impersonate', { keys: ['*'], on: false })).toEqual({ keys: [] })
    await order(control, '/devnet/fork', { chain: 0, depth: 1 })
    expect((await pending(peer)).hashes).toEqual([command.hash])
  })

  it.each([
    [{ keys: ['sender00'], on: true }, '/keys/0: "sender00": expected a public key'],
    [{ keys: [DUKE.toUpperCase()], on: true }, '/keys/0: '],
    [{ keys: [DUKE] }, 'must have required properties on'],
    [{ keys: '*', on: true }, '/keys must be array'],
  ])('/devnet/impersonate refuses %j', async (body, text) => {
    const { control } = await ledger()
    expect(await refusal(control, '/devnet/impersonate', body)).toEqual([400, expect.stringContaining(text)])
  })
})

describe('--impersonate', () => {
  afterEach(stopAll)

  it('the option impersonate survives kill -9, --check and a backup', async () => {
    const dataDir = await temporaryDirectory()
    const backupDir = await temporaryDirectory()
    onTestFinished(async () => {
      for (const each of [dataDir, backupDir]) await rm(each, { recursive: true, force: true })
    })
    const args = ['devnet', '--port', '0', '--auto-mine', 'on-demand', '--graph', 'pair', '--log', 'json']
    const node = startProcess([...args, '--data', dataDir, '--backup-dir', backupDir, '--impersonate', '*'])
    const [, url] = await node.sees(/ at (http:\/\/[\d.:]+)"/)
    const peer = new Peer(url)
    onTestFinished(() => peer.close())
    await post(peer, '/make-blocks', { 0: 1, 1: 1 })
    const command = unsignedTransfer(2)
    const sent = await peer.request('POST', '/chainweb/0.0/development/chain/0/pact/api/v1/send', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ cmds: [command] }),
    })
    expect(sent.status, sent.body.toString()).toBe(200)
    await post(peer, '/make-blocks', { 0: 1 })
    const id = jsonOf(await peer.request('POST', '/make-backup'))
    await node.sees(/"by":"order"/)
    for (;;) {
      const status = (await peer.get(`/check-backup/${id}`)).body.toString()
      if (status !== 'backup-in-progress') {
        expect(status).toBe('backup-done')
        break
      }
    }
    node.child.kill('SIGKILL')
    await node.ended
    // Without the state database, every block executes again.
    await rm(`${dataDir}/state`, { recursive: true })
    const again = await startLedger({ dataDir, graph: undefined })
    expect(Object.keys(await ok(poll(again.peer, [command.hash])))).toEqual([command.hash])
    expect((await send(again.peer, [unsignedTransfer(3)])).status).toBe(400)
    await again.devnet.close()
    expect(await checkDataDirectory(dataDir)).toMatchObject({ unsigned: 1, findings: [] })
    const { code, out } = await run(['devnet', '--data', `${backupDir}/${id}`, '--check'])
    const told = expect.stringMatching(/\n1 transactions? without valid signatures: .*\nnothing is wrong\n$/)
    expect({ code, out }).toEqual({ code: 0, out: told })
  })

  it('the option impersonate refuses what is not a key', async () => {
    const { code, err } = await run(['devnet', '--impersonate', 'sender00'])
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('--impersonate') })
  })
})

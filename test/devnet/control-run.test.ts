/** Code that runs with privileges in a block of its own: over HTTP, and after a restart from disk. */
import { rm } from 'node:fs/promises'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { readPrivileges } from '../../src/devnet/command/privileges.ts'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { run as runCommand, start as startProcess, stopAll } from '../cli/run.ts'
import { startFork, startRemote } from '../copy/network.ts'
import { sharedWatched } from './arrival.ts'
import { exec, ok, poll, send, startLedger, transfer } from './commands-common.ts'
import { order, post, refusal } from './control-common.ts'
import { temporaryDirectory } from './grow.ts'
import { localValue } from './local.ts'
import { pending } from './mempool-common.ts'
import { Peer } from './request.ts'

const ledger = sharedWatched()

afterEach(stopAll)

const DUKE = '2d70aa4f697c3a3b8dd6d97745ac074edcfd0eb65c37774cde25135483bea71e'
const balance = (account: string) => `(coin.get-balance "${account}")`
const COINBASE = { name: 'coin.COINBASE', args: [] }
const MINT = {
  chain: 0,
  code: '(coin.coinbase "sender01" (at "guard" (coin.details "sender01")) (read-decimal "amount"))',
  data: { amount: 7.5 },
  caps: [COINBASE],
}

describe('/devnet/run', () => {
  it('/devnet/run runs code with capabilities granted, in a block that it makes, without gas', async () => {
    const { peer, control, made, devnet } = await ledger()
    const coins = () => localValue(devnet.ledger, 0, balance('sender01')) as number
    const before = coins()
    const ran = await order(control, '/devnet/run', MINT)
    expect(ran).toMatchObject({ height: 2, result: { status: 'success' } })
    expect(coins()).toBe(before + 7.5)
    expect(made().map(({ requestKeys }) => requestKeys)).toEqual([[ran.requestKey]])
    const [result] = Object.values<Record<string, unknown>>(await ok(poll(peer, [ran.requestKey])))
    expect(result).toMatchObject({ reqKey: ran.requestKey, gas: ran.gas, result: { status: 'success' } })
    // Nobody paid a fee.
    expect(JSON.stringify(result)).not.toContain('"sender00"')
  })

  it('/devnet/run grants capabilities whose body would refuse, and no others', async () => {
    const { control } = await ledger()
    const code = `(module vault GOV
      (defcap GOV () (enforce false "nobody governs"))
      (defcap OPEN (place:string) (enforce (= place "never") "closed"))
      (defun open (place) (with-capability (OPEN place) (format "{} is open" [place])))
      (defun close () (with-capability (GOV) "closed")))`
    const deployed = await order(control, '/devnet/run', { chain: 0, code: `(namespace "free") ${code}` })
    expect(deployed.result.status).toBe('success')
    const run = async (call: string, ...caps: object[]) => {
      const { result } = await order(control, '/devnet/run', { chain: 0, code: `(free.vault.${call})`, caps })
      return result.data ?? result.error.message
    }
    const open = (...args: unknown[]) => ({ name: 'free.vault.OPEN', args })
    expect(await run('open "a"')).toBe('closed')
    expect(await run('open "a"', open('a'))).toBe('a is open')
    expect(await run('open "b"', open('a'))).toBe('closed')
    expect(await run('close', { name: 'free.vault.GOV', args: [] })).toBe('closed')
    expect(await run('open "a"', open())).toContain('wrong number of arguments for capability free.vault.OPEN')
  })

  it('/devnet/run evaluates the bodies of capabilities only where an earlier newcut did', () => {
    const read = (privileged: object) => readPrivileges(JSON.stringify({ privileged: { admin: [], ...privileged } }))
    const capabilities = [expect.objectContaining({ name: 'coin.COINBASE' })]
    expect(read({ caps: [COINBASE] })).toMatchObject({ capabilities, areAsked: true })
    expect(read({ caps: [COINBASE], areAsked: false })).toMatchObject({ capabilities, areAsked: false })
  })

  it('/devnet/run has admin rights on the named modules only', async () => {
    const { control, devnet } = await ledger()
    const code = '(update coin.coin-table "sender02" { "balance": 1.0 })'
    const refused = await order(control, '/devnet/run', { chain: 0, code })
    expect(refused.result.status).toBe('failure')
    const coins = localValue(devnet.ledger, 0, balance('sender02'))
    expect(coins).not.toBe(1)
    const ran = await order(control, '/devnet/run', { chain: 0, code, admin: ['coin'] })
    expect(ran.result).toEqual({ status: 'success', data: 'Write succeeded' })
    expect(localValue(devnet.ledger, 0, balance('sender02'))).toBe(1)
    const unknown = await order(control, '/devnet/run', { chain: 0, code, admin: ['free.nothing'] })
    expect(unknown.result.error.message).toContain('there is no module free.nothing')
  })

  it('/devnet/run counts keys as signers, and leaves nothing behind if it fails', async () => {
    const { peer, control, devnet } = await ledger()
    const code = '(coin.transfer "sender04" "sender01" 2.0)'
    const caps = [{ name: 'coin.TRANSFER', args: ['sender04', 'sender01', 2.0] }]
    const before = localValue(devnet.ledger, 0, balance('sender04'))
    const failed = await order(control, '/devnet/run', { chain: 0, code, caps })
    expect(failed).toMatchObject({ result: { status: 'failure' }, events: [] })
    expect(localValue(devnet.ledger, 0, balance('sender04'))).toBe(before)
    const ran = await order(control, '/devnet/run', { chain: 0, code, caps, keys: [DUKE] })
    expect(ran.result).toMatchObject({ status: 'success' })
    expect(localValue(devnet.ledger, 0, balance('sender04'))).toBe((before as number) - 2)
    expect((await pending(peer)).hashes).toEqual([])
  })

  it('/devnet/run comes before what is pending, in the same block', async () => {
    const { peer, control, made } = await ledger()
    const command = transfer('sender01', 1)
    await send(peer, [command])
    const { requestKey } = await order(control, '/devnet/run', MINT)
    expect(made().map(({ requestKeys }) => requestKeys)).toEqual([[requestKey, command.hash]])
  })

  it('/devnet/run leaves nothing behind if its chain may not grow', async () => {
    const { peer, control } = await ledger()
    await order(control, '/devnet/pause', { chain: 0 })
    const refused = [409, 'chain 0 would have to grow by 1, but it is paused']
    expect(await refusal(control, '/devnet/run', MINT)).toEqual(refused)
    expect((await pending(peer)).hashes).toEqual([])
    await order(control, '/devnet/resume', { chain: 0 })
  })

  it('/devnet/run gives no privileges to commands of others that name some', async () => {
    const { peer, control, devnet } = await ledger()
    const before = localValue(devnet.ledger, 0, balance('sender02'))
    await order(control, '/devnet/impersonate', { keys: ['*'], on: true })
    const code = '(update coin.coin-table "sender02" { "balance": 1.0 })'
    const command = exec(code, {}, { privileged: { admin: ['coin'], caps: [COINBASE] } })
    await ok(send(peer, [command]))
    await order(control, '/devnet/make-blocks', { 0: 1 })
    const results = await ok(poll(peer, [command.hash]))
    expect(results[command.hash].result.status).toBe('failure')
    expect(localValue(devnet.ledger, 0, balance('sender02'))).toBe(before)
    await order(control, '/devnet/impersonate', { keys: ['*'], on: false })
  })

  it.each([
    [{ chain: 9, code: '1' }, /there is no chain 9/],
    [{ chain: 0, code: '(+ 1' }, /^\/code: /],
    [{ chain: 0, code: '1', keys: ['sender00'] }, /^\/keys\/0: "sender00": expected a public key/],
    [{ chain: 0, code: '1', caps: [{ name: 'x', args: [] }] }, /^\/caps\/0\/name must match/],
    [{ chain: 0 }, /must have required properties code/],
  ])('/devnet/run refuses %j', async (body, text) => {
    const { control } = await ledger()
    expect(await refusal(control, '/devnet/run', body)).toEqual([400, expect.stringMatching(text)])
  })

  it('/devnet/run has a trace with all its gas, as do those after it in the block', async () => {
    const { peer, control } = await ledger()
    const command = transfer('sender01', 1)
    await send(peer, [command])
    const ran = await order(control, '/devnet/run', MINT)
    const traced = await order(control, '/devnet/trace', { requestKey: ran.requestKey })
    expect(traced).toMatchObject({ status: 'success', gas: ran.gas, note: null, trace: { gasTotal: ran.gas * 1000 } })
    expect(JSON.stringify(traced.trace)).toContain('"coin.coinbase"')
    expect(traced.trace.children.map(({ name }: { name: string }) => name)).toEqual(['privileged code', 'rounding'])
    const after = await order(control, '/devnet/trace', { requestKey: command.hash })
    expect(after.status).toBe('success')
    expect(after.note).toBe(null)
    expect(after.block.index).toBe(1)
    const failed = await order(control, '/devnet/run', { ...MINT, caps: [] })
    const why = await order(control, '/devnet/trace', { requestKey: failed.requestKey })
    expect(why).toMatchObject({ status: 'failure', gas: failed.gas, trace: { error: failed.result.error.message } })
    expect(why.trace.gasTotal).toBe(failed.gas * 1000)
  })

  it('/devnet/run runs on the state of a forked network, which it fetches first', async () => {
    const remote = await startRemote()
    const { devnet, peer } = await startFork(remote)
    const control = new Peer(devnet.url)
    onTestFinished(() => control.close())
    const code = '(update free.fork-token.accounts "bob" { "balance": 7.0 }) (free.fork-token.balance "bob")'
    const ran = await order(control, '/devnet/run', { chain: 0, code, admin: ['free.fork-token'] })
    expect(ran.result).toEqual({ status: 'success', data: 7 })
    const traced = await order(control, '/devnet/trace', { requestKey: ran.requestKey })
    expect(traced.gas).toEqual(ran.gas)
    expect(traced.note).toBe(null)
    expect(Object.keys(await ok(poll(peer, [ran.requestKey])))).toEqual([ran.requestKey])
  })

  it('/devnet/run survives kill -9, a lost state database, a reorganisation and --check', async () => {
    const dataDir = await temporaryDirectory()
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const args = ['devnet', '--port', '0', '--auto-mine', 'on-demand', '--graph', 'pair', '--log', 'json']
    const node = startProcess([...args, '--data', dataDir])
    const [, url] = await node.sees(/ at (http:\/\/[\d.:]+)"/)
    const peer = new Peer(url)
    onTestFinished(() => peer.close())
    await post(peer, '/make-blocks', { 0: 1, 1: 1 })
    const { requestKey } = await order(peer, '/devnet/run', MINT)
    node.child.kill('SIGKILL')
    await node.ended
    await rm(`${dataDir}/state`, { recursive: true })
    const again = await startLedger({ dataDir, graph: undefined })
    const coins = localValue(again.devnet.ledger, 0, balance('sender01'))
    expect(Object.keys(await ok(poll(again.peer, [requestKey])))).toEqual([requestKey])
    const control = new Peer(again.devnet.url)
    onTestFinished(() => control.close())
    // It runs again on the other branch.
    await order(control, '/devnet/fork', { chain: 0, depth: 2 })
    await order(control, '/make-blocks', { 0: 1, 1: 1 })
    expect(Object.keys(await ok(poll(again.peer, [requestKey])))).toEqual([requestKey])
    expect(localValue(again.devnet.ledger, 0, balance('sender01'))).toBe(coins)
    await again.devnet.close()
    expect(await checkDataDirectory(dataDir)).toMatchObject({ unsigned: 2, findings: [] })
    const { code, out } = await runCommand(['devnet', '--data', dataDir, '--check'])
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('2 transactions without valid signatures') })
  })
})

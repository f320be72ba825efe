/** Contracts that call `print`: over HTTP, after a restart from disk, on a fork, and on the command line. */
import { rm } from 'node:fs/promises'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import type { PrintEvent } from '../../src/ground/schema/devnet-events.ts'
import { validatorOf } from '../../src/ground/schema/validator.ts'
import { NodeView } from '../../src/ground/schema/view.ts'
import { MAX_PRINT_BYTES } from '../../src/language/contracts/trace/print-log.ts'
import { run as runCommand, startHere, stopAll } from '../cli/run.ts'
import { execWith, KEYSET, startFork } from '../copy/network.ts'
import { exec, local, makeBlocks, ok, poll, send, startLedger } from './commands-common.ts'
import { type CheckedPeer, jsonOf } from './common.ts'
import { order, post } from './control-common.ts'
import { temporaryDirectory } from './grow.ts'
import { OpenResponse, Peer } from './request.ts'
import type { DevnetOptions } from './whole-node.ts'

afterEach(stopAll)

const MODULE = `(namespace "free")
(module teller GOVERNANCE
  (defcap GOVERNANCE () true)
  (defun tell (x) (print x) "told")
  (defun many (n) (map (lambda (i) (print i)) (enumerate 1 n)) "told")
  (defun fails () (print "before") (enforce false "on purpose")))`
const OWN = `(namespace "free")
(module owner GOVERNANCE
  (defcap GOVERNANCE () true)
  (defun print (x) (+ x 1))
  (defun run () (+ (print 1) (let ((print 5)) print))))`
/** A module of this name, which its own code and later code mean by the bare name. */
const NAMED = `(namespace "free")
(interface printing (defun own:string ()))
(module print GOVERNANCE
  (defcap GOVERNANCE () true)
  (implements free.printing)
  (defun own:string () (let ((me:module{free.printing} print)) (format "{}" [me]))))
(free.print.own)`
const NO_PREDICATE = 'Invalid custom predicate for keyset: expected native'
const GAS = { gasLimit: 100_000 }

/** Starts a ledger that keeps what its code prints, and its notices. */
async function startPrinting(options: DevnetOptions = {}) {
  const printed: PrintEvent[] = []
  const notices: string[] = []
  const started = await startLedger({
    allowPrint: true,
    onPrint: (event) => printed.push(event),
    onNotice: (message) => notices.push(message),
    ...options,
  })
  const control = new Peer(started.devnet.url)
  onTestFinished(() => control.close())
  return { ...started, control, printed, notices }
}

/** Runs code in a block of its own. @returns its result */
async function inBlock(peer: CheckedPeer, code: string) {
  const command = exec(code, GAS)
  await ok(send(peer, [command]))
  await makeBlocks(peer, { 0: 1 })
  return (await ok(poll(peer, [command.hash])))[command.hash]
}

async function dataDirectory(): Promise<string> {
  const dataDir = await temporaryDirectory()
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  return dataDir
}

describe('print with the option', () => {
  it('the function print reports each text of a block once, also if a second reader looks at the block', async () => {
    const { peer, control, printed, notices } = await startPrinting()
    const loaded = await inBlock(peer, MODULE)
    expect(printed).toEqual([])
    expect(notices).toEqual([expect.stringMatching(/^free\.teller calls print: live networks refuse/)])
    const ran = await inBlock(peer, '(free.teller.tell "one") (free.teller.tell {"a": [1 2.5]}) (print free.teller)')
    const { reqKey: requestKey } = ran
    const by = { by: 'block', chain: 0, height: 3, requestKey }
    const told = [
      { ...by, module: 'free.teller', line: 4, text: 'one' },
      { ...by, module: 'free.teller', line: 4, text: '{"a": [1, 2.5]}' },
      { ...by, module: null, line: 1, text: 'free.teller' },
    ]
    expect(printed).toEqual(told)
    expect(ran.result).toEqual({ status: 'success', data: null })
    const { trace, note } = await order(control, '/devnet/trace', { requestKey })
    const steps = JSON.stringify(trace).match(/\{"kind":"print".*?"gasOwn":\d+,"gasTotal":0,/g)
    expect(steps?.length).toBe(3)
    expect(note).toBe(null)
    expect(printed).toHaveLength(3)
    // A block is marked as soon as its code names print.
    expect(await order(control, '/devnet/trace', { requestKey: loaded.reqKey })).toMatchObject({ note: null })
    await inBlock(peer, MODULE.replace('"told"', '"said"'))
    expect(notices).toHaveLength(1)
  })

  it('the function print marks texts of calls, and costs no gas', async () => {
    const { peer, control, printed } = await startPrinting()
    await inBlock(peer, MODULE)
    const tell = exec('(free.teller.tell 1)', GAS)
    expect((await ok(local(peer, tell))).result).toEqual({ status: 'success', data: 'told' })
    await ok(local(peer, tell, '?preflight=true'))
    expect(printed.map(({ by, height, requestKey }) => [by, height, requestKey])).toEqual([
      ['local', null, tell.hash],
      ['preflight', null, tell.hash],
    ])
    // The page of this machine shows them, and reads only new ones.
    const stream = await OpenResponse.open(`${peer.url}/devnet/live`, {})
    onTestFinished(() => stream.destroy())
    const [whole, foreign] = await Promise.all(
      [{}, { origin: 'null' }].map(async (headers) => jsonOf(await control.get('/devnet/view', { headers }))),
    )
    const [, second] = printed.map((event, i) => ({ id: i + 1, ...event }))
    expect(whole.prints[1]).toEqual(second)
    expect(foreign.prints).toBeUndefined()
    expect(validatorOf(NodeView).accepts(whole)).toBe(true)
    await ok(local(peer, exec('(print "two\\nlines")', GAS)))
    await ok(local(peer, exec(`(print "${'x'.repeat(600)}")`, GAS)))
    await expect.poll(() => /"prints":.*xxx…"/.test(stream.text)).toBe(true)
    const news = [...stream.text.matchAll(/event: change\ndata: (.+)\n/g)].flatMap(
      ([, data]) => JSON.parse(data).prints ?? [],
    )
    expect(news.map(({ id, text }) => [id, text.length])).toEqual([
      [3, 'two lines'.length],
      [4, 512],
    ])
    const gasOf = async (code: string) => (await ok(local(peer, exec(code.repeat(100), GAS)))).gas
    expect(await gasOf('(print 1) ')).toBe(await gasOf('1 '))
    expect(await gasOf('(identity 1) ')).toBeGreaterThan(await gasOf('1 '))
  })

  it('the function print reports the texts of a transaction that fails, and limits those of a command', async () => {
    const { peer, control, printed } = await startPrinting()
    await inBlock(peer, MODULE)
    expect((await inBlock(peer, '(free.teller.fails)')).result.status).toBe('failure')
    expect(printed.splice(0).map(({ text }) => text)).toEqual(['before'])
    expect((await inBlock(peer, '(free.teller.many 2000)')).result).toEqual({ status: 'success', data: 'told' })
    const bytes = printed.reduce((sum, { text }) => sum + text.length + 64, 0)
    expect(bytes).toBeLessThanOrEqual(MAX_PRINT_BYTES + 200)
    expect(printed.at(-1)?.text).toMatch(/^\(the rest is not shown: a command prints at most 65536 bytes\)$/)
    expect(printed.at(-2)?.text).toBe(String(printed.length - 1))
    // The page keeps the last ones.
    expect(jsonOf(await control.get('/devnet/view')).prints).toHaveLength(200)
    // Characters beyond ASCII count by their bytes, and each text has a limit of its own.
    printed.length = 0
    await ok(local(peer, exec(`(map (lambda (i) (print "${'漢'.repeat(1000)}")) (enumerate 1 40))`, GAS)))
    expect(printed).toHaveLength(22)
    printed.length = 0
    await ok(local(peer, exec(`(print "${'x'.repeat(5000)}") (print (enumerate 1 3000))`, GAS)))
    expect(printed.map(({ text }) => text.length)).toEqual([4096, 4096])
  })

  it('the option for print leaves definitions and variables of that name alone', async () => {
    const outcomes = []
    const dataDir = await dataDirectory()
    for (const allowPrint of [true, false]) {
      const { peer, printed, devnet } = await startPrinting({ allowPrint, ...(allowPrint && { dataDir }) })
      const { result, gas } = await inBlock(peer, OWN)
      const ran = await inBlock(peer, '(free.owner.run)')
      const named = await inBlock(peer, NAMED)
      const guarded = local(
        peer,
        execWith('(enforce-guard (read-keyset "k"))', { k: { ...KEYSET, pred: 'print' } }, GAS),
      )
      const hashes = await ok(local(peer, exec('(map (at "hash") [(describe-module "free.owner")])', GAS)))
      const more = [named.result, named.gas, (await ok(guarded)).result, hashes.result]
      outcomes.push([result, gas, ran.result, ran.gas, printed, more])
      if (allowPrint) await devnet.close()
    }
    expect(await checkDataDirectory(dataDir)).toMatchObject({ hasPrints: false, findings: [] })
    expect(outcomes[0]).toEqual(outcomes[1])
    expect(outcomes[0]).toMatchObject([
      { status: 'success' },
      expect.any(Number),
      { data: { int: 7 } },
      expect.any(Number),
      [],
      [{ data: 'free.print' }, expect.any(Number), { error: { message: NO_PREDICATE } }, { status: 'success' }],
    ])
  })
})

describe('print without the option', () => {
  it('code with print does not load without the option, with the error of live networks', async () => {
    const { peer, control, printed } = await startPrinting({ allowPrint: false })
    expect((await inBlock(peer, MODULE)).result).toMatchObject({
      status: 'failure',
      error: { type: 'EvalError', message: 'Cannot find module: free.print' },
    })
    expect(printed).toEqual([])
    expect(jsonOf(await control.get('/devnet/view')).prints).toBeUndefined()
    await expect(startLedger({ allowPrint: 'yes' as unknown as boolean })).rejects.toThrow('allowPrint')
  })

  it('blocks that a node makes with print stay valid without the option, and the other way round', async () => {
    const dataDir = await dataDirectory()
    const first = await startPrinting({ dataDir, allowPrint: false })
    const failed = await inBlock(first.peer, MODULE)
    await first.devnet.close()
    const second = await startPrinting({ dataDir, graph: undefined })
    const { reqKey } = await inBlock(second.peer, `${MODULE} (print "loaded")`)
    expect(second.printed.map(({ text }) => text)).toEqual(['loaded'])
    await second.devnet.close()
    await expect(startLedger({ dataDir, graph: undefined })).rejects.toThrow(/modules that call print.*not allow/)
    expect(await checkDataDirectory(dataDir)).toMatchObject({ hasPrints: true, findings: [] })
    const { code, out } = await runCommand(['devnet', '--data', dataDir, '--check'])
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('calls print: a node needs --allow-print') })
    // The blocks execute again, and print nothing.
    await rm(`${dataDir}/state`, { recursive: true })
    const third = await startPrinting({ dataDir, graph: undefined })
    expect(third.printed).toEqual([])
    const results = await ok(poll(third.peer, [reqKey, failed.reqKey]))
    expect(results[reqKey].result.status).toBe('success')
    expect(results[failed.reqKey].result.status).toBe('failure')
    const { note } = await order(third.control, '/devnet/trace', { requestKey: failed.reqKey })
    expect(note).toBeNull()
    expect((await inBlock(third.peer, '(free.teller.tell 1)')).result.status).toBe('success')
    expect(third.printed.map(({ text }) => text)).toEqual(['1'])
  })
})

describe('print on a fork', () => {
  it('a module of the forked network that prints runs with the option, and names it without', async () => {
    const remote = await startPrinting()
    await inBlock(remote.peer, MODULE)
    // A pin has one height.
    await makeBlocks(remote.peer, { 1: 1 })
    const texts: string[] = []
    const options = { allowPrint: true, onPrint: ({ text }: PrintEvent) => texts.push(text) }
    const allowed = await startFork(remote, {}, options)
    expect((await inBlock(allowed.peer, '(free.teller.tell "forked")')).result.status).toBe('success')
    expect(texts).toEqual(['forked'])
    const refused = await startFork(remote)
    expect((await inBlock(refused.peer, '(free.teller.tell 1)')).result.error.message).toContain('--allow-print')
  })
})

describe('newcut devnet --allow-print', () => {
  it('newcut devnet --allow-print logs each text with its place, and one warning for the module', async () => {
    const args = ['devnet', '--port', '0', '--auto-mine', 'on-demand', '--graph', 'pair', '--allow-print']
    for (const log of ['json', 'text']) {
      const node = startHere([...args, '--log', log])
      const [, url] = await node.sees(/ at (http:\/\/[\d.:]+)/)
      const peer = new Peer(url)
      onTestFinished(() => peer.close())
      await post(peer, '/make-blocks', { 0: 1, 1: 1 })
      await order(peer, '/devnet/run', { chain: 0, code: `${MODULE} (print "two\\nlines")` })
      const line =
        log === 'json'
          ? /"event":"print","by":"block","chain":0,"height":2,"requestKey":"[^"]+","text":"two\\nlines","module":null,"line":\d+/
          : /print .*chain 0 {2}height 2 {2}code:\d+ {2}\S+: two lines/
      await node.sees(line)
      expect(node.out()).toContain('print: contracts may call it')
      expect(node.out().match(/free\.teller calls print/g)).toHaveLength(1)
      expect(await node.stop()).toMatchObject({ code: 0 })
    }
  })
})

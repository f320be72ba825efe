/** Traces of transactions: each step with its gas, which adds up to the gas of the result. */
import { describe, expect, it } from 'vitest'
import { type Change, funded, keyPair, type Signed, signed, signText } from './command.ts'
import { exec, makeBlocks, ok, poll, send, signers, spv, startLedger, transfer } from './commands-common.ts'
import type { CheckedPeer } from './common.ts'
import { order, refusal } from './control-common.ts'
import { Peer } from './request.ts'

interface Step {
  readonly kind: string
  readonly name: string
  readonly by?: string
  readonly args: readonly string[]
  readonly result?: string
  readonly error?: string
  readonly gasOwn: number
  readonly gasTotal: number
  readonly at: { readonly module: string | null; readonly line: number; readonly column: number } | null
  readonly children: readonly Step[]
  readonly omitted?: number
}

const HOSTILE = new URL('./hostile-thread.mjs', import.meta.url)
const KINDS = ['call', 'capability', 'guard', 'read', 'write', 'event', 'yield', 'print', 'gas']

const all = (step: Step): Step[] => [step, ...step.children.flatMap(all)]
const sum = (steps: readonly Step[], of: 'gasOwn' | 'gasTotal') => steps.reduce((gas, each) => gas + each[of], 0)

const trace = async (peer: CheckedPeer, body: Change) => {
  const plain = new Peer(peer.url)
  try {
    return await order(plain, '/devnet/trace', body)
  } finally {
    plain.close()
  }
}

const refused = async (peer: CheckedPeer, body: Change) => {
  const plain = new Peer(peer.url)
  try {
    return await refusal(plain, '/devnet/trace', body)
  } finally {
    plain.close()
  }
}

/** Checks what holds for every trace. @returns all its steps */
function checked(traced: { readonly gas: number; readonly trace: Step; readonly nodes: number }): Step[] {
  const steps = all(traced.trace)
  expect(sum(steps, 'gasOwn')).toBe(traced.gas * 1000)
  expect(traced.trace.gasTotal).toBe(traced.gas * 1000)
  expect(traced.nodes).toBe(steps.length)
  for (const step of steps) {
    expect(step.gasTotal).toBe(step.gasOwn + sum(step.children, 'gasTotal'))
    expect(KINDS).toContain(step.kind)
    for (const text of [...step.args, step.result ?? '', step.error ?? '']) expect(text.length).toBeLessThanOrEqual(256)
  }
  return steps
}

/** Sends commands, makes a block for them, and checks the trace of each against its result. */
async function traceAll(peer: CheckedPeer, commands: readonly Signed[], chain = 0) {
  await ok(send(peer, commands, chain))
  await makeBlocks(peer, { [chain]: 1 })
  const keys = commands.map(({ hash }) => hash)
  const results = await ok(poll(peer, keys, '', chain))
  const found = []
  for (const key of keys) {
    const traced = await trace(peer, { requestKey: key })
    const { gas, result, metaData } = results[key]
    expect(traced.gas, key).toEqual(gas)
    expect(traced.status, key).toEqual(result.status)
    expect(traced.note, key).toBe(null)
    expect(traced.block).toMatchObject({ height: metaData.blockHeight, hash: metaData.blockHash, isOrphan: false })
    if (result.status === 'failure') expect(traced.trace.error).toBe(result.error.message)
    found.push({ traced, steps: checked(traced), result })
  }
  return found
}

const code = (text: string, meta: Change = {}, data: unknown = {}) =>
  exec(text, { gasLimit: 20_000, ...meta }, { payload: { exec: { code: text, data } } })

const MODULE = `(namespace "free")
(module shop G
  (defcap G () (enforce-keyset (read-keyset "k")))
  (defschema price amount:decimal)
  (deftable prices:{price})
  (defcap SELL (item:string) @event (enforce (!= item "air") "air is free"))
  (defun set (item:string amount:decimal)
    (with-capability (SELL item) (write prices item { "amount": amount })))
  (defun price-of (item:string) (with-default-read prices item { "amount": 0.0 } { "amount" := a } a))
  (defun total (items:[string]) (fold (+) 0.0 (map (price-of) items)))
  (defpact deal (item:string)
    (step-with-rollback (yield { "item": item }) (price-of item))
    (step (resume { "item" := i } (price-of i)))))
(create-table prices)`

const guard = { pred: 'keys-all', keys: [funded.publicKey] }

describe('the gas of a trace adds up to that of the result', () => {
  it('the gas of a trace adds up to that of the result for calls, writes, pacts, deployments, and failures of every kind', async () => {
    const { peer } = await startLedger({ graph: 'singleton' })
    const deploy = code(MODULE, { gasLimit: 60_000 }, { k: guard })
    expect((await traceAll(peer, [deploy]))[0].result.status).toBe('success')
    const pact = code('(free.shop.deal "tea")')
    const many = await traceAll(peer, [
      transfer('sender01', 1.5),
      transfer('sender01', 1e9),
      code('(free.shop.set "tea" 1.5) (free.shop.set "ink" 2.25)'),
      code('(free.shop.set "air" 1.5)'),
      code('(free.shop.total ["tea" "ink" "air"])'),
      code('(try 0 (at 7 [1 2]))'),
      code('(enforce-one "none" [(enforce false "a") (enforce (= 1 1) "b")])'),
      code('(enforce-keyset (read-keyset "k"))', {}, { k: { pred: 'keys-all', keys: ['a'.repeat(64)] } }),
      code('(fold (lambda (a b) (+ a b)) 0 (enumerate 1 100000))', { gasLimit: 1500 }),
      code('(no.such.function)'),
      pact,
      exec('(+ 1 2)', { gasLimit: 100 }),
    ])
    const messages = many.map(({ result }) => result.error?.message ?? 'success')
    expect(messages).toEqual([
      'success',
      'Insufficient funds',
      'success',
      'air is free',
      'success',
      expect.stringMatching(/^Array index out of bounds/),
      'success',
      expect.stringMatching(/^Keyset failure/),
      expect.stringMatching(/^Gas limit "1500" exceeded/),
      expect.stringMatching(/no such/),
      'success',
      'success',
    ])
    const [first] = many
    expect(first.steps.map(({ name }) => name)).toContain('coin.debit')
    const cont = { pactId: pact.hash, step: 1, rollback: false, data: {}, proof: null }
    const [continued] = await traceAll(peer, [signed({ gasLimit: 5000 }, { payload: { cont } })])
    expect(continued.result.status, continued.result.error?.message).toBe('success')
    expect(continued.steps.map(({ name }) => name)).toContain('free.shop.deal step 1')
  })

  it('the gas of a trace adds up to that of the result for coins that change chains, and for verifiers', async () => {
    const { peer } = await startLedger({ graph: 'pair' })
    const text = '(coin.transfer-crosschain "sender00" "sender00" (read-keyset "guard") "1" 2.5)'
    const capability = ['coin.TRANSFER_XCHAIN', 'sender00', 'sender00', { decimal: '2.5' }, '1'] as const
    const change = { payload: { exec: { code: text, data: { guard } } }, ...signers(['coin.GAS'], capability) }
    const burn = exec(text, {}, change)
    const [{ steps }] = await traceAll(peer, [burn])
    expect(steps.find(({ name }) => name === 'pact.X_YIELD')?.kind).toBe('event')
    expect(steps.find(({ kind }) => kind === 'yield')?.args[0]).toContain('"amount": 2.5')
    await makeBlocks(peer, { 1: 3 })
    const proof = await ok(spv(peer, { requestKey: burn.hash, targetChainId: '1' }, 0))
    const cont = { pactId: burn.hash, step: 1, rollback: false, data: {}, proof }
    await traceAll(peer, [signed({ chainId: '1' }, { payload: { cont } })], 1)
    const verifiers = [
      { name: 'allow', proof: '{"name":"coin.GAS","args":[]}', clist: [{ name: 'coin.GAS', args: [] }] },
    ]
    await traceAll(peer, [exec('(+ 1 2)', {}, { verifiers })])
  })

  it('the gas of a trace adds up to that of the result for a result that is too large, and for a tree that is', async () => {
    const { peer } = await startLedger({ graph: 'singleton' })
    const large = code('(make-list 120000 "01234567890123456789")', { gasLimit: 150_000 })
    const deep = '(module m G (defcap G () true) (defun f (x) x))'
    await traceAll(peer, [code(`(namespace "free") ${deep}`)])
    const [{ result }] = await traceAll(peer, [large])
    expect(result.error.message).toBe('Result too large')
    const many = code('(map (free.m.f) (enumerate 1 12000))', { gasLimit: 150_000 })
    const [{ traced, steps }] = await traceAll(peer, [many])
    expect(steps.length).toBeLessThanOrEqual(10_002)
    expect(steps.length + traced.omitted).toBeGreaterThan(12_000)
    expect(steps.reduce((count, { omitted = 0 }) => count + omitted, 0)).toBe(traced.omitted)
  })
})

describe('a trace', () => {
  it('a trace has the steps of a transfer in their order, with arguments, results and places', async () => {
    const { peer } = await startLedger({ graph: 'singleton' })
    const [{ traced, steps }] = await traceAll(peer, [transfer('sender01', 1.5)])
    expect(traced.trace.children.map(({ name }: Step) => name)).toEqual([
      'buy gas',
      'payload size',
      'code',
      'rounding',
      'redeem gas',
    ])
    const [call] = steps.find(({ name }) => name === 'code')?.children ?? []
    expect(call).toMatchObject({
      kind: 'call',
      name: 'coin.transfer',
      args: ['"sender00"', '"sender01"', '1.5'],
      result: '"Write succeeded"',
      at: { module: null, line: 1, column: 1 },
    })
    const kinds = call.children.map(({ kind, name }) => `${kind} ${name}`)
    expect(kinds).toContain('capability coin.TRANSFER')
    expect(kinds.indexOf('capability coin.TRANSFER')).toBeLessThan(kinds.indexOf('call coin.debit'))
    expect(steps.filter(({ kind }) => kind === 'event').map(({ name }) => name)).toContain('coin.TRANSFER')
    const write = steps.find(({ kind, by }) => kind === 'write' && by === 'update')
    expect(write).toMatchObject({ name: 'coin.coin-table', at: { module: 'coin' } })
    expect(traced.modules.coin).toEqual({ hash: expect.stringMatching(/^[\w-]{43}$/), line: expect.any(Number) })
  })

  it('a trace of a failed transaction leads to the step that failed', async () => {
    const { peer } = await startLedger({ graph: 'singleton' })
    const [{ traced }] = await traceAll(peer, [transfer('sender01', 1e9)])
    let step: Step = traced.trace
    for (
      let next: Step | undefined = step;
      next !== undefined;
      next = step.children.find((each) => each.error === step.error)
    )
      step = next
    expect(step.name).toBe('coin.debit')
    expect(traced.trace.children.map(({ name }: Step) => name)).toContain('rest of the gas limit')
  })

  it('a trace runs on the state before its block, and stays the same when the chain goes on or leaves it', async () => {
    const { peer } = await startLedger({ graph: 'singleton' })
    const command = transfer('sender01', 1.5)
    const [{ traced }] = await traceAll(
      peer,
      [transfer('sender01', 2.5), command, transfer('sender01', 3.5)].slice(0, 2),
    )
    const [{ traced: second }] = [{ traced: await trace(peer, { requestKey: command.hash }) }]
    await makeBlocks(peer, { 0: 3 })
    await traceAll(peer, [transfer('sender01', 7.5)])
    expect(await trace(peer, { requestKey: command.hash })).toEqual(second)
    const plain = new Peer(peer.url)
    await order(plain, '/devnet/fork', { chain: 0, depth: 6 })
    plain.close()
    const { block, ...rest } = await trace(peer, { requestKey: command.hash, block: second.block.hash })
    expect(block).toEqual({ ...second.block, isOrphan: true })
    expect(rest).toEqual({ ...second, block: undefined })
    expect(traced.trace).not.toEqual(second.trace)
  })

  it('a trace of a command that is in no block writes nothing, and needs neither signature nor payer', async () => {
    const { peer } = await startLedger({ graph: 'singleton' })
    const command = transfer('sender01', 1.5)
    const traced = await trace(peer, { cmd: command })
    checked(traced)
    expect(traced.block).toBe(null)
    expect(traced.status).toBe('success')
    expect(traced.note).toBe(null)
    expect(await trace(peer, { cmd: command })).toEqual(traced)
    const text = signText(command.cmd, []).cmd
    const unsigned = await trace(peer, { cmd: text })
    expect(unsigned.requestKey).toEqual(command.hash)
    expect(unsigned.status).toBe('success')
    const poor = await trace(peer, { cmd: exec('(+ 1 2)', { sender: 'nobody' }) })
    checked(poor)
    expect(poor.note).toMatch(/^only the code ran, without its gas being bought: .*nobody/)
    expect(poor.trace.children.map(({ name }: Step) => name)).toEqual(['code', 'rounding'])
  })

  it('a trace is refused with a message for keys without a block', async () => {
    const { peer } = await startLedger({ graph: 'singleton' })
    const pending = transfer('sender01', 1.5)
    await ok(send(peer, [pending]))
    const unknown = 'A'.repeat(43)
    expect(await refused(peer, { requestKey: pending.hash })).toEqual([
      409,
      `transaction ${pending.hash} is pending on chain 0: it runs once it is in a block (POST /make-blocks)`,
    ])
    expect(await refused(peer, { requestKey: unknown })).toEqual([
      404,
      `no block of this network has a transaction ${unknown}, orphans included, and it is not pending`,
    ])
    expect(await refused(peer, { requestKey: 'short' })).toEqual([
      400,
      'requestKey "short": not 43 characters of base64url',
    ])
    const either = 'a trace takes either requestKey, of a transaction in a block, or cmd, a command'
    expect(await refused(peer, {})).toEqual([400, either])
    expect(await refused(peer, { requestKey: unknown, cmd: pending })).toEqual([400, either])
    expect(await refused(peer, { requestKey: pending.hash, block: unknown })).toEqual([
      404,
      `block ${unknown} has no transaction ${pending.hash}`,
    ])
    expect((await refused(peer, { cmd: 'no JSON' }))[1]).toMatch(/^cmd: \/cmd: no JSON/)
    expect((await refused(peer, { cmd: exec('1', { chainId: '7' }) }))[1]).toMatch(/^cmd: there is no chain 7/)
  })

  it('a trace of code that takes too long is stopped, and the node answers meanwhile', async () => {
    const { peer } = await startLedger(
      { graph: 'singleton' },
      { executionThread: HOSTILE, commandLimits: { cpuMs: 100, memoryMb: 512 } },
    )
    const [status, text] = await refused(peer, { cmd: exec('"spin forever"', {}, {}, [keyPair()]) })
    expect(status).toBe(409)
    expect(text).toMatch(/has no trace: its run was stopped after 2 s/)
    expect((await peer.get('/health-check')).status).toBe(200)
  })
})

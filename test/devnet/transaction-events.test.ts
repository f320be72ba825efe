/** Events of transactions that are sent to a node over HTTP. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { BlockMadeBy } from '../../src/ground/schema/devnet-events.ts'
import { funded, keyPair, type Signed, signed } from './command.ts'
import { exec, makeBlocks, ok, pactPath, poll, post, send, startLedger, transfer } from './commands-common.ts'
import { start } from './common.ts'
import { order } from './control-common.ts'
import { Fork, idOf, makeBlock } from './forks.ts'
import { Heard } from './heard.ts'
import { insert } from './mempool-common.ts'
import { mineWhole } from './miner.ts'
import { Peer } from './request.ts'
import type { DevnetOptions } from './whole-node.ts'

async function startHeard(options: DevnetOptions = {}) {
  const heard = new Heard()
  const started = await startLedger({ onTransaction: heard.tell, ...options })
  return { heard, ...started, give: givenTo(started.devnet.url) }
}

/** Sends orders with a plain peer, since their answers lack a common header. */
function givenTo(url: string) {
  const peer = new Peer(url)
  onTestFinished(() => peer.close())
  return (path: string, body: unknown) => order(peer, path, body)
}

const headId = ({ chains }: Awaited<ReturnType<typeof startHeard>>['devnet'], chain = 0) => {
  const head = chains.cut.get(chain)
  if (head === undefined) throw new Error(`no chain ${chain}`)
  return idOf(head)
}
const sentOk = (peer: Parameters<typeof send>[0], commands: readonly Signed[]) => ok(send(peer, commands))
const toldOf = ({ hash }: Signed, code = '(+ 1 2)') => {
  return { requestKey: hash, sender: 'sender00', action: { kind: 'code', code } }
}
const minute = 60_000

describe('a transaction', () => {
  it('a transaction is reported as pending, then with its block, its gas and its result', async () => {
    const { heard, peer, devnet } = await startHeard()
    const command = transfer('sender01', 1.5)
    const about = {
      chain: 0,
      requestKey: command.hash,
      sender: 'sender00',
      action: {
        kind: 'transfer',
        sender: 'sender00',
        receiver: 'sender01',
        amount: '1.5',
        token: 'coin',
        toChain: null,
      },
    }
    await sentOk(peer, [command])
    expect(await heard.events(1)).toEqual([{ step: 'pending', ...about }])
    expect(devnet.pending).toBe(1)
    // The transaction is already pending.
    await sentOk(peer, [command])
    await makeBlocks(peer, { 0: 1 })
    const { gas, events } = (await ok(poll(peer, [command.hash])))[command.hash]
    expect(await heard.events(2)).toEqual([
      { step: 'pending', ...about },
      {
        step: 'included',
        ...about,
        height: 2,
        block: headId(devnet),
        index: 0,
        count: 1,
        status: 'success',
        gas,
        result: '"Write succeeded"',
        place: null,
        events: events.map(() => 'coin.TRANSFER'),
        isAgain: false,
      },
    ])
    expect(events).toHaveLength(2)
    expect(devnet.pending).toBe(0)
  })

  it('a transaction that fails is reported with its message, made printable', async () => {
    const { heard, peer } = await startHeard()
    const command = exec('(enforce false "no\u001b[31m\u202e way")')
    await sentOk(peer, [command])
    await makeBlocks(peer, { 0: 1 })
    const [, included] = await heard.events(2)
    expect(included).toMatchObject({
      ...toldOf(command, '(enforce false "no [31m way")'),
      step: 'included',
      status: 'failure',
      gas: 600,
      result: 'no [31m way',
      events: ['coin.TRANSFER'],
    })
  })

  it('a transaction is reported with its index in the block, and blocks in their order', async () => {
    const { heard, peer } = await startHeard()
    const dear = Array.from({ length: 3 }, (_, i) => signed({ gasPrice: 1e-6 * (9 - i) }))
    await sentOk(peer, dear)
    await makeBlocks(peer, { 0: 1 })
    const later = signed()
    await sentOk(peer, [later])
    await makeBlocks(peer, { 0: 1 })
    const told = (await heard.events(8)).filter(({ step }) => step === 'included')
    expect(told).toMatchObject([
      ...dear.map(({ hash }, index) => ({ requestKey: hash, height: 2, index, count: 3 })),
      { requestKey: later.hash, height: 3, index: 0, count: 1 },
    ])
  })

  it('a transaction from a peer is reported likewise', async () => {
    const { heard, peer } = await startHeard()
    const command = signed()
    await insert(peer, [command])
    await makeBlocks(peer, { 0: 1 })
    expect(await heard.brief(2)).toEqual([`pending 0 ${command.hash}`, `included 0 ${command.hash}`])
  })
})

describe('a transaction whose block leaves the chain', () => {
  it('a transaction whose block leaves the chain is reported as undone, and again when another block has it', async () => {
    const { heard, peer, devnet, give } = await startHeard()
    const command = signed()
    await sentOk(peer, [command])
    await makeBlocks(peer, { 0: 1 })
    const block = headId(devnet)
    await give('/devnet/fork', { chain: 0, depth: 1 })
    await makeBlocks(peer, { 0: 1 })
    const [, first, undone, again] = await heard.events(4)
    expect(first).toMatchObject({ step: 'included', block, height: 2, isAgain: false })
    const place = { chain: 0, height: 2, block, index: 0, count: 1 }
    expect(undone).toEqual({
      step: 'undone',
      ...toldOf(command),
      ...place,
      by: 'reorganisation',
      wentTo: 'pool',
      reason: null,
    })
    expect(again).toMatchObject({ step: 'included', requestKey: command.hash, block: headId(devnet), isAgain: true })
  })

  it('a transaction whose block leaves the chain is reported in the other branch if that has it', async () => {
    const { heard, peer, devnet } = await startHeard({ graph: 'singleton' })
    const { chains } = devnet
    const fork = new Fork(devnet, 'fork')
    const command = signed()
    await sentOk(peer, [command])
    await makeBlocks(peer, { 0: 1 })
    const { header, payload } = makeBlock(devnet, fork.cut, 0, { account: 'fork', commands: [command] })
    expect(chains.insert(header, payload).status).toBe('added')
    fork.cut.set(0, header)
    fork.grow(0)
    // Orphans cause no events.
    await heard.events(2)
    expect(chains.adopt(fork.cut)).toBe(true)
    const [, , undone, again] = await heard.events(4)
    expect(undone).toMatchObject({ step: 'undone', requestKey: command.hash, wentTo: 'chain', reason: null })
    expect(again).toMatchObject({ step: 'included', block: idOf(header), height: 2, isAgain: true })
  })

  it('a transaction whose block leaves the chain is reported with the reason why it does not return to the pool', async () => {
    const { heard, peer, give } = await startHeard()
    const command = signed({ ttl: 600 })
    await sentOk(peer, [command])
    await makeBlocks(peer, { 0: 1 })
    await give('/devnet/clock', { advanceMs: 60 * minute })
    await give('/devnet/fork', { chain: 0, depth: 1 })
    expect((await heard.events(3))[2]).toMatchObject({
      step: 'undone',
      by: 'reorganisation',
      wentTo: 'nowhere',
      reason: 'Transaction time-to-live is expired',
    })
  })

  it('a transaction whose block leaves the chain by a revert is reported as undone, and so are transactions sent after the snapshot', async () => {
    const { heard, peer, give } = await startHeard()
    const [before, after, last] = [signed(), signed(), signed()]
    await sentOk(peer, [before])
    const { id } = await give('/devnet/snapshot', {})
    await sentOk(peer, [after])
    await makeBlocks(peer, { 0: 1 })
    await sentOk(peer, [last])
    await heard.events(5)
    await give('/devnet/revert', { id })
    const told = (await heard.events(8)).slice(5)
    const reason = 'the network went back to a snapshot'
    const undone = { step: 'undone', by: 'revert', height: 2, count: 2 }
    expect(told).toMatchObject([
      { ...undone, requestKey: before.hash, wentTo: 'pool', reason: null },
      { ...undone, requestKey: after.hash, wentTo: 'nowhere', reason },
      { step: 'dropped', chain: 0, ...toldOf(last), reason },
    ])
  })
})

describe('a transaction that no block takes', () => {
  it('a transaction that no block takes is reported as dropped when it expires', async () => {
    const { heard, peer, devnet, give } = await startHeard()
    const command = signed({ ttl: 600 })
    await sentOk(peer, [command])
    await give('/devnet/clock', { advanceMs: 60 * minute })
    expect(devnet.pending).toBe(0)
    const reason = 'Transaction time-to-live is expired'
    expect((await heard.events(2))[1]).toEqual({ step: 'dropped', chain: 0, ...toldOf(command), reason })
  })

  it('a transaction that no block takes is reported as dropped when its gas is no longer affordable', async () => {
    const { heard, peer } = await startHeard()
    // Each may cost 60,000,000 of the sender's 100,000,000 coins, and the first does.
    const terms = { gasLimit: 60_000, gasPrice: 1000 }
    const first = exec('(enforce false "no")', { ...terms, gasPrice: 1001 })
    const second = exec('(+ 1 2)', terms)
    await sentOk(peer, [first, second])
    await makeBlocks(peer, { 0: 1 })
    const told = (await heard.events(4)).slice(2)
    expect(told).toHaveLength(2)
    expect(told).toContainEqual(expect.objectContaining({ step: 'included', requestKey: first.hash, gas: 60_000 }))
    expect(told).toContainEqual({
      step: 'dropped',
      chain: 0,
      ...toldOf(second),
      reason: expect.stringMatching(/^Failed to buy gas: /),
    })
  })
})

describe('a command that is refused', () => {
  const refusal = { step: 'refused', chain: 0, httpStatus: 400 }

  it('a command that is refused is reported with the reason, for each request', async () => {
    const { heard, peer, devnet } = await startHeard()
    const [good, forged] = [signed(), { ...signed(), sigs: [{ sig: 'ab'.repeat(64) }] }]
    const unsigned = signed({}, { signers: [{ pubKey: keyPair().publicKey }, { pubKey: funded.publicKey }] })
    expect((await send(peer, [forged, good, unsigned])).status).toBe(400)
    const cheap = signed({ gasPrice: 1e-9 })
    expect((await send(peer, [cheap])).status).toBe(400)
    const strange = signed({}, { signers: [{ pubKey: funded.publicKey, scheme: '\u202eX' }] })
    expect((await send(peer, [strange])).status).toBe(400)
    const reason = (text: string) => expect.stringMatching(text)
    expect(await heard.events(4)).toEqual([
      {
        ...refusal,
        ...toldOf(forged),
        index: 0,
        count: 2,
        reason: reason('^Invalid transaction sigs: The signature at position 0'),
      },
      {
        ...refusal,
        ...toldOf(unsigned),
        index: 1,
        count: 2,
        reason: reason('^Invalid transaction sigs: The number of signers'),
      },
      { ...refusal, ...toldOf(cheap), index: 0, count: 1, reason: reason('gas price .* is below minimum gas price') },
      { ...refusal, ...toldOf(strange), index: 0, count: 1, reason: reason('scheme " X"; expected ED25519') },
    ])
    expect(devnet.pending).toBe(0)
  })

  it('a command that is refused and cannot be parsed is reported with its key, and without its contents', async () => {
    const { heard, peer } = await startHeard()
    const unreadable = { ...signed(), cmd: '{"payload":{"cont":{"step":"\\u001b[2J"}},"meta":{"sender":7}}' }
    expect((await send(peer, [unreadable])).status).toBe(400)
    const syntax = exec('(+ 1')
    expect((await send(peer, [syntax])).status).toBe(400)
    const unread = { requestKey: unreadable.hash, sender: null, action: null, index: 0, count: 1 }
    expect(await heard.events(2)).toEqual([
      { ...refusal, ...unread, reason: expect.stringMatching(/^\/cmd/) },
      {
        ...refusal,
        ...toldOf(syntax, '(+ 1'),
        index: 0,
        count: 1,
        reason: expect.stringMatching(/^Pact parse error: /),
      },
    ])
  })

  it('a command that is refused with its whole request is reported as one, with the text of the answer', async () => {
    const { heard, peer, give } = await startHeard()
    const url = `${pactPath(0)}/api/v1/send`
    const answers = [
      await post(peer, url, 'no\u202e JSON'),
      await post(peer, `${pactPath(7)}/api/v1/send`, { cmds: [signed()] }),
      await post(peer, '/api/v1/send', { cmds: [signed(), signed({ chainId: '1' })] }),
      await peer.request('POST', url, { headers: { 'content-type': 'text/plain' }, body: '{}' }),
    ]
    await give('/devnet/faults', { operation: 'send', count: 1, status: 503 })
    answers.push(await send(peer, [signed()]))
    expect(answers.map(({ status }) => status)).toEqual([400, 404, 400, 415, 503])
    const whole = { step: 'refused', requestKey: null, sender: null, action: null, index: 0, count: 1 }
    const chains = [0, 7, null, 0, 0]
    const told = await heard.events(5)
    expect(told).toEqual(
      answers.map(({ status }, i) => ({
        ...whole,
        chain: chains[i],
        httpStatus: status,
        reason: expect.stringMatching(/\S/),
      })),
    )
    expect(told[0]).toMatchObject({ reason: expect.stringMatching(/^Error in the request body: .*no JSON/) })
    expect(told[2]).toMatchObject({ reason: expect.stringMatching(/^commands for several chains/) })
  })

  it('a command that is refused is not reported for other endpoints', async () => {
    const { heard, peer } = await startHeard()
    expect((await post(peer, `${pactPath(0)}/api/v1/poll`, 'nonsense')).status).toBe(400)
    expect((await peer.request('GET', `${pactPath(0)}/api/v1/send`)).status).toBe(405)
    const command = signed()
    await sentOk(peer, [command])
    expect(await heard.brief(1)).toEqual([`pending 0 ${command.hash}`])
  })
})

describe('a block', () => {
  it('a block is reported with its maker', async () => {
    const made: BlockMadeBy[] = []
    const { peer, devnet } = await start({
      graph: 'pair',
      pow: false,
      onSolved: (_header, _addition, by) => void made.push(by),
    })
    const give = givenTo(devnet.url)
    await mineWhole(peer, 0)
    await makeBlocks(peer, { 0: 1 })
    expect(made[0]).toBe('miner')
    expect(new Set(made.slice(1))).toEqual(new Set(['order']))
    const begun = made.length
    await give('/devnet/fork', { chain: 0, depth: 1 })
    expect(new Set(made.slice(begun))).toEqual(new Set(['order']))
  })

  it('a block of automatic mining is reported as such', async () => {
    const by = await new Promise<BlockMadeBy>((resolve) => {
      const onSolved: DevnetOptions['onSolved'] = (_header, _addition, madeBy) => resolve(madeBy)
      void start({
        graph: 'singleton',
        difficulty: undefined,
        autoMine: { kind: 'constant', blockTimeMs: 10 },
        onSolved,
      })
    })
    expect(by).toBe('auto-mine')
  })
})

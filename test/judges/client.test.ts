/** The npm package `@kadena/client`, the client that most applications use, against the embedded node. */
import { type ChainId, createClient, type ICommand, isSignedTransaction, Pact } from '@kadena/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { feeOf, funded, type Keys, signing, unitsOf, withNetwork } from './network.ts'

const NETWORK = 'development'
const sender = funded('sender00')
const other = funded('sender01')
const network = withNetwork()
let client: ReturnType<typeof createClient>

beforeAll(() => {
  client = createClient(({ chainId }) => network.pactOf(chainId))
})

interface Meta {
  readonly chainId?: ChainId
  readonly senderAccount?: string
  readonly gasLimit?: number
  readonly gasPrice?: number
  readonly ttl?: number
  readonly creationTime?: number
}

interface Cut {
  readonly hashes: Readonly<Record<string, { readonly height: number }>>
}

type Capability = readonly [string, ...unknown[]]

/** An unsigned command on chain 0, paid by sender00 unless `meta` says otherwise. */
function command(code: string, meta: Meta = {}, capabilities: readonly Capability[] = [['coin.GAS']]) {
  return Pact.builder
    .execution(code)
    .addSigner(sender.publicKey, (withCapability) =>
      capabilities.map(([name, ...args]) => withCapability(name, ...(args as string[]))),
    )
    .setMeta({ chainId: '0', senderAccount: 'sender00', ...meta })
    .setNetworkId(NETWORK)
    .createTransaction()
}

async function signed(transaction: ReturnType<typeof command>, keys: Keys = sender): Promise<ICommand> {
  const done = await signing(keys)(transaction)
  if (!isSignedTransaction(done)) throw new Error('it is not signed')
  return done
}

const transfer = (amount: string, meta: Meta = {}) =>
  command(`(coin.transfer "sender00" "sender01" ${amount})`, meta, [
    ['coin.GAS'],
    ['coin.TRANSFER', 'sender00', 'sender01', { decimal: amount }],
  ])

async function balanceOf(account: string, chainId: ChainId = '0'): Promise<bigint> {
  const read = Pact.builder.execution(`(coin.get-balance "${account}")`).setMeta({ chainId }).createTransaction()
  const { result } = await client.dirtyRead(read)
  if (result.status !== 'success') throw new Error(JSON.stringify(result.error))
  return unitsOf(result.data)
}

describe('local calls', () => {
  it('a local call without keys reads, and names the block that it reads', async () => {
    const read = Pact.builder.execution('(coin.details "sender01")').setMeta({ chainId: '3' }).createTransaction()
    const answer = await client.dirtyRead(read)
    expect(answer).toMatchObject({
      reqKey: read.hash,
      result: {
        status: 'success',
        data: { account: 'sender01', balance: other.balance, guard: { pred: 'keys-all', keys: [other.publicKey] } },
      },
    })
    expect(answer.metaData).toMatchObject({ publicMeta: { chainId: '3', gasLimit: 2500, gasPrice: 1e-8, ttl: 900 } })
  })

  it('a local call returns values of every kind as the client reads them', async () => {
    const code =
      '[1 1.5 -0.000001 "text" true {"a": 1} (time "2024-02-29T12:00:00Z") 12345678901234567890 12345678901234567890.5]'
    const read = Pact.builder.execution(code).setMeta({ chainId: '0' }).createTransaction()
    const { result } = await client.dirtyRead(read)
    expect(result).toEqual({
      status: 'success',
      data: [
        { int: 1 },
        1.5,
        -1e-6,
        'text',
        true,
        { a: { int: 1 } },
        { time: '2024-02-29T12:00:00Z' },
        { int: '12345678901234567890' },
        { decimal: '12345678901234567890.5' },
      ],
    })
  })

  it.each([
    ['(coin.details "nobody-at-all")', 'TxFailure', 'No value found in table coin_coin-table for key: nobody-at-...'],
    ['(coin.transfer "sender00" "sender00" 1.0)', 'TxFailure', 'sender cannot be the receiver of a transfer'],
    [
      '(coin.transfer "sender00" "sender01" 1.0)',
      'EvalError',
      'Managed capability coin.TRANSFER was not installed. Check the sigs field or the arguments to verify that the ' +
        'capability is specified correctly.',
    ],
    ['(coin.debit "sender00" 1.0)', 'TxFailure', 'The required capability has not been granted: coin.DEBIT'],
    ['(enforce-guard (at "guard" (coin.details "sender00")))', 'TxFailure', 'Keyset failure ( keys-all ): '],
    ['(enforce-one "neither" [(enforce false "a") (enforce false "b")])', 'TxFailure', 'neither'],
    ['(enumerate 1 10000000)', 'EvalError', 'Gas limit "2500" exceeded: '],
    ['(+ 1', 'SyntaxError', "Expected: [')']"],
  ])('a local call that fails says why: %s', async (code, type, message) => {
    const read = Pact.builder.execution(code).setMeta({ chainId: '0' }).createTransaction()
    const { result, gas } = await client.dirtyRead(read)
    expect(result).toMatchObject({ status: 'failure', error: { type } })
    expect(result.status === 'failure' && 'message' in result.error && result.error.message).toContain(message)
    expect(gas).toBe(2500)
  })

  it('local calls check signatures unless told not to', async () => {
    const unsigned = transfer('1.0')
    const forged = await signed(unsigned)
    const wrong = { ...forged, sigs: [{ sig: 'ab'.repeat(64) }] }
    await expect(client.signatureVerification(wrong)).rejects.toThrow('Metadata validation failed')
    expect((await client.signatureVerification(forged)).result.status).toBe('success')
    expect((await client.local(unsigned, { preflight: false, signatureVerification: false })).result).toEqual({
      status: 'success',
      data: 'Write succeeded',
    })
  })

  it('a preflight costs as much as the command in a block', async () => {
    const ready = await signed(transfer('0.5'))
    const answer = await client.preflight(ready)
    expect(answer.result).toEqual({ status: 'success', data: 'Write succeeded' })
    expect(answer.preflightWarnings).toEqual([])
    const sent = await client.submit(ready)
    expect((await client.listen(sent)).gas).toBe(answer.gas)
  })

  it('a preflight follows the rules of a block', async () => {
    const wrongChain = command('1', { chainId: '0' })
    const cmd = wrongChain.cmd.replace('"networkId":"development"', '"networkId":"mainnet01"')
    expect(cmd).not.toBe(wrongChain.cmd)
    const { hash } = Pact.builder.execution('1').setNetworkId('mainnet01').createTransaction()
    await expect(client.preflight({ cmd, hash, sigs: [{ sig: 'ab'.repeat(64) }] })).rejects.toThrow(
      /Metadata validation failed: \[/,
    )
  })
})

describe('commands in blocks', () => {
  it('a command in a block moves coins, and the fee', async () => {
    const before = [await balanceOf('sender00'), await balanceOf('sender01')]
    const sent = await client.submit(await signed(transfer('12.5')))
    expect(sent).toMatchObject({ chainId: '0', networkId: NETWORK })
    const answer = await client.listen(sent)
    expect(answer).toMatchObject({
      reqKey: sent.requestKey,
      result: { status: 'success', data: 'Write succeeded' },
      continuation: null,
      txId: expect.any(Number),
    })
    expect(answer.events?.[0]).toMatchObject({
      name: 'TRANSFER',
      module: { namespace: null, name: 'coin' },
      params: ['sender00', 'sender01', 12.5],
    })
    const after = [await balanceOf('sender00'), await balanceOf('sender01')]
    expect(after[1] - before[1]).toBe(unitsOf('12.5'))
    expect(before[0] - after[0]).toBe(unitsOf('12.5') + feeOf(answer.gas))
  })

  it('polling finds a command, with the block that has it', async () => {
    const sent = await client.submit(await signed(transfer('0.1')))
    const results = await client.pollStatus(sent, { interval: 100 })
    const { metaData, result } = results[sent.requestKey]
    expect(result.status).toBe('success')
    const { blockHash, blockHeight } = metaData as { blockHash: string; blockHeight: number }
    const path = `/chainweb/0.0/${NETWORK}/chain/0/header/${blockHash}`
    const header = await fetch(network.host + path, {
      headers: { accept: 'application/json;blockheader-encoding=object' },
    })
    expect(await header.json()).toMatchObject({ height: blockHeight, hash: blockHash, chainId: 0 })
    expect((await client.getStatus(sent))[sent.requestKey].result).toEqual(result)
  })

  it('polling with a depth reports a command only once it is that deep', async () => {
    const sent = await client.submit(await signed(transfer('0.1')))
    await client.listen(sent)
    const depth = 3
    const results = await client.pollStatus(sent, { interval: 50, confirmationDepth: depth })
    const { blockHeight } = results[sent.requestKey].metaData as { blockHeight: number }
    const cut = (await (await fetch(`${network.host}/chainweb/0.0/${NETWORK}/cut`)).json()) as Cut
    expect(cut.hashes['0'].height).toBeGreaterThanOrEqual(blockHeight + depth)
  })

  it('a command that fails costs all its gas', async () => {
    const sent = await client.submit(await signed(command('(enforce false "not today")', { gasLimit: 700 })))
    expect(await client.listen(sent)).toMatchObject({
      gas: 700,
      result: { status: 'failure', error: { type: 'TxFailure', message: 'not today' } },
      txId: null,
    })
  })

  it('a batch of commands is sent and mined together', async () => {
    const batch = await Promise.all(['0.1', '0.2', '0.3'].map(async (amount) => signed(transfer(amount))))
    const sent = await client.submit(batch)
    expect(sent.map(({ requestKey }) => requestKey)).toEqual(batch.map(({ hash }) => hash))
    const results = await client.pollStatus(sent, { interval: 100 })
    expect(Object.values(results).map(({ result }) => result.status)).toEqual(['success', 'success', 'success'])
  })

  it.each([
    [
      'a wrong signature',
      (ready: ICommand) => ({ ...ready, sigs: [{ sig: 'ab'.repeat(64) }] }),
      'Invalid transaction sigs',
    ],
    ['a wrong hash', (ready: ICommand) => ({ ...ready, hash: 'A'.repeat(43) }), 'Invalid transaction hash'],
  ])('the node refuses a command with %s', async (_name, spoil, message) => {
    await expect(client.submit(spoil(await signed(transfer('0.1'))))).rejects.toThrow(message)
  })

  it('the node refuses a command that is too old, too expensive, or cannot be paid', async () => {
    const refused = async (meta: Meta) => client.submit(await signed(command('1', meta)))
    const old = { creationTime: Math.floor(Date.now() / 1000) - 1000, ttl: 60 }
    await expect(refused(old)).rejects.toThrow('Transaction time-to-live is expired')
    await expect(refused({ gasLimit: 150_001 })).rejects.toThrow(
      'Transaction gas limit exceeds block gas limit (150000)',
    )
    await expect(refused({ gasPrice: 1e-9 })).rejects.toThrow('is below minimum gas price')
    await expect(refused({ senderAccount: 'nobody' })).rejects.toThrow('Attempt to buy gas failed with')
  })
})

describe('between chains', () => {
  it('a pact of two steps moves coins between chains, with a proof', async () => {
    const receiver = 'sender01'
    const before = await balanceOf(receiver, '2')
    const start = Pact.builder
      .execution(`(coin.transfer-crosschain "sender00" "${receiver}" (read-keyset "guard") "2" 3.25)`)
      .addData('guard', { keys: [other.publicKey], pred: 'keys-all' })
      .addSigner(sender.publicKey, (withCapability) => [
        withCapability('coin.GAS'),
        withCapability('coin.TRANSFER_XCHAIN', 'sender00', receiver, { decimal: '3.25' }, '2'),
      ])
      .setMeta({ chainId: '0', senderAccount: 'sender00' })
      .setNetworkId(NETWORK)
      .createTransaction()
    const sent = await client.submit(await signed(start))
    const burnt = await client.listen(sent)
    expect(burnt.result.status).toBe('success')
    expect(burnt.continuation).toMatchObject({ pactId: sent.requestKey, step: 0, stepCount: 2 })
    const proof = await client.pollCreateSpv(sent, '2', { interval: 200 })
    const finish = (text: string) =>
      Pact.builder
        .continuation({ pactId: sent.requestKey, step: 1, rollback: false, proof: text, data: {} })
        .addSigner(other.publicKey, (withCapability) => [withCapability('coin.GAS')])
        .setMeta({ chainId: '2', senderAccount: 'sender01' })
        .setNetworkId(NETWORK)
        .createTransaction()
    const minted = await client.listen(await client.submit(await signed(finish(proof), other)))
    expect(minted.result).toEqual({ status: 'success', data: 'Write succeeded' })
    expect(await balanceOf(receiver, '2')).toBe(before + unitsOf('3.25') - feeOf(minted.gas))
    // A proof works only once.
    await expect(client.submit(await signed(finish(proof), other))).rejects.toThrow(
      `This transaction is attempting to complete an already-completed defpact ID: ${sent.requestKey}`,
    )
  })

  it('the node has no proof of a transfer that never happened', async () => {
    const requestKey = 'A'.repeat(43)
    await expect(client.createSpv({ requestKey, chainId: '0', networkId: NETWORK }, '1')).rejects.toThrow(
      `Transaction hash not found: "${requestKey}"`,
    )
  })
})

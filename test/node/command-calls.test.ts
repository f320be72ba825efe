/** Calls for commands: the requests, and the handling of answers of all kinds (PROTOCOL.md E.1, E.3). */
import { describe, expect, it } from 'vitest'
import { type Command, type NodeClient, NumberText } from '../../src/client/node/public.ts'
import { json, startFakeNode, text } from './fake-node.ts'

const KEY = 'k'.repeat(42).concat('A')
const OTHER = 'o'.repeat(42).concat('A')
const command: Command = { hash: KEY, sigs: [{ sig: 'ab' }], cmd: '{}' }
const PACT = '/chain/1/pact/api/v1'
const result = {
  gas: 741,
  result: { status: 'success', data: 'Write succeeded' },
  reqKey: KEY,
  logs: 'w3',
  events: [{ params: ['a', 1.5], name: 'TRANSFER', module: { namespace: null, name: 'coin' }, moduleHash: '3i' }],
  metaData: { blockHeight: 12, blockTime: 1717103631588214, blockHash: KEY, prevBlockHash: OTHER },
  continuation: null,
  txId: 61,
}

type CallOf = (client: NodeClient) => Promise<unknown>
const calls: Readonly<Record<string, readonly [path: string, call: CallOf, answer: unknown]>> = {
  local: [`${PACT}/local`, (client) => client.local(1, command), result],
  send: [`${PACT}/send`, (client) => client.send(1, [command]), { requestKeys: [KEY] }],
  poll: [`${PACT}/poll`, (client) => client.poll(1, [KEY]), { [KEY]: result }],
  listen: [`${PACT}/listen`, (client) => client.listen(1, KEY), result],
  spv: ['/chain/1/pact/spv', (client) => client.spv(1, KEY, 0), JSON.stringify('eyJj')],
  private: [`${PACT}/private`, (client) => client.private(1, command), { requestKeys: [KEY] }],
}

it('the client sends a command without the fields of tools, and the options as query', async () => {
  const { node, client } = await startFakeNode()
  node.onNetwork('POST', `${PACT}/local`, () => json(result))
  const kept = { ...command, extra: 1 } as Command
  await client.local(1, kept, { preflight: false, signatureVerification: true, rewindDepth: 3 })
  const { query, headers, body } = node.last
  expect(query).toEqual({ preflight: 'false', signatureVerification: 'true', rewindDepth: '3' })
  expect(headers['content-type']).toBe('application/json')
  expect(JSON.parse(body.toString())).toEqual(command)
  await client.local(1, command)
  expect(node.last.query).toEqual({})
  node.onNetwork('POST', `${PACT}/poll`, () => json({}))
  await client.poll(1, [KEY], { confirmationDepth: 2 })
  expect(node.last.query).toEqual({ confirmationDepth: '2' })
  expect(JSON.parse(node.last.body.toString())).toEqual({ requestKeys: [KEY] })
  node.onNetwork('POST', '/chain/1/pact/spv', () => json('"eyJj"'))
  expect(await client.spv(1, KEY, 0)).toBe('eyJj')
  expect(JSON.parse(node.last.body.toString())).toEqual({ requestKey: KEY, targetChainId: '0' })
})

it('the client refuses impossible arguments of command calls without a request', async () => {
  const { node, client } = await startFakeNode()
  const wrong: CallOf[] = [
    () => client.local(-1, command),
    () => client.local(1, command, { rewindDepth: 0.5 }),
    () => client.local(1, { ...command, hash: 'short' }),
    () => client.send(1, []),
    () => client.poll(1, []),
    () => client.poll(1, ['short']),
    () => client.listen(1, 'short'),
    () => client.spv(1, KEY, 1.5),
  ]
  for (const call of wrong) {
    await expect(call(client)).rejects.toMatchObject({ code: expect.stringMatching(/^BAD_(OPTION|FORMAT)$/) })
  }
  expect(node.requests).toEqual([])
})

describe('results', () => {
  it('results of commands keep every digit', async () => {
    const { node, client } = await startFakeNode()
    const data = '[{"decimal":"0.12345678901234567890"},1.0e-8,0.10,12345678901234567890,{"int":7},"\\u0000x"]'
    const body = JSON.stringify({ ...result, result: { status: 'success', data: 0 } }).replace(
      '"data":0',
      `"data":${data}`,
    )
    node.onNetwork('POST', `${PACT}/local`, () => json(body))
    const { result: found, preflightWarnings } = await client.local(1, command, { preflight: true })
    expect(found).toEqual({
      status: 'success',
      data: [
        { decimal: '0.12345678901234567890' },
        new NumberText('1.0e-8'),
        new NumberText('0.10'),
        12345678901234567890n,
        { int: 7 },
        '\u0000x',
      ],
    })
    expect(preflightWarnings).toEqual([])
  })

  it('results of preflight include the warnings of the node', async () => {
    const { node, client } = await startFakeNode()
    const publicMeta = { creationTime: 1, ttl: 900, gasLimit: 2500, chainId: '1', gasPrice: 1e-8, sender: '' }
    const { blockHash: _, ...metaData } = { ...result.metaData, publicMeta }
    const answer = { preflightResult: { ...result, metaData }, preflightWarnings: ['soon gone'] }
    node.onNetwork('POST', `${PACT}/local`, () => json(answer))
    const found = await client.local(1, command, { preflight: true })
    expect(found.preflightWarnings).toEqual(['soon gone'])
    expect(found.metaData?.publicMeta).toMatchObject({ sender: '', gasPrice: new NumberText('1e-8') })
  })

  it('results of older nodes are read: failures without a kind, without metadata, logs and number', async () => {
    const { node, client } = await startFakeNode()
    const failed = { gas: 0, reqKey: KEY, result: { status: 'failure', error: { message: 'no' } } }
    node.onNetwork('POST', `${PACT}/poll`, () => json({ [KEY]: failed }))
    expect(await client.poll(1, [KEY, OTHER])).toEqual(new Map([[KEY, failed]]))
    node.onNetwork('POST', `${PACT}/listen`, () =>
      json({ ...failed, metaData: null, logs: null, txId: null, continuation: null }),
    )
    expect((await client.listen(1, KEY)).result).toEqual(failed.result)
  })

  it('results of pact steps show the state of the execution', async () => {
    const { node, client } = await startFakeNode()
    const continuation = {
      executed: null,
      pactId: KEY,
      stepHasRollback: false,
      step: 0,
      yield: { data: { amount: 1 }, provenance: { targetChainId: '0', moduleHash: '3i' }, source: '1' },
      continuation: { args: ['a'], def: 'coin.transfer-crosschain' },
      stepCount: 2,
    }
    node.onNetwork('POST', `${PACT}/listen`, () => json({ ...result, continuation }))
    expect((await client.listen(1, KEY)).continuation).toEqual(continuation)
  })
})

describe('answers that cannot be right are NodeMisbehaved:', () => {
  const wrong: readonly (readonly [name: string, id: keyof typeof calls, answer: unknown])[] = [
    ['request keys of other commands', 'send', { requestKeys: [OTHER] }],
    ['too few request keys', 'send', { requestKeys: [] }],
    ['the request key of another command', 'private', { requestKeys: [OTHER] }],
    ['a result that was not requested', 'poll', { [OTHER]: { ...result, reqKey: OTHER } }],
    ['a result under the key of another', 'poll', { [KEY]: { ...result, reqKey: OTHER } }],
    ['null for a result', 'poll', { [KEY]: null }],
    ['the result of another command', 'listen', { ...result, reqKey: OTHER }],
    ['a result without gas', 'listen', { ...result, gas: undefined }],
    ['a result of no kind', 'listen', { ...result, result: { status: 'pending' } }],
    ['a failure without a message', 'local', { ...result, result: { status: 'failure', error: {} } }],
    ['a text in place of a result', 'local', '"Transaction timed out"'],
    ['a list of proofs', 'spv', ['eyJj']],
    ['a proof that is not base64url', 'spv', '"a b"'],
  ]
  it.each(wrong)('the client refuses %s from %s with NodeMisbehaved', async (_name, id, answer) => {
    const { node, client } = await startFakeNode()
    const [path, call] = calls[id]
    node.onNetwork('POST', path, () => json(answer))
    await expect(call(client)).rejects.toMatchObject({ name: 'NodeMisbehaved', operation: id })
  })
})

it.each(Object.entries(calls))(
  '%s reads a right answer, refusals with the whole text, and a missing endpoint',
  async (id, [path, call, answer]) => {
    const { node, client } = await startFakeNode()
    await expect(call(client)).rejects.toMatchObject({ name: 'NodeRefusal', status: 404, operation: id })
    node.onNetwork('POST', path, () => json(answer))
    await call(client)
    const why = `Transaction "${KEY}" at index 0 failed with: ${'x'.repeat(600)}`
    node.onNetwork('POST', path, () => text(why, 400))
    await expect(call(client)).rejects.toMatchObject({
      name: 'NodeRefusal',
      status: 400,
      excerpt: why,
      retryable: false,
    })
    node.onNetwork('POST', path, () => ({ status: 504 }))
    await expect(call(client)).rejects.toMatchObject({ status: 504, retryable: true })
  },
)

/** The HTTP endpoints for signed commands (PROTOCOL.md E.3). */
import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../wait.ts'
import { type Change, funded, keyPair, nowSeconds, signText } from './command.ts'
import {
  exec,
  listen,
  local,
  makeBlocks,
  ok,
  pactPath,
  poll,
  post,
  send,
  sendPrivately,
  sharedLedger,
  signers,
  spv,
  startLedger,
  transfer,
} from './commands-common.ts'
import { brief, CheckedPeer, clockByHand, JSON_TYPE, PREFIX, TEXT } from './common.ts'
import { order, rewound } from './control-common.ts'
import { pending } from './mempool-common.ts'
import { Peer } from './request.ts'

const ledger = rewound(sharedLedger())

const BALANCE = '(coin.get-balance "sender00")'
const unsigned = (code: string, meta = {}, change = {}) => exec(code, meta, change, [])

describe('local', () => {
  it('a local call runs code on the newest state, pays nothing and writes nothing', async () => {
    const { peer } = await ledger()
    const command = transfer('sender01', 1.5)
    const result = await ok(local(peer, command))
    expect(result).toMatchObject({
      result: { status: 'success', data: 'Write succeeded' },
      reqKey: command.hash,
      events: [{ name: 'TRANSFER', params: ['sender00', 'sender01', 1.5] }],
      metaData: { blockHeight: 2, publicMeta: { sender: 'sender00', gasLimit: 600 } },
      continuation: null,
      txId: null,
    })
    expect(result.gas).toBeGreaterThan(1)
    expect((await ok(local(peer, exec(BALANCE)))).result.data).toBe(100_000_000)
    expect((await pending(peer)).hashes).toEqual([])
  })

  it('a local call requires no signer, chain, network or current time', async () => {
    const { peer } = await ledger()
    const meta = { sender: '', chainId: '17', creationTime: 0, ttl: 1, gasPrice: 0 }
    for (const change of [{}, { networkId: null }, { networkId: undefined }, { networkId: 'mainnet01' }]) {
      expect((await ok(local(peer, unsigned('(+ 1 2)', meta, change)))).result).toEqual({
        status: 'success',
        data: { int: 3 },
      })
    }
  })

  it('a local call accepts read-only code without metadata too, as some clients send it', async () => {
    const { peer } = await ledger()
    const bare = (change = {}) =>
      signText(
        JSON.stringify({ payload: { exec: { code: BALANCE, data: {} } }, nonce: 'n', signers: [], ...change }),
        [],
      )
    const command = bare()
    const { result, reqKey } = await ok(local(peer, command))
    expect(result.data).toBe(100_000_000)
    expect(reqKey).toEqual(command.hash)
    expect((await local(peer, { ...command, hash: bare({ nonce: 'other' }).hash })).status).toBe(400)
    for (const [query, wrong] of [
      ['?preflight=true', command],
      ['', bare({ meta: {} })],
      ['', { ...command, cmd: '{}' }],
      ['', { ...command, cmd: '{"a":"}' }],
    ] as const) {
      expect(brief(await local(peer, wrong, query))).toEqual([
        400,
        TEXT,
        expect.stringMatching(/^Validation failed: \/cmd/),
      ])
    }
    expect((await send(peer, [command])).status).toBe(400)
  })

  it('a local call reports failing code, and code that cannot be parsed, as results', async () => {
    const { peer } = await ledger()
    const failed = await ok(local(peer, exec('(coin.details "nobody")')))
    expect(failed).toMatchObject({
      gas: 600,
      result: {
        status: 'failure',
        error: { type: 'TxFailure', message: 'No value found in table coin_coin-table for key: nobody' },
      },
      logs: null,
      metaData: null,
    })
    for (const query of ['', '?preflight=true']) {
      const { result, gas } = await ok(local(peer, exec('(+ 1'), query))
      expect(gas).toBe(600)
      expect(result.error.type).toBe('SyntaxError')
      expect(result.error.message).toBe("Expected: [')']")
    }
  })

  it('a local call checks hash and signatures unless a parameter turns this off', async () => {
    const { peer } = await ledger()
    const [right, other] = [exec('(+ 1 2)'), exec('(+ 1 2)')]
    const array = (text: string) => [400, TEXT, `Metadata validation failed: ${JSON.stringify([text])}`]
    const count = 'The number of signers and signatures do not match. Number of signers: 1. Number of signatures: 0.'
    const wrong = 'The signature at position 0 is invalid: invalid ed25519 signature.'
    for (const query of ['', '?preflight=true', '?signatureVerification=true', '?preflight=false']) {
      const answer = async (change: object) => brief(await local(peer, { ...right, ...change }, query))
      expect(await answer({ hash: other.hash })).toEqual(array('The hash of the payload was invalid.'))
      expect(await answer({ sigs: [] })).toEqual(array(count))
      expect(await answer({ sigs: other.sigs })).toEqual(array(wrong))
    }
    for (const query of ['?signatureVerification=false', '?preflight=true&signatureVerification=false']) {
      for (const sigs of [[], [{ sig: '' }], other.sigs]) {
        const body = await ok(local(peer, { ...right, sigs }, query))
        expect((body.preflightResult ?? body).result).toEqual({ status: 'success', data: { int: 3 } })
      }
      expect(brief(await local(peer, { ...right, hash: other.hash }, query))).toEqual([
        400,
        TEXT,
        'Validation failed: The hash of the payload was invalid.',
      ])
    }
    // Without verification the node trusts the list of signers.
    const { sigs, ...claimed } = transfer('sender01', 1)
    expect(sigs).toHaveLength(1)
    const believed = await ok(local(peer, { ...claimed, sigs: [] }, '?signatureVerification=false'))
    expect(believed.result.status).toBe('success')
  })

  it('a local call refuses anything but a command', async () => {
    const { peer } = await ledger()
    const right = exec('(+ 1 2)')
    const many = signText(
      JSON.stringify({ ...JSON.parse(right.cmd), payload: { exec: { code: '1', data: { a: 1 } } } }),
    )
    const deep = many.cmd.replace('{"a":1}', `${'['.repeat(600)}${']'.repeat(600)}`)
    for (const [body, message] of [
      ['', /^Error in the request body: /],
      ['{', /^Error in the request body: .*JSON/],
      ['[]', /^Error in the request body: .*must be object/],
      [{ ...right, hash: undefined }, /^Error in the request body: .*hash/],
      [{ ...right, hash: 'short' }, /^Error in the request body: \/hash must match pattern/],
      [{ ...right, sigs: {} }, /^Error in the request body: \/sigs must be array/],
      [{ ...right, cmd: 'no JSON' }, /^Validation failed: \/cmd: no JSON/],
      [{ ...right, cmd: '{}' }, /^Validation failed: \/cmd .*required/],
      [signText(deep), /^Validation failed: \/cmd\/payload\/exec\/data: .*more than 250 levels$/],
    ] as const) {
      const [status, type, text] = brief(await local(peer, body))
      expect(status, text).toBe(400)
      expect(type, text).toBe(TEXT)
      expect(text).toMatch(message)
    }
    for (const query of ['?preflight=yes', '?signatureVerification=', '?rewindDepth=-1', '?rewindDepth=x']) {
      expect(brief(await local(peer, right, query))).toEqual([
        400,
        TEXT,
        expect.stringMatching(/^Error in the query: \/\w+ must be (boolean|integer)/),
      ])
    }
    const path = `${pactPath(0)}/api/v1/local`
    expect((await peer.request('POST', path, { body: JSON.stringify(right) })).status).toBe(415)
    expect((await post(peer, path, 'x'.repeat((2 << 20) + 1))).status).toBe(413)
    expect((await peer.get(path)).status).toBe(405)
    expect((await local(peer, right, '', 2)).status).toBe(404)
  })

  it('a local call names the wrong part of a command', async () => {
    const { peer } = await ledger()
    for (const [change, place] of [
      [{ verifiers: [null] }, 'verifiers/0 must be object'],
      [{ verifiers: [[]] }, 'verifiers/0 must be object'],
      [{ verifiers: ['allow'] }, 'verifiers/0 must be object'],
      [{ verifiers: [7] }, 'verifiers/0 must be object'],
      [{ verifiers: [{ name: 'a', proof: 1, clist: 7 }] }, 'verifiers/0/clist must be array'],
      [{ verifiers: [{ name: 7, proof: 1, clist: [] }] }, 'verifiers/0/name must be string'],
      [{ verifiers: [{ name: 'a', clist: [] }] }, 'verifiers/0 must have required properties proof'],
    ] as const) {
      expect(brief(await local(peer, exec('1', {}, change)))).toEqual([400, TEXT, `Validation failed: /cmd/${place}`])
    }
  })

  it('a local call evaluates N blocks below the head with rewindDepth', async () => {
    const { peer } = await ledger()
    await ok(send(peer, [transfer('sender01', 1)]))
    await makeBlocks(peer, { 0: 1 })
    const at = async (query: string) => {
      const { result, metaData } = await ok(local(peer, exec('(coin.get-balance "sender01")'), query))
      return [result.data, metaData.blockHeight]
    }
    expect(await at('')).toEqual([110_000_001, 3])
    expect(await at('?rewindDepth=0')).toEqual([110_000_001, 3])
    expect(await at('?rewindDepth=1')).toEqual([110_000_000, 2])
    expect(await at('?rewindDepth=2')).toEqual([110_000_000, 1])
    expect(await at('?rewindDepth=99999')).toEqual([110_000_000, 1])
  })
})

describe('preflight', () => {
  const preflight = '?preflight=true'

  it('a preflight runs a command as a block would, with all its gas', async () => {
    const { peer } = await ledger()
    const command = transfer('sender01', 1.5)
    const { preflightResult, preflightWarnings } = await ok(local(peer, command, preflight))
    expect(preflightWarnings).toEqual([])
    expect(preflightResult).toMatchObject({ result: { status: 'success' }, metaData: { blockHeight: 2 } })
    expect(preflightResult.events.map(({ params }: { params: unknown[] }) => params)).toEqual([
      ['sender00', 'sender01', 1.5],
      ['sender00', 'NoMiner', expect.any(Number)],
    ])
    await ok(send(peer, [command]))
    await makeBlocks(peer, { 0: 1 })
    const { [command.hash]: inBlock } = await ok(poll(peer, [command.hash]))
    // The hash of the writes and the fee event differ, since the miner is another.
    expect(inBlock.gas).toEqual(preflightResult.gas)
    expect(inBlock.result).toEqual(preflightResult.result)
    expect((await ok(local(peer, command))).gas).toBeLessThan(inBlock.gas)
  })

  it('a preflight names every rule of a block that the command breaks', async () => {
    const { peer } = await ledger()
    const refusal = async (meta: Change, change: Change = {}) => {
      const [status, type, text] = brief(await local(peer, exec('1', meta, change), preflight))
      expect(status, text).toBe(400)
      expect(type, text).toBe(TEXT)
      expect(text).toMatch(/^Metadata validation failed: \[/)
      return JSON.parse(text.slice('Metadata validation failed: '.length))
    }
    expect(await refusal({ chainId: '1' })).toEqual(['Chain id mismatch'])
    expect(await refusal({ gasLimit: 150_001 })).toEqual(['Transaction Gas limit exceeds block gas limit'])
    expect(await refusal({ gasPrice: '0.0000000000001' })).toEqual(['Gas price decimal precision too high'])
    for (const networkId of ['mainnet01', null, undefined]) {
      expect(await refusal({}, { networkId })).toEqual(['Network id mismatch'])
    }
    for (const meta of [{ ttl: 0 }, { ttl: 172_801 }, { creationTime: nowSeconds() - 1000, ttl: 900 }]) {
      expect(await refusal(meta)).toEqual(['Tx time outside of valid range'])
    }
    const keys = Array.from({ length: 101 }, () => funded)
    const [, , many] = brief(await local(peer, exec('1', { gasLimit: 90_000 }, {}, keys), preflight))
    expect(many).toBe('Metadata validation failed: ["Signature list size too big"]')
    const all = await refusal({ chainId: 'x', gasLimit: 1e6, gasPrice: 1e-13, ttl: -1 }, { networkId: 'x' })
    expect(all).toEqual([
      'Chain id mismatch',
      'Transaction Gas limit exceeds block gas limit',
      'Gas price decimal precision too high',
      'Network id mismatch',
      'Tx time outside of valid range',
    ])
    // Preflight accepts a creation time in the future.
    expect((await local(peer, exec('1', { creationTime: nowSeconds() + 500 }), preflight)).status).toBe(200)
  })

  it('a preflight reports unaffordable gas as a result', async () => {
    const { peer } = await ledger()
    const command = exec('1', { gasPrice: 1_000_000, gasLimit: 1000 })
    const { preflightResult } = await ok(local(peer, command, preflight))
    expect(preflightResult).toMatchObject({
      gas: 1000,
      result: {
        status: 'failure',
        error: { type: 'EvalError', message: `"${command.hash}" Failed to buy gas: Insufficient funds` },
      },
      metaData: null,
    })
  })
})

describe('send', () => {
  const invalid = (...faults: readonly (readonly [hash: string, index: number, why: string])[]) => [
    400,
    TEXT,
    `One or more transactions were invalid: ${faults
      .map(([hash, index, why]) => `Transaction "${hash}" at index ${index} failed with: ${why}`)
      .join(', ')}`,
  ]

  it('the endpoint send accepts commands in their order, and pending ones again', async () => {
    const { peer } = await ledger()
    const [a, b] = [exec('1'), exec('2')]
    expect(await ok(send(peer, [b, a]))).toEqual({ requestKeys: [b.hash, a.hash] })
    expect(await ok(send(peer, [a]))).toEqual({ requestKeys: [a.hash] })
    expect((await pending(peer)).hashes).toEqual([b.hash, a.hash])
    await makeBlocks(peer, { 0: 1 })
    const results = await ok(poll(peer, [a.hash, b.hash]))
    expect([a, b].map(({ hash }) => results[hash].result.data)).toEqual([{ int: 1 }, { int: 2 }])
    expect(brief(await send(peer, [a]))).toEqual(invalid([a.hash, 0, 'Transaction already exists on chain']))
  })

  it('the endpoint send accepts all or none, and says what is wrong with each', async () => {
    const { peer } = await ledger()
    const [right, high, old] = [exec('1'), exec('1', { gasLimit: 150_001 }), exec('1', { creationTime: 0 })]
    expect(brief(await send(peer, [high, right, old]))).toEqual(
      invalid(
        [high.hash, 0, 'Transaction gas limit exceeds block gas limit (150000)'],
        [old.hash, 2, 'Transaction time-to-live is expired'],
      ),
    )
    expect((await pending(peer)).hashes).toEqual([])
    const [status, type, text] = brief(await send(peer, [right, { ...right, cmd: '{' }]))
    expect(status).toBe(400)
    expect(type).toBe(TEXT)
    expect(text).toMatch(/^reading JSON for transaction failed: element 1: \/cmd: no JSON/)
    for (const cmds of [[], 'x', [1]]) {
      expect(brief(await post(peer, `${pactPath(0)}/api/v1/send`, { cmds }))).toEqual([
        400,
        TEXT,
        expect.stringMatching(/^Error in the request body: \/cmds/),
      ])
    }
  })

  it('the endpoint send refuses code that cannot be parsed, and unaffordable gas', async () => {
    const { peer } = await ledger()
    const nobody = keyPair()
    const bought = (hash: string, why: string) => `Attempt to buy gas failed with: "${hash}" Failed to buy gas: ${why}`
    const row = 'No value found in table coin_coin-table for key: nobody'
    const wrong: (readonly [ReturnType<typeof exec>, (hash: string) => string])[] = [
      [exec('(+ 1'), () => "Pact parse error: Expected: [')']"],
      [exec('1', { sender: 'nobody' }), (hash) => bought(hash, row)],
      [exec('1', { gasPrice: 1_000_000 }), (hash) => bought(hash, 'Insufficient funds')],
      [exec('1', {}, {}, [nobody]), (hash) => bought(hash, 'Keyset failure ( keys-all ):  368820f80c...')],
      [
        exec('1', {}, signers(['coin.TRANSFER', 'a', 'b', 1])),
        (hash) => bought(hash, 'Keyset failure ( keys-all ):  368820f80c...'),
      ],
    ]
    for (const [command, why] of wrong) {
      expect(brief(await send(peer, [command]))).toEqual(invalid([command.hash, 0, why(command.hash)]))
    }
    expect((await pending(peer)).hashes).toEqual([])
  })

  it('the endpoint send keeps decimals of any length exact', async () => {
    const { peer } = await ledger()
    const command = exec('[0.1234567890123456789012345678, 0.00000001, 9007199254740993]')
    await ok(send(peer, [command]))
    await makeBlocks(peer, { 0: 1 })
    const text = (await poll(peer, [command.hash])).body.toString()
    expect(text).toContain('"data":[{"decimal":"0.1234567890123456789012345678"},1.0e-8,{"int":"9007199254740993"}]')
  })
})

describe('poll', () => {
  it('a poll returns only existing results, each once, with their block', async () => {
    const { peer } = await ledger()
    const command = exec('{"metaData": "a", "b": "\\"metaData\\":null"}')
    expect(await ok(poll(peer, [command.hash]))).toEqual({})
    await ok(send(peer, [command]))
    expect(await ok(poll(peer, [command.hash]))).toEqual({})
    await makeBlocks(peer, { 0: 1 })
    const found = await ok(poll(peer, [command.hash, 'A'.repeat(43), command.hash]))
    expect(Object.keys(found)).toEqual([command.hash])
    const { items } = await ok(peer.get(`${PREFIX}/chain/0/block?minheight=2`))
    const { hash: made } = (await ok(peer.get(`${PREFIX}/cut`))).hashes[0]
    const { header, payloadWithOutputs } = items.find((item: { header: { hash: string } }) => item.header.hash === made)
    expect(found[command.hash].metaData).toEqual({
      blockHeight: 2,
      blockTime: header.creationTime,
      blockHash: header.hash,
      prevBlockHash: header.parent,
    })
    // The output in the block lacks this metadata; everything else is the same.
    const [[, output]] = payloadWithOutputs.transactions
    const stored = JSON.parse(Buffer.from(output, 'base64url').toString())
    expect(stored).toEqual({ ...found[command.hash], metaData: null })
    expect(stored.result.data).toEqual({ metaData: 'a', b: '"metaData":null' })
    expect(await ok(poll(peer, [command.hash], '', 1))).toEqual({})
  })

  it('a poll waits for a depth', async () => {
    const { peer } = await ledger()
    const command = exec('1')
    await ok(send(peer, [command]))
    for (let depth = 0; depth < 3; depth++) {
      await makeBlocks(peer, { 0: 1 })
      expect(await ok(poll(peer, [command.hash], `?confirmationDepth=${depth}`))).toHaveProperty(command.hash)
      expect(await ok(poll(peer, [command.hash], `?confirmationDepth=${depth + 1}`))).toEqual({})
    }
    for (const query of ['?confirmationDepth=-1', '?confirmationDepth=a']) {
      expect((await poll(peer, [command.hash], query)).status).toBe(400)
    }
    for (const requestKeys of [[], ['short'], 'x']) {
      expect((await post(peer, `${pactPath(0)}/api/v1/poll`, { requestKeys })).status).toBe(400)
    }
  })

  it('a poll forgets the results of orphans', async () => {
    const { devnet, peer } = await startLedger({ graph: 'singleton' })
    const command = exec('1')
    await ok(send(peer, [command]))
    await makeBlocks(peer, { 0: 1 })
    const before = (await ok(poll(peer, [command.hash])))[command.hash].metaData.blockHash
    const fork = await fetch(`${devnet.url}/devnet/fork`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"chain":0,"depth":1}',
    })
    expect(fork.status).toBe(200)
    const after = await ok(poll(peer, [command.hash]))
    expect(after[command.hash]?.metaData.blockHash).not.toBe(before)
    await makeBlocks(peer, { 0: 2 })
    const again = (await ok(poll(peer, [command.hash])))[command.hash]
    expect(again.result.data).toEqual({ int: 1 })
    expect(again.metaData.blockHash).not.toBe(before)
  })

  it('a poll reports commands that no block could hold, and send refuses them', async () => {
    const { peer } = await ledger()
    const worth = keyPair()
    const account = `k:${worth.publicKey}`
    const data = { k: { keys: [worth.publicKey], pred: 'keys-all' } }
    const code = `(coin.transfer-create "sender00" "${account}" (read-keyset "k") 1.0)`
    const give = exec(
      '',
      { gasLimit: 2000 },
      { payload: { exec: { code, data } }, ...signers(['coin.GAS'], ['coin.TRANSFER', 'sender00', account, 1]) },
    )
    await ok(send(peer, [give]))
    await makeBlocks(peer, { 0: 1 })
    expect((await ok(poll(peer, [give.hash])))[give.hash].result.status).toBe('success')
    // The account can pay for the gas of either command, but after the first too little is left for the second.
    const clist = [
      { name: 'coin.GAS', args: [] },
      { name: 'coin.TRANSFER', args: [account, 'sender00', 0.9] },
    ]
    const first = exec(
      `(coin.transfer "${account}" "sender00" 0.9)`,
      { sender: account, gasLimit: 1000, gasPrice: 0.00006 },
      { signers: [{ pubKey: worth.publicKey, clist }] },
      [worth],
    )
    const second = exec('1', { sender: account, gasLimit: 10_000, gasPrice: 0.00005 }, {}, [worth])
    await ok(send(peer, [first, second]))
    await makeBlocks(peer, { 0: 1 })
    const results = await ok(poll(peer, [first.hash, second.hash]))
    expect(results[first.hash].result.status).toBe('success')
    const message = 'Transaction is badlisted because it previously failed to validate.'
    const badlisted = {
      gas: 0,
      result: { status: 'failure', error: { callStack: [], type: 'TxFailure', message, info: '' } },
      reqKey: second.hash,
      logs: null,
      metaData: null,
      continuation: null,
      txId: null,
    }
    expect(results[second.hash]).toEqual(badlisted)
    expect(await ok(listen(peer, second.hash))).toEqual(badlisted)
    expect((await pending(peer)).hashes).toEqual([])
    expect(brief(await send(peer, [second]))[2]).toContain(`failed with: ${message}`)
  })
})

describe('listen', () => {
  it('the endpoint listen answers at once if there is a result, otherwise once there is one', async () => {
    const { peer, devnet } = await ledger()
    const command = exec('1')
    await ok(send(peer, [command]))
    const path = `${devnet.url}${pactPath(0)}/api/v1/listen`
    const waiting = Promise.all(
      [0, 1, 2].map(async () => {
        const answer = await fetch(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ listen: command.hash }),
        })
        return [answer.status, answer.headers.get('content-type'), await answer.json()]
      }),
    )
    // A block of another chain triggers no answer.
    await makeBlocks(peer, { 1: 1 })
    await makeBlocks(peer, { 0: 1 })
    const { [command.hash]: result } = await ok(poll(peer, [command.hash]))
    expect(await waiting).toEqual(Array(3).fill([200, JSON_TYPE, result]))
    expect(await ok(listen(peer, command.hash))).toEqual(result)
  })

  it('the endpoint listen times out with 504 and an empty body', async () => {
    const { time, clock, waiting } = clockByHand()
    const { peer } = await startLedger({ listenMs: 50 }, { clock })
    const answer = listen(peer, 'A'.repeat(43))
    await until(() => waiting(50) === 1)
    await time.pass(49)
    expect(waiting(50)).toBe(1)
    await time.pass(1)
    expect(brief(await answer)).toEqual([504, undefined, ''])
  })

  it('the endpoint listen does not keep a node from stopping', async () => {
    const { peer, devnet } = await startLedger()
    const other = new CheckedPeer(devnet.url)
    // At the time of the second answer the first request is waiting.
    const stopped = async () => {
      await ok(local(other, exec('1')))
      await devnet.close()
    }
    const [waiting] = await Promise.allSettled([listen(peer, 'A'.repeat(43)), stopped()])
    expect(waiting.status).toBe('rejected')
  })

  it('the endpoint listen keeps no place for a client that left before its request was handled', async () => {
    const [listenMs, delayMs] = [12_345, 54_321]
    const { clock, time, waiting } = clockByHand()
    const ended: string[] = []
    const onRequest = ({ path }: { readonly path: string }) => void ended.push(path)
    const { peer, devnet } = await startLedger({ listenLimit: 1, listenMs, onRequest }, { clock })
    const control = new Peer(devnet.url)
    onTestFinished(() => control.close())
    await order(control, '/devnet/faults', { operation: 'listen', count: 1, delayMs })
    const gone = new AbortController()
    const url = `${devnet.url}${pactPath(0)}/api/v1/listen`
    const body = JSON.stringify({ listen: 'A'.repeat(43) })
    const headers = { 'content-type': 'application/json' }
    const asked = fetch(url, { method: 'POST', headers, body, signal: gone.signal })
    await until(() => waiting(delayMs) === 1)
    gone.abort()
    await expect(asked).rejects.toThrow()
    await until(() => ended.some((path) => path.endsWith('/listen')))
    await time.pass(delayMs)
    expect(waiting(delayMs)).toBe(0)
    expect(waiting(listenMs)).toBe(0)
    const next = listen(peer, 'A'.repeat(43))
    await until(() => waiting(listenMs) === 1)
    await time.pass(listenMs)
    expect((await next).status).toBe(504)
  })

  it('the endpoint listen limits waiting requests, and frees the places of clients that leave', async () => {
    const listenMs = 12_345
    const { clock, waiting } = clockByHand()
    const { peer, devnet } = await startLedger({ listenLimit: 2, listenMs }, { clock })
    const gone = new AbortController()
    /** The status of the answer, or null if the caller gave up before it. */
    const ask = async (signal: AbortSignal) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ listen: 'A'.repeat(43) })
      const url = `${devnet.url}${pactPath(0)}/api/v1/listen`
      try {
        return (await fetch(url, { method: 'POST', headers, body, signal })).status
      } catch (error) {
        if (signal.aborted) return null
        throw error
      }
    }
    const asked = [ask(gone.signal), ask(gone.signal)]
    await until(() => waiting(listenMs) === 2)
    const refused = [503, TEXT, '2 requests wait for results already: try again later']
    expect(brief(await listen(peer, 'A'.repeat(43)))).toEqual(refused)
    const command = exec('1')
    await ok(send(peer, [command]))
    await makeBlocks(peer, { 0: 1 })
    // Requests that need not wait are always answered.
    expect((await ok(listen(peer, command.hash))).reqKey).toBe(command.hash)
    gone.abort()
    expect(await Promise.all(asked)).toEqual([null, null])
    await until(() => waiting(listenMs) === 0)
    const last = new AbortController()
    const again = ask(last.signal)
    await until(() => waiting(listenMs) === 1)
    last.abort()
    expect(await again).toBe(null)
  })
})

describe('spv', () => {
  it('the endpoint spv proves results once the other chain is far enough, and otherwise says why there is no proof', async () => {
    const { peer } = await ledger()
    const failing = exec('(enforce false "no")')
    const body = { requestKey: failing.hash, targetChainId: '1' }
    expect(brief(await spv(peer, body))).toEqual([400, TEXT, `Transaction hash not found: "${failing.hash}"`])
    await ok(send(peer, [failing]))
    await makeBlocks(peer, { 0: 1 })
    expect(brief(await spv(peer, body))).toEqual([
      400,
      TEXT,
      'SPV target not reachable: target chain not reachable. Chainweb instance is too young',
    ])
    await makeBlocks(peer, { 1: 2 })
    const proof = JSON.parse(Buffer.from(await ok(spv(peer, body)), 'base64url').toString())
    expect(proof).toMatchObject({ chain: 1, algorithm: 'SHA512t_256' })
    const input = Buffer.from(proof.subject.input, 'base64url').toString()
    expect(input).toContain(`"reqKey":"${failing.hash}"`)
    expect(brief(await spv(peer, { ...body, targetChainId: '7' }))).toEqual([
      400,
      TEXT,
      "SPV target not reachable: Target of SPV proof can't be reached from the source transaction",
    ])
    expect(brief(await spv(peer, body, 1))).toEqual([400, TEXT, `Transaction hash not found: "${failing.hash}"`])
    for (const wrong of [
      { ...body, targetChainId: 1 },
      { ...body, targetChainId: 'x' },
      { ...body, requestKey: 'x' },
    ]) {
      const [status, type, text] = brief(await spv(peer, wrong))
      expect(status, text).toBe(400)
      expect(type, text).toBe(TEXT)
      expect(text).toMatch(/^Error in the request body: \/(targetChainId|requestKey) must/)
    }
  })
})

describe('private', () => {
  /** A private command of Alice for the nodes `to`. */
  const secret = (code: string, to: readonly string[], change: Change = {}, keys = [funded]) =>
    signText(
      JSON.stringify({
        networkId: 'development',
        payload: { exec: { code, data: {} } },
        signers: keys.map(({ publicKey: pubKey }) => ({ pubKey })),
        meta: { address: { from: 'Alice', to } },
        nonce: `private ${Math.random()}`,
        ...change,
      }),
      keys,
    )
  const CODE = `(namespace 'free)
    (module hidden G (defcap G () true)
      (defschema entry text:string) (deftable entries:{entry})
      (defun say (text) (write entries "a" { 'text: text }))
      (defun said () (at 'text (read entries "a"))))
    (create-table entries)`

  it('a private command runs for this node, in a state that nothing public shows', async () => {
    const { peer, devnet } = await startLedger({ entity: 'Bob' })
    const blocks = devnet.blocks
    const [define, say, ask] = [CODE, '(free.hidden.say "psst")', '(free.hidden.said)'].map((code) =>
      secret(code, ['Carol', 'Bob']),
    )
    for (const command of [define, say, ask]) {
      expect(await ok(sendPrivately(peer, command))).toEqual({ requestKeys: [command.hash] })
    }
    const results = await ok(poll(peer, [define.hash, say.hash, ask.hash]))
    expect(results[define.hash].result).toEqual({ status: 'success', data: 'TableCreated' })
    expect(results[ask.hash]).toMatchObject({ result: { status: 'success', data: 'psst' }, metaData: null, txId: null })
    expect(await ok(listen(peer, ask.hash))).toEqual(results[ask.hash])
    // Each chain has a private state of its own.
    expect(await ok(poll(peer, [ask.hash], '', 1))).toEqual({})
    const elsewhere = secret('(free.hidden.said)', ['Bob'])
    await ok(sendPrivately(peer, elsewhere, 1))
    expect((await ok(poll(peer, [elsewhere.hash], '', 1)))[elsewhere.hash].result.status).toBe('failure')
    // The commands are not pending, in no block, and unknown to public commands.
    expect((await pending(peer)).hashes).toEqual([])
    expect(devnet.blocks).toEqual(blocks)
    await makeBlocks(peer, { 0: 1 })
    const { items } = await ok(peer.get(`${PREFIX}/chain/0/block?minheight=2`))
    expect(items[0].payloadWithOutputs.transactions).toEqual([])
    expect((await ok(local(peer, exec('(free.hidden.said)')))).result.status).toBe('failure')
    expect(brief(await spv(peer, { requestKey: ask.hash, targetChainId: '1' }))[0]).toBe(400)
  })

  it('a private command runs once, and one that fails is undone', async () => {
    const { peer } = await startLedger({ entity: 'Alice' })
    const result = async (command: ReturnType<typeof secret>) => {
      await ok(sendPrivately(peer, command))
      return (await ok(poll(peer, [command.hash])))[command.hash].result
    }
    await result(secret(CODE, []))
    const say = secret('(free.hidden.say "once")', [])
    expect((await result(say)).status).toBe('success')
    const failing = secret('(free.hidden.say "twice") (enforce false "no")', [])
    expect(await result(failing)).toMatchObject({ status: 'failure', error: { type: 'TxFailure', message: 'no' } })
    expect((await result(secret('(free.hidden.said)', []))).data).toBe('once')
    await result(secret('(free.hidden.say "later")', []))
    await result(say)
    expect((await result(secret('(free.hidden.said)', []))).data).toBe('later')
    expect((await result(secret('(free.hidden.said', []))).error.type).toBe('SyntaxError')
  })

  it('private commands for other nodes are accepted, and have no result', async () => {
    for (const entity of ['Dora', undefined]) {
      const { peer } = await startLedger({ entity })
      const command = secret('1', ['Bob'])
      expect(await ok(sendPrivately(peer, command))).toEqual({ requestKeys: [command.hash] })
      await makeBlocks(peer, { 0: 1 })
      expect(await ok(poll(peer, [command.hash]))).toEqual({})
    }
  })

  it('the endpoint of private commands refuses invalid requests', async () => {
    const { peer } = await startLedger({ entity: 'Bob' })
    const right = secret('1', ['Bob'])
    for (const [command, message] of [
      [exec('1'), /^Validation failed: \/cmd\/meta .*address/],
      [secret('1', ['']), /^Validation failed: \/cmd\/meta\/address\/to\/0 must not have fewer/],
      [secret('1', ['Bob'], { networkId: 'mainnet01' }), /^Validation failed: Network id mismatch: it is "mainnet01"/],
      [{ ...right, sigs: [] }, /^Validation failed: The number of signers and signatures do not match/],
      [{ ...right, sigs: secret('1', []).sigs }, /^Validation failed: The signature at position 0 is invalid/],
      [{ ...right, hash: secret('1', []).hash }, /^Validation failed: The hash of the payload was invalid\.$/],
      [
        secret('x'.repeat(400_000), ['Bob']),
        /^Validation failed: the gas for its size \(\d+\) is above .* \(150000\)$/,
      ],
      [{ ...right, cmd: '[' }, /^Validation failed: \/cmd: no JSON/],
    ] as const) {
      const [status, type, text] = brief(await sendPrivately(peer, command))
      expect(status, text).toBe(400)
      expect(type, text).toBe(TEXT)
      expect(text).toMatch(message)
    }
  })
})

describe('at the root', () => {
  it('commands sent to the root name their chain, and poll at the root looks for results on all chains', async () => {
    const { peer } = await ledger()
    const at = (name: string, body: unknown, query = '') => post(peer, `/api/v1/${name}${query}`, body)
    const [zero, one] = [exec('0'), exec('(at "chain-id" (chain-data))', { chainId: '1' })]
    expect((await ok(at('local', one))).result.data).toBe('1')
    expect((await ok(at('local', one, '?preflight=true'))).preflightResult.result.data).toBe('1')
    for (const command of [zero, one]) {
      expect(await ok(at('send', { cmds: [command] }))).toEqual({ requestKeys: [command.hash] })
    }
    expect((await pending(peer)).hashes).toEqual([zero.hash])
    expect((await pending(peer, '', 1)).hashes).toEqual([one.hash])
    const waiting = at('listen', { listen: one.hash })
    await makeBlocks(peer, { 0: 3, 1: 3 })
    expect((await ok(waiting)).result.data).toBe('1')
    const found = await ok(at('poll', { requestKeys: [zero.hash, one.hash] }))
    expect(Object.keys(found).sort()).toEqual([zero.hash, one.hash].sort())
    const body = { requestKey: one.hash, targetChainId: '0' }
    expect(await ok(at('spv', body))).toBe(await ok(spv(peer, body, 1)))
    for (const [commands, message] of [
      [[exec('1'), exec('1', { chainId: '1' })], /^commands for several chains \(0, 1\)/],
      [[exec('1', { chainId: '2' })], /^there is no chain 2: chains are 0 to 1/],
      [[{ ...exec('1'), cmd: '-' }], /^Validation failed: element 0: \/cmd: no JSON/],
    ] as const) {
      const [status, type, text] = brief(await at('send', { cmds: commands }))
      expect(status, text).toBe(400)
      expect(type, text).toBe(TEXT)
      expect(text).toMatch(message)
    }
  })
})

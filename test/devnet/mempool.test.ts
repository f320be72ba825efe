import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { randomFrom } from '../random.ts'
import { rotating } from '../rotation.ts'
import { type Change, commandPayload, funded, keyPair, nowSeconds, type Signed, signed, signText } from './command.ts'
import { brief, PATIENT, PREFIX, sharedNode, start, TEXT } from './common.ts'
import { rewound } from './control-common.ts'
import { insert, insertTexts, lookup, member, pending } from './mempool-common.ts'
import { mineBlock, mineWhole } from './miner.ts'
import type { Peer } from './request.ts'

const twenty = rewound(sharedNode())

const JSON_HEADERS = { 'content-type': 'application/json' }
const keysOf = (commands: readonly Signed[]) => commands.map((command) => command.hash)
/** The mempool keeps the same properties of a command as live nodes, in the same order. */
const contentsOf = ({ hash, sigs, cmd }: Signed) => JSON.stringify({ hash, sigs, cmd })

it('the pool of a chain reports membership, contents and all pending hashes', async () => {
  const { peer } = await start()
  const [a, b, c] = [signed(), signed(), signed()]
  expect(await pending(peer)).toMatchObject({ hashes: [], newest: 0 })
  await insert(peer, [])
  await insert(peer, [a, b])
  await insert(peer, [c, a])
  const other = 'x'.repeat(42)
  const asked = [c.hash, `${other}w`, a.hash, c.hash]
  expect(await member(peer, asked)).toEqual([true, false, true, true])
  const Missing = { tag: 'Missing' }
  const [inC, inA] = [c, a].map((command) => ({ tag: 'Pending', contents: contentsOf(command) }))
  expect(await lookup(peer, asked)).toEqual([inC, Missing, inA, inC])
  expect(await lookup(peer, [])).toEqual([])
  expect(await pending(peer)).toMatchObject({ hashes: keysOf([a, b, c]), newest: 3 })
  expect(await member(peer, [a.hash], 1)).toEqual([false])
  expect(await pending(peer, '', 1)).toMatchObject({ hashes: [], newest: 0 })
})

it('the pool drops the same properties of a command as live nodes, and no others', async () => {
  const { peer } = await twenty()
  const { hash, sigs, cmd } = signed()
  const [{ sig }] = sigs as { sig: string }[]
  const wallet = { cmd, sigs: [{ pubKey: 'ff', sig, scheme: 'ED25519' }], extra: 1, hash }
  expect((await insertTexts(peer, [JSON.stringify(wallet, null, 2)])).status).toBe(200)
  expect(await lookup(peer, [hash])).toEqual([{ tag: 'Pending', contents: JSON.stringify({ hash, sigs, cmd }) }])
})

describe('marks', () => {
  it('marks of the pool are exact signed 64-bit integers of this run', async () => {
    const nonces = new Set<string>()
    for (let i = 0; i < 6; i++) {
      const { peer } = await start({ graph: 'singleton' })
      const { nonce } = await pending(peer)
      expect(BigInt.asIntN(64, BigInt(nonce))).toBe(BigInt(nonce))
      await insert(peer, [signed()])
      expect((await pending(peer, `?nonce=${nonce}&since=1`)).hashes).toEqual([])
      // The nearest double is another nonce.
      if (String(BigInt(Number(nonce))) !== nonce) {
        expect((await pending(peer, `?nonce=${BigInt(Number(nonce))}&since=1`)).hashes).toHaveLength(1)
      }
      nonces.add(nonce)
    }
    expect(nonces.size).toBe(6)
    expect([...nonces].filter((each) => !Number.isSafeInteger(Number(each))).length).toBeGreaterThan(0)
  })

  it.each(rotating([1, 2, 3], 1))('marks and blocks of the pool agree with a model, seed %i', async (seed) => {
    const { devnet, peer } = await start({ graph: 'singleton', pow: false }, PATIENT)
    const random = randomFrom(seed)
    const below = (n: number) => Math.floor(random() * n)
    const model = new Model()
    const { nonce } = await pending(peer)
    for (let step = 0; step < 60; step++) {
      if (random() < 0.5) {
        const fresh = Array.from({ length: below(4) }, () => {
          const meta = { gasPrice: [1e-8, 0.5, 2][below(3)], gasLimit: [600, 50_000, 90_000, 150_000][below(4)] }
          return { ...meta, ...signed(meta, tooMuch) }
        })
        const again = model.entries.slice(0, below(2))
        await insert(
          peer,
          [...again, ...fresh, ...fresh.slice(0, 1)].map(({ hash, sigs, cmd }) => ({ hash, sigs, cmd })),
        )
        model.insert(fresh)
      } else if (random() < 0.4) {
        await mineWhole(peer)
        const [block] = devnet.chains.store.slice(0, devnet.chains.store.count(0) - 1, devnet.chains.store.count(0))
        const inBlock = block.payload.transactions.map(
          ({ transaction }) => JSON.parse(Buffer.from(transaction).toString()).hash,
        )
        expect(inBlock).toEqual(model.takeBlock())
      }
      const since = below(model.newest + 3) - 1
      const [query, after] = [
        [`?nonce=${nonce}&since=${since}`, since > model.newest ? 0 : since],
        [`?nonce=${BigInt(nonce) ^ 1n}&since=${since}`, 0],
        [`?since=${since}`, 0],
        [`?nonce=${nonce}`, 0],
        [`?nonce=${nonce}&since=${model.newest}`, model.newest],
      ][below(5)] as [string, number]
      const hashes = model.entries.filter(({ id }) => id > after).map((entry) => entry.hash)
      expect(await pending(peer, query), `step ${step}: ${query}`).toEqual({ hashes, nonce, newest: model.newest })
    }
    expect(model.newest).toBeGreaterThan(30)
    expect(model.blocks).toBeGreaterThan(5)
  })
})

interface ModelEntry extends Signed {
  readonly gasPrice: number
  readonly gasLimit: number
  readonly id: number
}

/** Fails, so it pays exactly its gas limit. It needs no thread, so every block has it at once. */
const tooMuch = { payload: { exec: { data: {}, code: '(+ 1 "one")' } } }

class Model {
  entries: ModelEntry[] = []
  newest = 0
  blocks = 0

  insert(commands: readonly Omit<ModelEntry, 'id'>[]): void {
    for (const command of commands) this.entries.push({ ...command, id: ++this.newest })
  }

  takeBlock(): string[] {
    this.blocks++
    const block: ModelEntry[] = []
    for (const price of [2, 0.5, 1e-8]) {
      for (const entry of this.entries.filter(({ gasPrice }) => gasPrice === price)) {
        const gas = [...block, entry].reduce((sum, { gasLimit }) => sum + gasLimit, 0)
        if (gas <= 150_000) block.push(entry)
      }
    }
    this.entries = this.entries.filter((entry) => !block.includes(entry))
    return block.map((entry) => entry.hash)
  }
}

it('the pool accepts numbers in each spelling', async () => {
  const { peer } = await twenty()
  const spelled = signText(
    JSON.stringify(commandPayload({ gasLimit: '600', ttl: { int: 600 }, creationTime: { int: `${nowSeconds()}` } }))
      // A price with more digits than a double holds; all extra ones are zeros.
      .replace('"gasPrice":1e-8', '"gasPrice":"0.00000001000000000000000000"'),
  )
  await insert(peer, [spelled])
  expect(await member(peer, [spelled.hash])).toEqual([true])
})

describe('insert refuses the whole request for a command that', () => {
  /** Sends a valid command together with this one. Returns the error message for this one. */
  async function refusal(peer: Peer, command: unknown): Promise<string> {
    const good = signed()
    const answer = await insertTexts(peer, [
      JSON.stringify(good),
      typeof command === 'string' ? command : JSON.stringify(command),
    ])
    const [status, type, message] = brief(answer)
    expect(status, message).toBe(400)
    expect(type, message).toBe(TEXT)
    expect(message).toMatch(/^element 1: /)
    expect((await pending(peer)).hashes).toEqual([])
    return message.slice('element 1: '.length)
  }
  // Only the sender's own key can pay for gas.
  const [alice, bob] = [funded, keyPair()]
  const blake2s = (cmd: string) => hash('blake2s256', cmd, 'buffer')
  const withSigner = (change: Change, sigs?: unknown[]) => {
    const command = signed({}, { signers: [{ pubKey: alice.publicKey, ...change }] }, [alice])
    return sigs === undefined ? command : { ...command, sigs }
  }

  const withCapability = (name: string) =>
    signed({}, { signers: [{ pubKey: alice.publicKey, clist: [{ name, args: [] }] }] }, [alice])

  it('insert refuses the whole request for a command that is malformed', async () => {
    const { peer } = await twenty()
    for (const [command, message] of [
      ['', /^the command: no JSON/],
      ['{"cmd"', /^the command: no JSON/],
      ['null', /^the command must be object/],
      [{ ...signed(), cmd: undefined }, /cmd/],
      [{ ...signed(), cmd: '{' }, /^\/cmd: no JSON/],
      [{ ...signed(), cmd: '[]' }, /^\/cmd must be object/],
      [{ ...signed(), hash: 'A'.repeat(42) }, /^\/hash/],
      // 43 characters hold two bits more than 32 bytes; these bits must be zero.
      [{ ...signed(), hash: `${'A'.repeat(42)}B` }, /hash.*unused bits/],
      [{ ...signed(), sigs: {} }, /^\/sigs must be array/],
      [signText('{"nonce":"\ud800"}'), /surrogate/],
      [signed({}, { nonce: 7 }), /^\/cmd\/nonce must be string/],
      [signed({ gasLimit: 1.5 }), /^\/cmd\/meta\/gasLimit must be a whole number/],
      [signed({ ttl: { int: 'x' } }), /^\/cmd\/meta\/ttl must be a whole number/],
      [signed({ gasPrice: 'cheap' }), /^\/cmd\/meta\/gasPrice must be a number/],
      [signed({}, { payload: { cont: { pactId: 'p', step: 1, rollback: false } } }), /^\/cmd\/payload\/cont .*data/],
      [withCapability('TRANSFER'), /^\/cmd\/signers\/0\/clist.* must match pattern/],
      [signed({}, { payload: {} }), /either exec or cont/],
      [signed({}, { payload: { exec: { code: 1 } } }), /^\/cmd\/payload\/exec\/code must be string/],
    ] as const) {
      expect(await refusal(peer, command)).toMatch(message)
    }
  })

  it('insert refuses the whole request for a command that is for another network, chain or time', async () => {
    const { peer } = await twenty()
    const now = nowSeconds()
    const conflict = 'Transaction metadata (chain id, chainweb version) conflicts with this endpoint'
    const expired = 'Transaction time-to-live is expired'
    for (const [command, message] of [
      [signed({}, { networkId: 'mainnet01' }), conflict],
      [signed({}, { networkId: null }), conflict],
      [signed({}, { networkId: undefined }), conflict],
      [signed({ chainId: '1' }), conflict],
      [signed({ chainId: '00' }), conflict],
      [signed({ chainId: 'zero' }), 'insert error: Unparsable ChainId'],
      [signed({ ttl: 172_801 }), `${expired}: it is 172801 s, and may be 172800 s`],
      [signed({ ttl: 0 }), expired],
      [signed({ ttl: -5 }), expired],
      [signed({ creationTime: now - 100, ttl: 100 }), expired],
      [signed({ creationTime: now + 15 }), 'Transaction creation time too far in the future'],
      [signed({ creationTime: -1 }), expired],
    ] as const) {
      expect(await refusal(peer, command)).toBe(message)
    }
    await insert(peer, [signed({ creationTime: now + 5 }), signed({ creationTime: now - 50, ttl: 172_800 })])
    await insert(peer, [signed({ chainId: '19' })], 19)
  })

  it('insert refuses the whole request for a command that requests too much gas or pays too little', async () => {
    const { peer } = await twenty()
    const code = (length: number) => ({ payload: { exec: { data: null, code: 'x'.repeat(length) } } })
    const places = (price: string) =>
      `insert error: This transaction's gas price: ${price} is not correctly rounded. ` +
      'It should be rounded to at most 12 decimal places.'
    for (const [command, message] of [
      [signed({ gasLimit: 150_001 }), 'Transaction gas limit exceeds block gas limit (150000)'],
      [signed({ gasPrice: 9.9e-9 }), 'Transaction gas price (0.0000000099) is below minimum gas price (0.00000001)'],
      [signed({ gasPrice: -1 }), 'Transaction gas price (-1) is below minimum gas price (0.00000001)'],
      [signed({ gasPrice: 1.00000000000001e-1 }), places('0.100000000000001')],
      // The price has more digits than a double holds, and all of them count.
      [signed({ gasPrice: '1.0000000000000000000001' }), places('1.0000000000000000000001')],
    ] as const) {
      expect(await refusal(peer, command)).toBe(message)
    }
    for (const command of [signed({ gasLimit: 3 }), signed({ gasLimit: 150_000 }, code(290_000))]) {
      expect(await refusal(peer, command)).toMatch(
        /^Transaction gas limit \(\d+\) is below the gas for the size of the command \(\d+\)$/,
      )
    }
    await insert(peer, [
      signed({ gasLimit: 150_000, gasPrice: 1e-8 }, code(270_000)),
      signed({ gasPrice: 0.123456789012 }),
    ])
  })

  it('insert refuses the whole request for a command that pays too little for the size of a proof, which cost nothing up to release 2.32', async () => {
    const cont = { pactId: 'p', step: 1, rollback: false, proof: 'x'.repeat(300_000), data: {} }
    const command = signed({}, { payload: { cont } })
    const [now, before] = [await twenty(), await start({ nodeRelease: '2.32' })]
    expect(await refusal(now.peer, command)).toMatch(/^Transaction gas limit \(600\) is below the gas for the size/)
    await insert(before.peer, [command])
  })

  it('insert refuses the whole request for a command that has wrong or missing signatures', async () => {
    const { peer } = await twenty()
    const two = signed({}, {}, [alice, bob])
    const of = (command: Signed) => command.sigs
    const count = (signers: number, signatures: number) =>
      'Invalid transaction sigs: The number of signers and signatures do not match. ' +
      `Number of signers: ${signers}. Number of signatures: ${signatures}.`
    const at = (position: number, why: string) =>
      `Invalid transaction sigs: The signature at position ${position} is invalid: ${why}.`
    const wrong = 'invalid ed25519 signature'
    for (const [command, message] of [
      [{ ...signed(), hash: signed().hash }, 'Invalid transaction hash'],
      [{ ...two, sigs: of(two).slice(0, 1) }, count(2, 1)],
      [{ ...two, sigs: [] }, count(2, 0)],
      [{ ...two, sigs: [...of(two), of(two)[0]] }, count(2, 3)],
      [{ ...two, sigs: [...of(two)].reverse() }, at(0, wrong)],
      [{ ...two, sigs: [of(two)[0], of(signed({}, {}, [alice, bob]))[1]] }, at(1, wrong)],
      [{ ...two, sigs: [null, of(two)[1]] }, at(0, 'null')],
      [withSigner({}, [{ sig: '' }]), at(0, 'not 128 hex digits, an ed25519 signature')],
      [withSigner({ pubKey: 'ab' }), at(0, 'the public key is not 64 hex digits')],
      [withSigner({ pubKey: bob.publicKey }), at(0, wrong)],
      [withSigner({ scheme: 'RSA' }), at(0, 'scheme "RSA"; expected ED25519 or WebAuthn')],
      [withSigner({ addr: bob.publicKey }), at(0, 'the address differs from the public key')],
      [signed({ gasLimit: 90_000 }, {}, Array(101).fill(alice)), 'insert error: Too many signatures'],
    ] as const) {
      expect(await refusal(peer, command)).toBe(message)
    }
    const cmd = JSON.stringify(commandPayload())
    const { publicKey: pubKey } = funded
    await insert(peer, [signText(cmd, [funded], blake2s(cmd)), two])
    for (const signer of [
      { scheme: 'ED25519', addr: pubKey },
      { scheme: null, clist: null, addr: null },
    ]) {
      await insert(peer, [signed({}, { signers: [{ pubKey, ...signer }] })])
    }
    const unsigned = signed({}, { signers: [] }, [])
    const answer = await insertTexts(peer, [JSON.stringify(unsigned)])
    const keysetFailure = /^element 0: Attempt to buy gas .* Keyset failure/
    expect(brief(answer)).toEqual([400, TEXT, expect.stringMatching(keysetFailure)])
    expect((await pending(peer)).hashes).toHaveLength(4)
  })

  it('insert refuses the whole request for a command that is in a block of the chain already', async () => {
    const { peer } = await twenty()
    const old = signed()
    await insert(peer, [old])
    await mineBlock(peer, 0)
    expect(await refusal(peer, old)).toBe('Transaction already exists on chain')
  })
})

it('the endpoints of the pool refuse malformed requests', async () => {
  const { peer } = await twenty()
  const path = `${PREFIX}/chain/0/mempool`
  const json = (body: string) => ({ headers: JSON_HEADERS, body })
  const key = 'A'.repeat(43)
  for (const [name, body, message] of [
    ['insert', '{}', /array/],
    ['insert', '[1]', /\/0 .*string/],
    ['insert', '["', /JSON/],
    ['member', '["short"]', /\/0 /],
    ['member', '', /JSON/],
    ['lookup', '{}', /array/],
    ['lookup', `[${Array(10_001).fill(`"${key}"`)}]`, /10001 request keys; at most 10000/],
    ['member', `[${Array(10_001).fill(`"${key}"`)}]`, /10001 request keys; at most 10000/],
  ] as const) {
    const [status, type, text] = brief(
      await peer.request(name === 'insert' ? 'PUT' : 'POST', `${path}/${name}`, json(body)),
    )
    expect(status).toBe(400)
    expect(type).toBe(TEXT)
    expect(text).toMatch(message)
  }
  for (const query of [
    '?nonce=x',
    '?nonce=1&since=',
    '?nonce=1&since=9223372036854775808',
    '?nonce=-9223372036854775809',
  ]) {
    expect(brief(await peer.request('POST', `${path}/getPending${query}`)).slice(0, 2)).toEqual([400, TEXT])
  }
  expect((await pending(peer, '?nonce=-9223372036854775808&since=9223372036854775807')).hashes).toEqual([])
  expect((await peer.request('PUT', `${PREFIX}/chain/20/mempool/insert`, json('[]'))).status).toBe(404)
  expect((await peer.request('POST', `${path}/insert`, json('[]'))).status).toBe(405)
  expect((await peer.request('PUT', `${path}/insert`, { body: '[]' })).status).toBe(415)
})

it('mempool/lookup refuses a request that repeats one transaction so often that the answer would be huge', async () => {
  const { peer } = await twenty()
  const large = signed({ gasLimit: 150_000 }, { payload: { exec: { data: null, code: 'x'.repeat(270_000) } } })
  await insert(peer, [large])
  expect(await lookup(peer, Array(10).fill(large.hash))).toHaveLength(10)
  const body = JSON.stringify(Array(200).fill(large.hash))
  const answer = await peer.request('POST', `${PREFIX}/chain/0/mempool/lookup`, { headers: JSON_HEADERS, body })
  expect(brief(answer)).toEqual([400, TEXT, expect.stringMatching(/exceed 33554432 bytes; ask for fewer/)])
})

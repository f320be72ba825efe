/** Verifiers vouch for capabilities by proofs in a command: in blocks, preflight and local calls. */

import { sha3_256 } from '@noble/hashes/sha3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { sizeGas } from '../../src/ground/chain/gas.ts'
import { LedgerGround } from './ledger-ground.ts'
import { base64url, merkleMetadata, newKey, newMessage, rootMetadata, signList, type TestKey } from './verifier-keys.ts'

const MODULE = `
(namespace "free")
(module guarded G
  (defcap G () true)
  (defcap ALLOWED:bool (what:string) (enforce-verifier "allow"))
  (defcap SIGNED:bool (parts:list key:string) (enforce-verifier "signed_list"))
  (defcap MESSAGE:bool (id:string message:object signers:list threshold:integer) (enforce-verifier "hyperlane_v3_message"))
  (defun allowed (what:string) (with-capability (ALLOWED what) what))
  (defun signed (parts:list key:string) (with-capability (SIGNED parts key) "signed"))
  (defun message (id:string message:object signers:list threshold:integer)
    (with-capability (MESSAGE id message signers threshold) "received")))`

const ALL_GAS = 100_000

interface Use {
  readonly name: string
  readonly proof: unknown
  readonly clist: readonly { readonly name: string; readonly args: readonly unknown[] }[]
}

let ground: LedgerGround

beforeAll(() => {
  ground = new LedgerGround('singleton')
  const deployed = ground.command(0, MODULE, { gasLimit: ALL_GAS })
  ground.grow(0, [deployed])
  expect(ground.result(0, deployed.key)?.result).toMatchObject({ status: 'success' })
})

/** The result of a command in a block of its own. */
function run(code: string, verifiers: readonly Use[], gasLimit = ALL_GAS) {
  const command = ground.command(0, code, { verifiers, gasLimit })
  ground.grow(0, [command])
  const found = ground.result(0, command.key)
  if (found === undefined) throw new Error('the command is in no block')
  const { result, gas } = found
  return { gas, told: result.error?.message ?? result.data, error: result.error }
}

/** Code whose result shows that no verifier refused. */
const AGREED = '"agreed"'
/** The verdict of a verifier. */
const judged = (use: Use, gasLimit?: number) => run(AGREED, [use], gasLimit).told

/** Gas that buying gas takes, rounded up. */
const BOUGHT = 70

/** The gas of a verifier: that of free code, minus the gas for the size of the command and for buying gas. */
function gasOf(use: Use): number {
  const bare = ground.command(0, AGREED, { verifiers: [use], gasLimit: ALL_GAS })
  const size = sizeGas(bare.command.size, 'post32')
  return run(AGREED, [use]).gas - size - BOUGHT
}

describe('allow', () => {
  const cap = { name: 'free.guarded.ALLOWED', args: ['a'] }
  const use: Use = { name: 'allow', proof: JSON.stringify(cap), clist: [cap] }

  it('the verifier allow grants the capability of its proof, for 100 gas', () => {
    expect(run('(free.guarded.allowed "a")', [use]).told).toBe('a')
    expect(gasOf(use)).toBe(100)
  })

  it('the verifier allow grants a capability once, even if it is listed twice', () => {
    expect(judged({ ...use, clist: [cap, cap] })).toBe('agreed')
  })

  it('the verifier allow vouches for nothing else', () => {
    expect(run('(free.guarded.allowed "b")', [use])).toMatchObject({
      gas: ALL_GAS,
      told: 'Verifier allow failed with the message: not in scope',
    })
    expect(run('(free.guarded.allowed "a")', []).told).toBe(
      'Verifier allow failed with the message: not in transaction',
    )
  })

  it('the verifier allow counts in the body of a capability only', () => {
    expect(run('(enforce-verifier "allow")', [use]).told).toMatch(/must be called within a defcap body/)
  })

  it.each([
    [{ ...use, proof: 'no JSON' }, 'argument was not a JSON-encoded capability: no JSON'],
    [{ ...use, proof: '{"name":"free.guarded.ALLOWED","args":7}' }, /^argument was not a JSON-encoded capability: /],
    [{ ...use, proof: cap }, 'expected string literal in verifier arguments'],
    [{ ...use, clist: [] }, 'granted capability is not the one in the proof'],
    [{ ...use, clist: [{ ...cap, args: ['b'] }] }, 'granted capability is not the one in the proof'],
    [{ ...use, clist: [cap, { ...cap, args: ['b'] }] }, 'granted capability is not the one in the proof'],
  ])('the verifier allow refuses %j', (bad, text) => {
    const { error, gas } = run(AGREED, [bad])
    expect(error).toMatchObject({ type: 'EvalError', message: expect.stringMatching(text) })
    expect(gas).toBe(ALL_GAS)
  })
})

describe('signed_list', () => {
  /** A vector from the live node's own tests. */
  const parts = [
    { '0x': 'faf3fd67e908cd840298a6f3523631716d4c8df06d69c9a32415f59eaa56825d' },
    { '0x': 'e8a6bc590ed71a70e2507ad842a237cf55bbb751abb38fca61c0c83c4b07bd5f' },
  ]
  const key = '02fd7923740a775c95ce17e9bb7239ff9096689f70db9263a7efb9a9ad08e9fed7'
  const signature =
    'db96110667579fd876c6b74d8fd848d29d0fb22f114c912202661010a27ef5087b3c9e33fc9af83e1f025e7d180612c7fc0c5f847a61e348dd35309855b29a44'
  const cap = (shown: unknown, signer: unknown = key) => ({ name: 'free.guarded.SIGNED', args: [shown, signer] })
  const use: Use = { name: 'signed_list', proof: [parts, key, signature], clist: [cap([])] }

  it('signed_list grants what the key has signed, for 650 gas', () => {
    expect(run(`(free.guarded.signed [] "${key}")`, [use]).told).toBe('signed')
    expect(gasOf(use)).toBe(650)
  })

  it('signed_list hashes texts, decimals and lists, and the capability shows all but wrapped bytes', () => {
    const own = newKey()
    const inner = Buffer.concat([Buffer.from('b'), Buffer.from('ff00', 'hex')])
    const list = ['é', 1.5, { decimal: '2.0' }, ['b', { '0x': 'ff00' }], { '0x': 'ab' }]
    const bytes = Buffer.concat([Buffer.from('é1.52.0'), sha3_256(inner), Buffer.of(0xab)])
    const proof = [list, own.publicKey, signList(own, bytes)]
    const shown = ['é', 1.5, { decimal: '2.0' }, ['b']]
    expect(judged({ ...use, proof, clist: [cap(shown, own.publicKey)] })).toBe('agreed')
    expect(judged({ ...use, proof, clist: [cap(list, own.publicKey)] })).toBe(
      'Capability arguments do not match proof data',
    )
  })

  const lastDigitIs5 = `${signature.slice(0, -1)}5`
  it.each([
    ['a signature with another last digit', { proof: [parts, key, lastDigitIs5] }, 'Signature verification failed'],
    ['no capability', { clist: [] }, 'Expected exactly one capability'],
    ['two capabilities', { clist: [cap([]), cap(['a'])] }, 'Expected exactly one capability'],
    ['a capability about no list', { clist: [cap('a')] }, 'Capability args must be: (list, pubKey)'],
    ['a capability without a key', { clist: [cap([], 7)] }, 'Capability args must be: (list, pubKey)'],
    ['a proof of two parts', { proof: [parts, key] }, 'Proof must be: [message parts, pubKey, sig]'],
    [
      'a proof whose parts are no list',
      { proof: ['a', key, signature] },
      'Proof must be: [message parts, pubKey, sig]',
    ],
    ['an integer', { proof: [[{ int: 1 }], key, signature] }, 'Parsing hash list failed'],
    ['an object with another field', { proof: [[{ '0x': 'aa', b: 1 }], key, signature] }, 'Parsing hash list failed'],
    ['odd digits', { proof: [[{ '0x': 'abc' }], key, signature] }, 'Malformed hex encoding: abc'],
    ['digits that are none', { proof: [[['a', { '0x': 'xy' }]], key, signature] }, 'Malformed hex encoding: xy'],
    ['other parts', { clist: [cap(['a'])] }, 'Capability arguments do not match proof data'],
    ['another key', { clist: [cap([], `03${key.slice(2)}`)] }, 'Capability arguments do not match proof data'],
    ['a short signature', { proof: [parts, key, 'aabb'] }, 'Malformed signature verification inputs'],
    ['a signature that is no hex', { proof: [parts, key, 'xy'] }, 'Malformed signature verification inputs'],
    [
      'a key that is none',
      { proof: [parts, 'aa', signature], clist: [cap([], 'aa')] },
      'Malformed signature verification inputs',
    ],
  ])('signed_list refuses %s', (_what, change, text) => {
    expect(judged({ ...use, ...change })).toBe(text)
  })

  it('signed_list judges in the order shape, parts, match, gas, signature', () => {
    const little = 400
    const bad = { ...use, proof: [parts, key, 'aabb'] }
    expect(judged({ ...bad, clist: [cap(['a'])] }, little)).toBe('Capability arguments do not match proof data')
    expect(judged(bad, little)).toMatch(/^gas exhausted in verifier. attempted to charge 650 with only \d+ remaining.$/)
  })
})

describe('hyperlane_v3_message', () => {
  const keys = [newKey(), newKey(), newKey()]
  const { bytes, id, object } = newMessage('hello')
  const addresses = keys.map(({ address }) => address)
  const args = [base64url(id), object, addresses, { int: 2 }]
  const cap = (...given: readonly unknown[]) => ({ name: 'free.guarded.MESSAGE', args: given })
  const withMetadata = (metadata: Uint8Array, clist = [cap(...args)]): Use => {
    return { name: 'hyperlane_v3_message', proof: [base64url(bytes), base64url(metadata)], clist }
  }
  const two = keys.slice(0, 2)
  const use = withMetadata(rootMetadata(id, two))

  it('hyperlane_v3_message grants a message whose root enough validators have signed', () => {
    const text = JSON.stringify({ ...object, version: 3, nonce: 7, originDomain: 31_337 })
    const code = `(free.guarded.message "${base64url(id)}" ${text} ${JSON.stringify(addresses)} 2)`
    const whole = { ...object, destinationDomain: { int: 626 } }
    const clist = [cap(base64url(id), whole, addresses, { int: 2 })]
    expect(run(code, [{ ...use, clist }]).told).toBe('received')
    expect(gasOf(use)).toBe(10 + 2 * 16_250)
  })

  it('hyperlane_v3_message grants a message in the tree whose checkpoint they have signed, for 18 gas more', () => {
    const merkle = withMetadata(merkleMetadata(id, two))
    expect(judged(merkle)).toBe('agreed')
    expect(gasOf(merkle)).toBe(10 + 18 + 2 * 16_250)
  })

  it('hyperlane_v3_message checks no more signatures than the threshold', () => {
    expect(judged(withMetadata(Buffer.concat([rootMetadata(id, two), Buffer.alloc(65)])))).toBe('agreed')
  })

  it('hyperlane_v3_message accepts v as in EIP-155', () => {
    expect(judged(withMetadata(rootMetadata(id, two, 37)))).toBe('agreed')
  })

  it('hyperlane_v3_message accepts signatures in the order of the signers only', () => {
    const last: TestKey[] = [keys[1], keys[2]]
    expect(judged(withMetadata(rootMetadata(id, last)))).toBe('agreed')
    expect(judged(withMetadata(rootMetadata(id, [...last].reverse())))).toBe('Verification failed')
  })

  const [messageId, ...rest] = args
  const merkle = merkleMetadata(id, two)
  const forged = Buffer.from(merkle)
  forged[100] ^= 1
  const unreadable = Buffer.concat([rootMetadata(id, []), Buffer.alloc(64), Buffer.of(27)])
  const wrongV = Buffer.concat([rootMetadata(id, []), Buffer.alloc(64, 1), Buffer.of(2)])
  it.each<[string, Use, string | RegExp]>([
    ['no capability', { ...use, clist: [] }, 'Expected one capability.'],
    [
      'three arguments',
      { ...use, clist: [cap(...rest)] },
      /^Incorrect number of capability arguments. Expected: messageId,/,
    ],
    ['a threshold that is a list', { ...use, clist: [cap(...args.slice(0, 3), [])] }, /^Incorrect number of cap/],
    ['half a threshold', { ...use, clist: [cap(...args.slice(0, 3), 1.5)] }, 'Threshold is not an integer'],
    ['a threshold of 0', { ...use, clist: [cap(...args.slice(0, 3), 0)] }, 'Threshold should be greater than 0'],
    [
      'a negative one',
      { ...use, clist: [cap(...args.slice(0, 3), { int: -1 })] },
      'Threshold should be greater than 0',
    ],
    [
      'a threshold above the signatures',
      { ...use, clist: [cap(...args.slice(0, 3), 3)] },
      "The number of signatures can't be less than threshold",
    ],
    [
      'signers that are no texts',
      { ...use, clist: [cap(messageId, object, [1.5], 1)] },
      'Only string signers are supported',
    ],
    ['a message that is a text', { ...use, clist: [cap(messageId, 'a', addresses, 1)] }, 'Message should be an object'],
    ['no version', { ...use, clist: [cap(messageId, { ...object, version: [] }, [], 1)] }, 'version is missing'],
    [
      'a nonce in words',
      { ...use, clist: [cap(messageId, { ...object, nonce: '7' }, [], 1)] },
      'nonce is not an integer',
    ],
    [
      'another id',
      { ...use, clist: [cap('other', ...rest)] },
      `Invalid message id. Expected: PLiteral (LString {_lString = "${base64url(id)}"}) but got PLiteral (LString {_lString = "other"})`,
    ],
    [
      'another message',
      { ...use, clist: [cap(messageId, { ...object, messageBody: 'b' }, addresses, 2)] },
      /^Invalid message. Expected: PObject \(fromList \[\(Field \{_field = "destinationDomain"\},PLiteral \(LInteger \{_lInteger = 626\}\)\),/,
    ],
    ['a proof that is a text', { ...use, proof: 'a' }, 'Expected a proof data as a list'],
    [
      'metadata that are no base64url',
      { ...use, proof: [base64url(bytes), '*'] },
      'error decoding metadata from base64',
    ],
    ['short metadata', withMetadata(Buffer.alloc(67)), 'error decoding metadata from bytes'],
    ['a message that is no base64url', { ...use, proof: ['*', ''] }, 'Uncaught exception in verifier'],
    ['a short message', { ...use, proof: [base64url(bytes.subarray(0, 76)), ''] }, 'Uncaught exception in verifier'],
    ['a v that is none', withMetadata(wrongV, [cap(...args.slice(0, 3), 1)]), 'Uncaught exception in verifier'],
    [
      'a signature of no key',
      withMetadata(unreadable, [cap(...args.slice(0, 3), 1)]),
      'Failed to recover an address: incorrect signature',
    ],
    ['a signature of somebody else', withMetadata(rootMetadata(id, [newKey(), keys[1]])), 'Verification failed'],
    ['another way to the root', withMetadata(forged), 'Verification failed'],
  ])('hyperlane_v3_message refuses %s', (_what, bad, text) => {
    const told = String(judged(bad))
    if (typeof text === 'string') expect(told).toBe(text)
    else expect(told).toMatch(text)
  })

  it('hyperlane_v3_message fails if the gas runs out at its second signature', () => {
    const told = judged(use, 20_000)
    expect(told).toMatch(/^gas exhausted in verifier. attempted to charge 16250 with only \d{4} remaining.$/)
  })
})

describe('verifiers', () => {
  const cap = (what: string) => ({ name: 'free.guarded.ALLOWED', args: [what] })
  const allow = (what: string): Use => ({ name: 'allow', proof: JSON.stringify(cap(what)), clist: [cap(what)] })

  it('verifiers that do not exist refuse the command', () => {
    expect(run(AGREED, [{ name: 'missing', proof: 1, clist: [] }])).toMatchObject({
      gas: ALL_GAS,
      error: { type: 'EvalError', message: 'verifier does not exist: missing' },
    })
  })

  it('verifiers run by name: the first refusal is reported', () => {
    const list: Use = { name: 'signed_list', proof: 1, clist: [] }
    const bad: Use = { ...allow('a'), proof: 1 }
    const missing: Use = { name: 'b', proof: 1, clist: [] }
    expect(run(AGREED, [list, bad]).told).toBe('expected string literal in verifier arguments')
    expect(run(AGREED, [list, missing, allow('a')]).told).toBe('verifier does not exist: b')
    expect(run(AGREED, [list, allow('a')]).told).toBe('Expected exactly one capability')
  })

  it('verifiers of one name run from the last in the command to the first, and each vouches for its own', () => {
    expect(
      run(AGREED, [
        { ...allow('a'), proof: 'first' },
        { ...allow('b'), proof: 'second' },
      ]).told,
    ).toMatch(/second$/)
    const both = [allow('a'), allow('b')]
    expect(run('[(free.guarded.allowed "b") (free.guarded.allowed "a")]', both).told).toEqual(['b', 'a'])
  })

  it('verifiers run in local calls and preflight', () => {
    const told = (code: string, use: Use, isPreflight: boolean) => {
      const { command } = ground.command(0, code, { verifiers: [use] })
      const text = isPreflight ? ground.ledger.preflight(0, command) : ground.ledger.local(0, command)
      const { result } = JSON.parse(text) as { result: { data?: unknown; error?: { message: string } } }
      return result.error?.message ?? result.data
    }
    for (const isPreflight of [false, true]) {
      expect(told('(free.guarded.allowed "a")', allow('a'), isPreflight)).toBe('a')
      expect(told('(free.guarded.allowed "b")', allow('a'), isPreflight)).toMatch(/not in scope/)
      expect(told(AGREED, { ...allow('a'), proof: 1 }, isPreflight)).toBe(
        'expected string literal in verifier arguments',
      )
    }
  })

  it("verifiers have only the gas that remains after the charge for the command's size", () => {
    const { command } = ground.command(0, '1', { verifiers: [allow('a')], gasLimit: 150 })
    const size = sizeGas(command.size, 'post32')
    expect(run(AGREED, [allow('a')], size + BOUGHT + 99).told).toBe(
      'gas exhausted in verifier. attempted to charge 100 with only 99 remaining.',
    )
    expect(run(AGREED, [allow('a')], size + BOUGHT + 100).told).toBe('agreed')
  })

  it('verifiers work for a node of release 2.32 as well', () => {
    const older = new LedgerGround('singleton', undefined, '2.32')
    const command = older.command(0, AGREED, { verifiers: [allow('a')], gasLimit: 1000 })
    older.grow(0, [command])
    expect(older.result(0, command.key)?.result).toMatchObject({ status: 'success', data: 'agreed' })
  })
})

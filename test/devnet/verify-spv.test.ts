/** The native `verify-spv`: code reads results of other chains, by proofs that no byte of may change. */
import { beforeAll, describe, expect, it } from 'vitest'
import { decodeProof, encodeProof } from '../../src/ground/chain/spv.ts'
import { LedgerGround } from './ledger-ground.ts'

const ALL_GAS = 100_000
let ground: LedgerGround
/** Proof for chain 1 of a command of chain 0 whose result is an object. */
let proof: string

/** Runs code on chain 0, and proves its result to chain 1. */
function proven(code: string): string {
  const command = ground.command(0, code, { gasLimit: ALL_GAS })
  ground.grow(0, [command])
  ground.grow(1)
  ground.grow(0)
  ground.grow(1)
  const found = ground.proof(0, command.key, 1)
  if (found === null) throw new Error('there is no proof')
  return found
}

const fieldsOf = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>

/** The result of `verify-spv` on a chain, with the fields of a proof as data. */
function verify(fields: unknown, type = 'TXOUT', chain = 1) {
  const command = ground.command(chain, `(verify-spv "${type}" (read-msg "proof"))`, { data: { proof: fields } })
  const { result } = JSON.parse(ground.ledger.local(chain, command.command))
  return result.status === 'success' ? result.data : result.error.message
}

beforeAll(() => {
  ground = new LedgerGround('pair')
  proof = proven('{"n": 7, "who": "alice", "list": [1.5 true]}')
})

describe('verify-spv', () => {
  it('verify-spv returns the object that a command of another chain returned', () => {
    expect(verify(fieldsOf(proof))).toEqual({ n: { int: 7 }, who: 'alice', list: [1.5, true] })
    expect(verify({ ...fieldsOf(proof), note: 'ignored' })).toHaveProperty('who')
  })

  it('verify-spv works in blocks and in modules, for 100 gas', () => {
    const code = `(namespace "free") (module m G (defcap G () true)
      (defun f () (at "who" (verify-spv "TXOUT" (read-msg "proof"))))) (free.m.f)`
    const command = ground.command(1, code, { data: { proof: fieldsOf(proof) }, gasLimit: ALL_GAS })
    ground.grow(1, [command])
    expect(ground.result(1, command.key)?.result).toEqual({ status: 'success', data: 'alice' })
    expect(ground.result(1, command.key)?.gas).toBeGreaterThan(100)
  })

  it('verify-spv refuses other chains, types and results', () => {
    const refused = (why: string) => `SPV verification failure: ${why}`
    expect(verify(fieldsOf(proof), 'TXOUT', 0)).toBe(
      refused('verifySPV: cannot redeem spv proof on wrong target chain'),
    )
    expect(verify(fieldsOf(proof), 'ETH')).toBe(refused('verifySPV: ETH proof type is not yet supported in Pact5.'))
    expect(verify(fieldsOf(proof), 'txout')).toBe(refused('Unsupported SPV type: txout'))
    expect(verify(fieldsOf(proven('"text"')))).toBe(refused('verifySPV: command result not an object'))
    expect(verify(fieldsOf(proven('(enforce false "no")')))).toBe(
      refused('verifySPV: Failed command result in tx output proof'),
    )
  })

  it('verify-spv refuses a proof without its fields', () => {
    const text = 'SPV verification failure: pactObjectOutputProof: Failed to decode proof object'
    for (const name of ['chain', 'object', 'subject', 'algorithm']) {
      const { [name]: _, ...rest } = fieldsOf(proof)
      expect(verify(rest), name).toBe(text)
    }
    // In the JSON of the language, an integer is not a JSON number.
    expect(verify({ ...fieldsOf(proof), chain: { int: 1 } })).toBe(text)
    expect(verify({ ...fieldsOf(proof), algorithm: 'SHA512' })).toBe(text)
  })

  it('verify-spv refuses a proof with any byte changed', () => {
    const { object, subject } = fieldsOf(proof) as { object: string; subject: { input: string } }
    const path = Buffer.from(object, 'base64url')
    const input = Buffer.from(subject.input, 'base64url')
    const flipped = (bytes: Buffer, at: number, bit: number) => {
      const changed = Buffer.from(bytes)
      changed[at] ^= 1 << bit
      return changed.toString('base64url')
    }
    const refused = /^SPV verification failure: /
    for (let at = 0; at < path.length; at++) {
      expect(verify({ ...fieldsOf(proof), object: flipped(path, at, at % 8) }), `path ${at}`).toMatch(refused)
    }
    for (let at = 0; at < input.length; at++) {
      const changed = { input: flipped(input, at, at % 8) }
      expect(verify({ ...fieldsOf(proof), subject: changed }), `subject ${at}`).toMatch(refused)
    }
  })

  it('verify-spv refuses every other position of the output, also of the coinbase', () => {
    const whole = decodeProof(proof)
    expect(whole.position).toBe(1n)
    for (const position of [0n, 2n, 1n << 32n, (1n << 56n) + 1n, (1n << 64n) - 1n]) {
      expect(verify(fieldsOf(encodeProof({ ...whole, position })))).toBe(
        `SPV verification failure: spv verification failed: the output is not at position ${position} of its block`,
      )
    }
  })
})

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { sizeGas } from '../../src/ground/chain/gas.ts'

interface GasCase {
  readonly name: string
  readonly cmd_bytes: number
  readonly proof_bytes: number
  readonly sigs_bytes: number
  /** A list of schemes, or `100 x SCHEME`. */
  readonly schemes: readonly string[] | string
  readonly pre31: number
  readonly post31: number
  readonly post32: number
}
const read = (name: string) => JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8'))
const { cases } = read('gas.json') as { cases: readonly GasCase[] }
const models = ['pre31', 'post31', 'post32'] as const
const ofBytes = (bytes: number) =>
  sizeGas({ bytes, proofBytes: 0, signatureBytes: 0, ed25519Signers: 0, webAuthnSigners: 0 }, 'pre31')

it.each(cases)('each of the three gas models charges for $name', (each) => {
  const signersOf = (scheme: string) =>
    typeof each.schemes === 'string'
      ? Number(each.schemes.split(` x ${scheme}`)[0]) || 0
      : each.schemes.filter((name) => name === scheme).length
  const size = {
    bytes: each.cmd_bytes - each.proof_bytes,
    proofBytes: each.proof_bytes,
    signatureBytes: each.sigs_bytes,
    ed25519Signers: signersOf('ED25519'),
    webAuthnSigners: signersOf('WebAuthn'),
  }
  for (const model of models) expect(sizeGas(size, model), model).toBe(each[model])
})

it('the gas for the size of a command is exact', () => {
  const examples: readonly (readonly [bytes: number, gas: number])[] = [
    [0, 0],
    [1, 1],
    [500, 6],
    [10_000, 101],
    [100_000, 1109],
  ]
  for (const [bytes, gas] of examples) expect(ofBytes(bytes)).toBe(gas)
})

it('the sizes of 100 and 200 bytes are not rounded down, as doubles do', () => {
  expect(ofBytes(100)).toBe(2)
  expect(ofBytes(200)).toBe(3)
})

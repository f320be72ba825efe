import { describe, expect, it } from 'vitest'
import { commandSizeOf } from '../../src/ground/chain/command-size.ts'
import { gasModelAt, sizeGas } from '../../src/ground/chain/gas.ts'
import { knownNetwork } from '../../src/ground/chain/known-networks.ts'
import type { NetworkDefinition } from '../../src/ground/chain/network.ts'

const command = { cmd: '{"x":"é"}', proof: null, sigs: [], schemes: [] } as const
const parts = { signature: 'c2ln', authenticatorData: 'YXV0aA', clientDataJSON: '{"type":"webauthn.get"}' }

describe('the size of a command', () => {
  it('the size of a command counts bytes of UTF-8, and the proof of a continuation separately', () => {
    expect(commandSizeOf(command)).toMatchObject({ bytes: 10, proofBytes: 0, signatureBytes: 0 })
    expect(commandSizeOf({ ...command, cmd: '{"proof":"é1"}', proof: 'é1' })).toMatchObject({
      bytes: 12,
      proofBytes: 3,
    })
  })

  it('the size of a command counts each signature in its normal form: 138 bytes for 128 digits', () => {
    const sig = 'ab'.repeat(64)
    expect(commandSizeOf({ ...command, sigs: [{ sig }, { sig }, null] }).signatureBytes).toBe(276)
    expect(commandSizeOf({ ...command, sigs: [{ sig: 'a"\n' }] }).signatureBytes).toBe('{"sig":"a\\"\\n"}'.length)
  })

  it('the parts of a WebAuthn signature count in the order of the nodes, without spaces', () => {
    const { authenticatorData, clientDataJSON, signature } = parts
    const written = JSON.stringify({ sig: JSON.stringify({ authenticatorData, clientDataJSON, signature }) })
    const sig = JSON.stringify({ more: 1, ...parts }, null, 2)
    expect(commandSizeOf({ ...command, sigs: [{ sig }] }).signatureBytes).toBe(written.length)
    // Without one of its parts the signature counts as plain text.
    const other = JSON.stringify({ signature, clientDataJSON }, null, 2)
    expect(commandSizeOf({ ...command, sigs: [{ sig: other }] }).signatureBytes).toBe(
      JSON.stringify({ sig: other }).length,
    )
    expect(commandSizeOf({ ...command, sigs: [{ sig: '{not JSON' }] }).signatureBytes).toBe(
      '{"sig":"{not JSON"}'.length,
    )
  })

  it('the size of a command counts signers by their scheme, ED25519 by default', () => {
    const size = commandSizeOf({ ...command, schemes: [undefined, null, 'ED25519', 'WebAuthn'] })
    expect(size).toMatchObject({ ed25519Signers: 3, webAuthnSigners: 1 })
    const without = sizeGas(commandSizeOf(command), 'post32')
    expect(sizeGas(size, 'post32') - without).toBe(3 * 21 + 526)
    expect(sizeGas(size, 'post31')).toBe(without)
  })

  it.each([
    ['SLH-DSA-SHA2-128s', 816],
    ['SLH-DSA-SHA2-192s', 1584],
    ['SLH-DSA-SHA2-256s', 3992],
  ])('a signer with %s costs gas in post33, and no limit is enough under post32', (scheme, gas) => {
    const size = commandSizeOf({ ...command, schemes: [scheme, 'ED25519', scheme, 'WebAuthn'] })
    const without = commandSizeOf({ ...command, schemes: ['ED25519', 'WebAuthn'] })
    expect(sizeGas(size, 'post33') - sizeGas(without, 'post33')).toBe(2 * gas)
    expect(sizeGas(without, 'post33')).toBe(sizeGas(without, 'post32'))
    expect(sizeGas(size, 'post32')).toBeGreaterThanOrEqual(2 ** 64)
    for (const model of ['pre31', 'post31'] as const) expect(sizeGas(size, model)).toBe(sizeGas(without, model))
  })
})

it.each([
  ['mainnet01', 6_510_743, 0, 'pre31'],
  ['mainnet01', 6_510_744, 0, 'post31'],
  ['mainnet01', 6_510_744, 1, 'post32'],
  ['testnet06', 639, 0, 'pre31'],
  ['testnet06', 640, 0, 'post31'],
  ['testnet06', 640, 1, 'post32'],
  ['testnet04', 5_783_986, 0, 'pre31'],
  ['testnet04', 5_783_987, 0, 'post31'],
  ['testnet04', 5_783_987, 1, 'post31'],
  ['recap-development', 691, 0, 'pre31'],
  ['recap-development', 692, 1, 'post31'],
  ['development', 0, 0, 'post32'],
  ['stoa', 516_999, 0, 'pre31'],
  ['stoa', 517_000, 0, 'post32'],
] as const)('the size of a command costs on %s at %d with fork number %d: %s', (network, height, fork, model) => {
  expect(gasModelAt(knownNetwork(network) as NetworkDefinition, height, fork)).toBe(model)
})

it('an unknown gas model is an error that names the network', () => {
  const network = { name: 'my-net', gasModels: [{ from: 5, model: 'pre31' as const }] }
  expect(() => gasModelAt(network, 4, 0)).toThrow(/"my-net": its gas model at height 4 is not known/)
})

/** newcut and the npm package `@kadena/client` make identical commands: text, hash and signature, byte for byte. */
import { createSignWithKeypair, Pact } from '@kadena/client'
import { expect, it } from 'vitest'
import { readCapability } from '../../src/client/wallet/capability.ts'
import type { Payload } from '../../src/client/wallet/command.ts'
import { type Draft, signedCommand, signingKey } from '../../src/client/wallet/keys.ts'
import { buildCrossing, buildTransfer, readAmount } from '../../src/client/wallet/transfer.ts'
import { developmentAccounts } from '../../src/ground/chain/development-accounts.ts'

const [account] = developmentAccounts
const key = signingKey(account.secretKey)
const receiver = `k:${'ab'.repeat(32)}`
const keyset = { keys: ['ab'.repeat(32)], pred: 'keys-all' }
const transfer = { from: 'sender00', to: receiver, amount: readAmount('1.5') }

type Builder = ReturnType<typeof Pact.builder.execution> | ReturnType<typeof Pact.builder.continuation>
type Capability = readonly [string, ...unknown[]]

/** The command as the client builds it. */
async function theirs(builder: Builder, capabilities: readonly Capability[]) {
  const unsigned = builder as ReturnType<typeof Pact.builder.execution>
  const withSigner =
    capabilities.length === 0
      ? unsigned.addSigner(key.publicKey)
      : unsigned.addSigner(key.publicKey, (withCapability) =>
          capabilities.map(([name, ...args]) => withCapability(name, ...(args as string[]))),
        )
  const transaction = withSigner
    .setMeta({
      chainId: '3',
      senderAccount: 'sender00',
      creationTime: 1_795_288_532,
      gasLimit: 1000,
      gasPrice: 1e-7,
      ttl: 600,
    })
    .setNonce('nonce')
    .setNetworkId('development')
    .createTransaction()
  const { publicKey, secretKey } = account
  const { cmd, hash, sigs } = await createSignWithKeypair({ publicKey, secretKey })(transaction)
  return { cmd, hash, sigs: sigs.map((each) => each?.sig) }
}

/** The same command as newcut builds it. */
function ours(payload: Payload, capabilities: Draft['signers'][number]['capabilities']) {
  const { cmd, hash, sigs } = signedCommand({
    networkId: 'development',
    chain: 3,
    payload,
    signers: [{ key, capabilities }],
    sender: 'sender00',
    gasLimit: 1000,
    gasPrice: '1e-7',
    ttl: 600,
    creationTime: 1_795_288_532,
    nonce: 'nonce',
  })
  return { cmd, hash, sigs: sigs.map(({ sig }) => sig) }
}

it('the command of a transfer equals that of @kadena/client', async () => {
  const { payload, capabilities } = buildTransfer(transfer, null)
  const code = `(coin.transfer "sender00" "${receiver}" 1.5)`
  expect(ours(payload, capabilities)).toEqual(
    await theirs(Pact.builder.execution(code), [
      ['coin.GAS'],
      ['coin.TRANSFER', 'sender00', receiver, { decimal: '1.5' }],
    ]),
  )
})

it('the command of the first step to another chain, with data, equals that of @kadena/client', async () => {
  const { payload, capabilities } = buildCrossing(transfer, keyset, 7)
  const code = `(coin.transfer-crosschain "sender00" "${receiver}" (read-keyset "receiver-guard") "7" 1.5)`
  expect(ours(payload, capabilities)).toEqual(
    await theirs(Pact.builder.execution(code).addData('receiver-guard', keyset), [
      ['coin.GAS'],
      ['coin.TRANSFER_XCHAIN', 'sender00', receiver, { decimal: '1.5' }, '7'],
    ]),
  )
})

it('the command of the second step, with a proof, equals that of @kadena/client', async () => {
  const cont = { pactId: 'H'.repeat(43), step: 1, rollback: false, proof: 'cHJvb2Y' }
  expect(ours({ ...cont, data: '{}' }, [readCapability('(coin.GAS)')])).toEqual(
    await theirs(Pact.builder.continuation({ ...cont, data: {} }), [['coin.GAS']]),
  )
})

it('a command with an unrestricted signature equals that of @kadena/client', async () => {
  expect(ours({ code: '(+ 1 2)', data: '{}' }, [])).toEqual(await theirs(Pact.builder.execution('(+ 1 2)'), []))
})

it('a command whose capabilities have values of every kind equals that of @kadena/client', async () => {
  const capability = readCapability('(free.m.CAP "a" 1 2.50 true [1 2.0] {"a": 1.5})')
  const args = ['a', { int: 1 }, { decimal: '2.50' }, true, [{ int: 1 }, { decimal: '2.0' }], { a: { decimal: '1.5' } }]
  expect(ours({ code: '1', data: '{}' }, [capability])).toEqual(
    await theirs(Pact.builder.execution('1'), [['free.m.CAP', ...args]]),
  )
})

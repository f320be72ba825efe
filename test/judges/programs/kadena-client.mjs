/** Reads, sends and moves coins between chains with `@kadena/client`, as its README does. */
import { createClient, createSignWithKeypair, getHostUrl, Pact } from '@kadena/client'
import { amountOf, attempt, host, other, sender } from './attempt.mjs'

const ROUNDS = 9
const polling = { interval: 1000 }
const client = createClient(getHostUrl(host))
const sign = createSignWithKeypair([sender, other])

const command = (code, meta, signers) =>
  signers
    .reduce(
      (builder, [key, capabilities]) =>
        builder.addSigner(key, (withCapability) => capabilities.map((each) => withCapability(...each))),
      Pact.builder.execution(code).addData('guard', { keys: [other.publicKey], pred: 'keys-all' }),
    )
    .setMeta({ chainId: '0', senderAccount: 'sender00', ...meta })
    .setNetworkId('development')
    .createTransaction()

async function transfer(round) {
  const amount = amountOf(round)
  const gas = [sender.publicKey, [['coin.GAS'], ['coin.TRANSFER', 'sender00', 'sender01', { decimal: amount }]]]
  const signed = await sign(command(`(coin.transfer "sender00" "sender01" ${amount})`, {}, [gas]))
  await attempt('preflight', () => client.preflight(signed))
  const sent = await attempt('submit', () => client.submit(signed))
  if (sent === undefined) return
  if (round % 2 === 0) await attempt('listen', () => client.listen(sent))
  else await attempt('pollStatus', () => client.pollStatus(sent, polling))
}

async function crossChain(round) {
  const amount = amountOf(round)
  const capabilities = [['coin.GAS'], ['coin.TRANSFER_XCHAIN', 'sender00', 'sender01', { decimal: amount }, '1']]
  const code = `(coin.transfer-crosschain "sender00" "sender01" (read-keyset "guard") "1" ${amount})`
  const burnt = await sign(command(code, {}, [[sender.publicKey, capabilities]]))
  const sent = await attempt('submit', () => client.submit(burnt))
  if (sent === undefined) return
  await attempt('pollOne', () => client.pollOne(sent, polling))
  const proof = await attempt('pollCreateSpv', () => client.pollCreateSpv(sent, '1', polling))
  if (proof === undefined) return
  const finish = Pact.builder
    .continuation({ pactId: sent.requestKey, step: 1, rollback: false, proof, data: {} })
    .addSigner(other.publicKey, (withCapability) => [withCapability('coin.GAS')])
    .setMeta({ chainId: '1', senderAccount: 'sender01' })
    .setNetworkId('development')
    .createTransaction()
  const minted = await attempt('submit', async () => client.submit(await sign(finish)))
  if (minted !== undefined) await attempt('pollOne', () => client.pollOne(minted, polling))
}

for (let round = 0; round < ROUNDS; round++) {
  const read = Pact.builder
    .execution(`(at "balance" (coin.details "sender0${round % 10}"))`)
    .setMeta({ chainId: '0' })
    .setNetworkId('development')
    .createTransaction()
  await attempt('dirtyRead', () => client.dirtyRead(read))
  await transfer(round)
  if (round % 3 === 0) await crossChain(round)
}

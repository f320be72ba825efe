/** Reads and sends with `pact-lang-api`, as its README does. */
import Pact from 'pact-lang-api'
import { amountOf, attempt, host, sender } from './attempt.mjs'

const ROUNDS = 14
const api = `${host}/chainweb/0.0/development/chain/0/pact`
const meta = () => Pact.lang.mkMeta('sender00', '0', 0.00000001, 2500, Math.floor(Date.now() / 1000) - 1, 28_800)
const keys = ({ publicKey, secretKey }, clist) => [{ publicKey, secretKey, clist }]

/** The library answers a refusal with its text. */
async function answered(call) {
  const answer = await call()
  if (typeof answer === 'string') throw new Error(answer)
  return answer
}

for (let round = 0; round < ROUNDS; round++) {
  const pactCode = Pact.lang.mkExp('coin.get-balance', `sender0${round % 10}`)
  const read = { networkId: 'development', keyPairs: [], meta: meta(), pactCode }
  await attempt('local', () => answered(() => Pact.fetch.local(read, api)))
  const amount = Number(amountOf(round))
  const clist = [
    { name: 'coin.GAS', args: [] },
    { name: 'coin.TRANSFER', args: ['sender00', 'sender01', amount] },
  ]
  const code = `(coin.transfer "sender00" "sender01" ${amountOf(round)})`
  const command = { networkId: 'development', keyPairs: keys(sender, clist), meta: meta(), pactCode: code, envData: {} }
  const sent = await attempt('send', () => answered(() => Pact.fetch.send(command, api)))
  if (sent === undefined) continue
  const [key] = sent.requestKeys
  if (round % 2 === 0) await attempt('listen', () => answered(() => Pact.fetch.listen({ listen: key }, api)))
  await attempt('poll', () => answered(() => Pact.fetch.poll({ requestKeys: [key] }, api)))
}

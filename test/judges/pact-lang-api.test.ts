/** The npm package `pact-lang-api`, the older client library, against the embedded node. */
import Pact from 'pact-lang-api'
import { describe, expect, it } from 'vitest'

import { until } from '../wait.ts'
import { feeOf, funded, unitsOf, withNetwork } from './network.ts'

const NETWORK = 'development'
const sender = funded('sender00')
const other = funded('sender01')
const network = withNetwork()

type Clist = readonly { readonly name: string; readonly args: readonly unknown[] }[]

const meta = (account: string, chain = '0', gasLimit = 2500) =>
  Pact.lang.mkMeta(account, chain, 1e-8, gasLimit, Math.floor(Date.now() / 1000) - 1, 600)

const keysOf = ({ publicKey, secretKey }: typeof sender, clist: Clist = [{ name: 'coin.GAS', args: [] }]) => [
  { publicKey, secretKey, clist },
]

const exec = (pactCode: string, clist?: Clist, envData: object = {}) => ({
  networkId: NETWORK,
  keyPairs: keysOf(sender, clist),
  meta: meta('sender00'),
  pactCode,
  envData,
})

/** The result of a call, which must not be a refusal. */
function answered<T>(answer: T | string): T {
  if (typeof answer === 'string') throw new Error(answer)
  return answer
}

async function sent(command: Parameters<typeof Pact.fetch.send>[0], chain = '0'): Promise<readonly string[]> {
  return answered(await Pact.fetch.send(command, network.pactOf(chain))).requestKeys
}

async function balanceOf(account: string, chain = '0'): Promise<bigint> {
  const command = { networkId: NETWORK, meta: meta('', chain), pactCode: Pact.lang.mkExp('coin.get-balance', account) }
  const { result } = answered(await Pact.fetch.local({ ...command, keyPairs: [] }, network.pactOf(chain)))
  return unitsOf(result.data)
}

const transferCaps = (amount: number): Clist => [
  { name: 'coin.GAS', args: [] },
  { name: 'coin.TRANSFER', args: ['sender00', 'sender01', amount] },
]

describe('pact-lang-api', () => {
  it('pact-lang-api makes a local call, with a signature and without', async () => {
    const answer = answered(await Pact.fetch.local(exec('(+ 1 2)'), network.pactOf('0')))
    expect(answer.result).toEqual({ status: 'success', data: { int: 3 } })
    expect(await balanceOf('sender02')).toBe(unitsOf(funded('sender02').balance))
  })

  it('pact-lang-api gets the error of a local call that fails', async () => {
    const answer = answered(await Pact.fetch.local(exec('(coin.details "nobody")'), network.pactOf('0')))
    expect(answer.result).toMatchObject({ status: 'failure', error: { message: expect.stringContaining('nobody') } })
  })

  it('pact-lang-api sends, listens and polls', async () => {
    const before = await balanceOf('sender01')
    const [key] = await sent(exec('(coin.transfer "sender00" "sender01" 4.25)', transferCaps(4.25)))
    const heard = answered(await Pact.fetch.listen({ listen: key }, network.pactOf('0')))
    expect(heard).toMatchObject({ reqKey: key, result: { status: 'success', data: 'Write succeeded' } })
    expect(await balanceOf('sender01')).toBe(before + unitsOf(4.25))
    const polled = answered(await Pact.fetch.poll({ requestKeys: [key, 'A'.repeat(43)] }, network.pactOf('0')))
    expect(polled).toEqual({ [key]: heard })
  })

  it('pact-lang-api sends several commands at once', async () => {
    const commands = [0.1, 0.2].map((amount) =>
      exec(`(coin.transfer "sender00" "sender01" ${amount})`, transferCaps(amount)),
    )
    const keys = await sent(commands)
    const results = await Promise.all(keys.map((listen) => Pact.fetch.listen({ listen }, network.pactOf('0'))))
    expect(results.map((each) => answered(each).result.status)).toEqual(['success', 'success'])
  })

  it('pact-lang-api gets a refusal of the node as a text', async () => {
    const wrongChain = { ...exec('1'), meta: meta('sender00', '5') }
    const answer = await Pact.fetch.send(wrongChain, network.pactOf('0'))
    expect(answer).toContain('One or more transactions were invalid: Transaction "')
    expect(answer).toContain('conflicts with this endpoint')
    const key = 'A'.repeat(43)
    expect(await Pact.fetch.spv({ requestKey: key, targetChainId: '1' }, network.pactOf('0'))).toBe(
      `Transaction hash not found: "${key}"`,
    )
  })

  it('pact-lang-api sends a continuation with a proof', async () => {
    const [from, to] = ['0', '5']
    const before = await balanceOf('sender01', to)
    const guard = { pred: 'keys-all', keys: [other.publicKey] }
    const caps = [
      { name: 'coin.GAS', args: [] },
      { name: 'coin.TRANSFER_XCHAIN', args: ['sender00', 'sender01', 1.5, to] },
    ]
    const code = `(coin.transfer-crosschain "sender00" "sender01" (read-keyset "guard") "${to}" 1.5)`
    const [key] = await sent(exec(code, caps, { guard }))
    const burnt = answered(await Pact.fetch.listen({ listen: key }, network.pactOf(from)))
    expect(burnt.continuation).toMatchObject({ pactId: key, step: 0 })
    const proof = await proofOf(key, to)
    const continuation = {
      type: 'cont' as const,
      networkId: NETWORK,
      keyPairs: keysOf(other),
      meta: meta('sender01', to),
      ...{ pactId: key, step: 1, rollback: false, proof },
    }
    const [second] = await sent(continuation, to)
    const minted = answered(await Pact.fetch.listen({ listen: second }, network.pactOf(to)))
    expect(minted.result).toEqual({ status: 'success', data: 'Write succeeded' })
    expect(await balanceOf('sender01', to)).toBe(before + unitsOf(1.5) - feeOf(minted.gas))
  })
})

/** Repeats the request until the target chain is high enough. */
async function proofOf(requestKey: string, targetChainId: string): Promise<string> {
  let text = ''
  await until(async () => {
    text = await Pact.fetch.spv({ requestKey, targetChainId }, network.pactOf('0'))
    return !text.startsWith('SPV target not reachable: target chain not reachable.')
  })
  return text
}

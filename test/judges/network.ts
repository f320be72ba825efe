/** A development network that mines by itself, and accounts that pay on it, for third-party clients. */
import { createSignWithKeypair } from '@kadena/client'
import { afterAll, beforeAll } from 'vitest'
import { developmentAccounts } from '../../src/ground/chain/development-accounts.ts'
import type { GraphName } from '../../src/ground/chain/graph.ts'
import type { NodeRelease } from '../../src/ground/schema/devnet-modes.ts'
import { keyPair } from '../devnet/command.ts'
import { type Devnet, startDevnet } from '../devnet/whole-node.ts'

/** Short enough that no test waits long, and long enough that twenty chains leave the machine some time. */
const BLOCK_TIME_MS = 250

/** An Ed25519 key pair in hex. */
export interface Keys {
  readonly publicKey: string
  readonly secretKey: string
}

/** An account that every development network funds. */
export function funded(name: string) {
  const found = developmentAccounts.find(({ account }) => account === name)
  if (found === undefined) throw new Error(`no account ${name}`)
  return found
}

/** A new account with one key. Its name derives from the key. */
export function newAccount(): Keys & { readonly account: string } {
  const { publicKey, secret } = keyPair()
  const { d = '' } = secret.export({ format: 'jwk' })
  const secretKey = Buffer.from(d, 'base64url').toString('hex')
  return { account: `k:${publicKey}`, publicKey, secretKey }
}

/** A function that signs commands with these keys. */
export const signing = (...keys: readonly Keys[]) =>
  createSignWithKeypair(keys.map(({ publicKey, secretKey }) => ({ publicKey, secretKey })))

/** An account in the form in which the client names a signer. */
export const partyOf = ({ account, publicKey }: { readonly account: string; readonly publicKey: string }) => ({
  account,
  publicKeys: [publicKey],
})

/** A balance in units of 10^-12 coins. Balances of many digits arrive as text, others as numbers. */
export function unitsOf(balance: unknown): bigint {
  const isText = typeof balance === 'object' && balance !== null && 'decimal' in balance
  const [whole, fraction = ''] = String(isText ? balance.decimal : balance).split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}

/** The fee for this much gas at a price of 1e-8, in units of 10^-12 coins. */
export const feeOf = (gas: number) => BigInt(gas) * 10_000n

export interface Network {
  /** `http://HOST:PORT` */
  readonly host: string
  /** The URL before `/api/v1/send`, `/spv` and so on. */
  readonly pactOf: (chain: string) => string
}

/** Starts a network for the tests of a file. Its addresses are known once the tests run. */
export function withNetwork(nodeRelease?: NodeRelease, graph: GraphName = 'petersen'): Network {
  let devnet: Devnet | undefined
  const url = () => {
    if (devnet === undefined) throw new Error('the network is not started yet')
    return devnet.url
  }
  beforeAll(async () => {
    const autoMine = { kind: 'constant', blockTimeMs: BLOCK_TIME_MS } as const
    devnet = await startDevnet({ port: 0, graph, pow: false, autoMine, nodeRelease })
  })
  afterAll(() => devnet?.close())
  return {
    get host() {
      return url()
    },
    pactOf: (chain) => `${url()}/chainweb/0.0/development/chain/${chain}/pact`,
  }
}

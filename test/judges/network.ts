/** A development network that gets its blocks by itself, and who pays on it, for clients that others have written. */
import { generateKeyPairSync } from 'node:crypto'
import { createSignWithKeypair } from '@kadena/client'
import { afterAll, beforeAll } from 'vitest'
import { developmentAccounts } from '../../src/core/development-accounts.ts'
import type { NodeRelease } from '../../src/schema/node-releases.ts'
import { type Devnet, startDevnet } from '../devnet/whole-node.ts'

/** Often enough that no test waits long, and seldom enough that twenty chains leave the machine some time. */
const BLOCK_TIME_MS = 250

/** Ed25519, hex. */
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

/** A new account with one key, which is its name. */
export function newAccount(): Keys & { readonly account: string } {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const [publicKey, secretKey] = [x, d].map((text) => Buffer.from(text, 'base64url').toString('hex'))
  return { account: `k:${publicKey}`, publicKey, secretKey }
}

/** Signs commands with these keys. */
export const signing = (...keys: readonly Keys[]) =>
  createSignWithKeypair(keys.map(({ publicKey, secretKey }) => ({ publicKey, secretKey })))

/** As clients name who signs. */
export const partyOf = ({ account, publicKey }: { readonly account: string; readonly publicKey: string }) => ({
  account,
  publicKeys: [publicKey],
})

/** A balance in the smallest units there are, 10^12 to a coin. One of many digits comes as text, others as numbers. */
export function unitsOf(balance: unknown): bigint {
  const isText = typeof balance === 'object' && balance !== null && 'decimal' in balance
  const [whole, fraction = ''] = String(isText ? balance.decimal : balance).split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}

/** What so much gas costs at 1e-8 a unit. */
export const feeOf = (gas: number) => BigInt(gas) * 10_000n

export interface Network {
  /** `http://HOST:PORT` */
  readonly host: string
  /** What comes in front of `/api/v1/send`, `/spv` and so on. */
  readonly pactOf: (chain: string) => string
}

/** Starts a network for the tests of a file. Its addresses are known once the tests run. */
export function withNetwork(nodeRelease?: NodeRelease): Network {
  let devnet: Devnet | undefined
  const url = () => {
    if (devnet === undefined) throw new Error('the network is not started yet')
    return devnet.url
  }
  beforeAll(async () => {
    const autoMine = { kind: 'constant', blockTimeMs: BLOCK_TIME_MS } as const
    devnet = await startDevnet({ port: 0, pow: false, autoMine, nodeRelease })
  })
  afterAll(() => devnet?.close())
  return {
    get host() {
      return url()
    },
    pactOf: (chain) => `${url()}/chainweb/0.0/development/chain/${chain}/pact`,
  }
}

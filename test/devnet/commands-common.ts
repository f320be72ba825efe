/** Commands over HTTP, as clients send them. */
import { expect } from 'vitest'
import type { HostMachine } from '../../src/devnet/devnet.ts'
import { type Change, funded, type KeyPair, type Signed, signed } from './command.ts'
import { type CheckedPeer, JSON_TYPE, jsonOf, PREFIX, type Started, start, startOpen } from './common.ts'
import type { Answer } from './request.ts'
import type { DevnetOptions } from './whole-node.ts'

/** Two chains with blocks on demand and one current block each, so that current commands fit into the next blocks. */
export async function startLedger(options: DevnetOptions = {}, machine: Partial<HostMachine> = {}): Promise<Started> {
  return withFirstBlocks(await start({ ...ON_DEMAND, ...options }, machine))
}

/** Like `startLedger`, for several tests. The caller closes it. */
export const startOpenLedger = async (options: DevnetOptions = {}, machine: Partial<HostMachine> = {}) =>
  withFirstBlocks(await startOpen({ ...ON_DEMAND, ...options }, machine))

const ON_DEMAND = { graph: 'pair', difficulty: undefined, autoMine: { kind: 'on-demand' } } as const

async function withFirstBlocks(started: Started): Promise<Started> {
  const { chainIds } = started.devnet.chains
  await makeBlocks(started.peer, Object.fromEntries(chainIds.map((chain) => [chain, 1])))
  return started
}

export function post(peer: CheckedPeer, path: string, body: unknown): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return peer.request('POST', path, { headers: { 'content-type': 'application/json' }, body: text })
}

export async function makeBlocks(
  peer: { readonly url: string },
  counts: Readonly<Record<number, number>>,
): Promise<void> {
  const response = await fetch(`${peer.url}/make-blocks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(counts),
  })
  expect(response.status, await response.text()).toBe(200)
}

export const pactPath = (chain: number) => `${PREFIX}/chain/${chain}/pact`
export const local = (peer: CheckedPeer, command: unknown, query = '', chain = 0) =>
  post(peer, `${pactPath(chain)}/api/v1/local${query}`, command)
export const send = (peer: CheckedPeer, commands: readonly unknown[], chain = 0) =>
  post(peer, `${pactPath(chain)}/api/v1/send`, { cmds: commands })
export const poll = (peer: CheckedPeer, requestKeys: readonly string[], query = '', chain = 0) =>
  post(peer, `${pactPath(chain)}/api/v1/poll${query}`, { requestKeys })
export const listen = (peer: CheckedPeer, key: string, chain = 0) =>
  post(peer, `${pactPath(chain)}/api/v1/listen`, { listen: key })
export const spv = (peer: CheckedPeer, body: unknown, chain = 0) => post(peer, `${pactPath(chain)}/spv`, body)

export const sendPrivately = (peer: CheckedPeer, command: unknown, chain = 0) =>
  post(peer, `${pactPath(chain)}/api/v1/private`, command)

/** The JSON of an answer that must be a success. */
export async function ok(answer: Promise<Answer>) {
  const received = await answer
  expect([received.status, received.headers['content-type']], received.body.toString()).toEqual([200, JSON_TYPE])
  return jsonOf(received)
}

/** A signed command that runs code. */
export function exec(
  code: string,
  meta: Change = {},
  change: Change = {},
  keys: readonly KeyPair[] = [funded],
): Signed {
  return signed(meta, { payload: { exec: { code, data: {} } }, ...change }, keys)
}

export type Capability = readonly [name: string, ...args: unknown[]]

/** Signs as `sender00` with these capabilities only. */
export const signers = (...clist: Capability[]) => ({
  signers: [{ pubKey: funded.publicKey, clist: clist.map(([name, ...args]) => ({ name, args })) }],
})

/** A transfer from `sender00`. */
export const transfer = (to: string, amount: number, meta: Change = {}) =>
  exec(
    `(coin.transfer "sender00" "${to}" ${amount.toFixed(1)})`,
    meta,
    signers(['coin.GAS'], ['coin.TRANSFER', 'sender00', to, amount]),
  )

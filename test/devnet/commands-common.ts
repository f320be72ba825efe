/** Commands over HTTP, as clients send them. */
import { expect } from 'vitest'
import type { HostMachine } from '../../src/devnet/devnet.ts'
import { type Change, funded, type KeyPair, type Signed, signed } from './command.ts'
import { type CheckedPeer, JSON_TYPE, jsonOf, PREFIX, type Started, sharedNode, start } from './common.ts'
import type { Answer } from './request.ts'
import type { DevnetOptions } from './whole-node.ts'

/** Two chains with blocks on demand. */
const ON_DEMAND: DevnetOptions = { graph: 'pair', difficulty: undefined, autoMine: { kind: 'on-demand' } }

/** Two chains with blocks on demand and one current block each, so that current commands fit into the next blocks. */
export async function startLedger(options: DevnetOptions = {}, machine: Partial<HostMachine> = {}): Promise<Started> {
  const started = await start({ ...ON_DEMAND, ...options }, machine)
  await makeFirstBlocks(started)
  return started
}

/** Like startLedger, for all tests of a file or of a group; see sharedNode. */
export const sharedLedger = (
  options: DevnetOptions = {},
  machine: Partial<HostMachine> = {},
  prepare: (started: Started) => Promise<void> = async () => undefined,
): (() => Promise<Started>) =>
  sharedNode({ ...ON_DEMAND, ...options }, machine, async (started) => {
    await makeFirstBlocks(started)
    await prepare(started)
  })

function makeFirstBlocks({ devnet, peer }: Started): Promise<void> {
  return makeBlocks(peer, Object.fromEntries(devnet.chains.chainIds.map((chain) => [chain, 1])))
}

export function post(peer: CheckedPeer, path: string, body: unknown): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return peer.request('POST', path, { headers: { 'content-type': 'application/json' }, body: text })
}

export async function makeBlocks(
  { url }: Pick<CheckedPeer, 'url'>,
  counts: Readonly<Record<number, number>>,
): Promise<void> {
  const response = await fetch(`${url}/make-blocks`, {
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
  expect(received.status, received.body.toString()).toBe(200)
  expect(received.headers['content-type'], received.body.toString()).toBe(JSON_TYPE)
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

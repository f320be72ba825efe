/** Shared parts of the tests of the control endpoints. */
import { expect } from 'vitest'
import { jsonOf, type Started } from './common.ts'
import { type Answer, Peer } from './request.ts'

const COMMON_HEADERS = /^(x-peer-addr|x-server-timestamp|x-chainweb-node-version)$/

/** A POST with a JSON body, as testers send it. */
export async function post(peer: Peer, path: string, body: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const answer = await peer.request('POST', path, { headers, body: JSON.stringify(body) })
  expect(Object.keys(answer.headers).filter((name) => COMMON_HEADERS.test(name))).toHaveLength(3)
  // No web page may read answers of control endpoints.
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  return answer
}

/** The JSON of an answer that must be a success. */
export async function order(peer: Peer, path: string, body: unknown) {
  const answer = await post(peer, path, body)
  const text = answer.body.toString()
  expect(answer.status, text).toBe(200)
  expect(answer.headers['content-type'], text).toBe('application/json;charset=utf-8')
  return jsonOf(answer)
}

/** Status and text of a refusal. */
export async function refusal(peer: Peer, path: string, body: unknown): Promise<[number, string]> {
  const { status, headers, body: text } = await post(peer, path, body)
  expect(headers['content-type']).toBe('text/plain;charset=utf-8')
  return [status, text.toString()]
}

export const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)

/**
 * A node that several tests share; each call rewinds it to its state at the first call: chains, pools, rules and clock.
 * Blocks of earlier tests stay in its store, on branches that were left.
 */
export function rewound<T extends Pick<Started, 'devnet' | 'additions'>>(shared: () => Promise<T>): () => Promise<T> {
  let id: number | undefined
  return async () => {
    const started = await shared()
    const peer = new Peer(started.devnet.url)
    try {
      // A revert also drops the snapshot.
      if (id !== undefined) await order(peer, '/devnet/revert', { id })
      id = (await order(peer, '/devnet/snapshot', {})).id
    } finally {
      peer.close()
    }
    started.additions.length = 0
    return started
  }
}

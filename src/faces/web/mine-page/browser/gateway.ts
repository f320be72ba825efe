/** Client of the gateway (../gateway.ts): the node's mining API in forms that browsers can send. */
import { decodeWorkResponse, type Work } from '#ground/chain/work.ts'
import type { MinerBody } from '#ground/schema/bodies.ts'
import type { AboutNetwork, SolutionEnd } from '../wire.ts'

/** An answer with an error status. */
export class GatewayRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** No answer arrived. */
export class Unreachable extends Error {}

/** Whether a retry may succeed. False if the node or the gateway judged the request. */
export function mayPass(error: unknown): boolean {
  return !(error instanceof GatewayRefusal) || error.status >= 500 || [404, 408, 429].includes(error.status)
}

const ANSWER_MS = 10_000
/** Timeout of a verdict; the gateway follows a solution for at most a minute. */
const VERDICT_MS = 75_000

export async function about(signal: AbortSignal): Promise<AboutNetwork> {
  return (await send('/mine/about', { signal: withLimit(signal, ANSWER_MS) })).json()
}

export async function fetchShader(signal: AbortSignal): Promise<string> {
  return (await send('/mine/search.wgsl', { signal: withLimit(signal, ANSWER_MS) })).text()
}

/**
 * Requests work for an account.
 * @param chain suggested chain, which the node may ignore
 * @throws FormatError for malformed work
 */
export async function fetchShareWork(account: MinerBody, chain: number | null, signal: AbortSignal): Promise<Work> {
  const answer = await send(chain === null ? '/mine/work' : `/mine/work?chain=${chain}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
    signal: withLimit(signal, ANSWER_MS),
  })
  return decodeWorkResponse(new Uint8Array(await answer.arrayBuffer()))
}

/** Submits a solution and resolves with its result. The request continues even after the visitor stops mining. */
export async function postSolution(bytes: Uint8Array<ArrayBuffer>): Promise<SolutionEnd> {
  const headers = { 'content-type': 'application/octet-stream' }
  const signal = AbortSignal.timeout(VERDICT_MS)
  return (await send('/mine/solved', { method: 'POST', headers, body: bytes, signal })).json()
}

function withLimit(signal: AbortSignal, limitMs: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
}

/**
 * Sends a request.
 * @throws GatewayRefusal or Unreachable
 */
async function send(path: string, request: RequestInit): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(path, request)
  } catch (error) {
    throw new Unreachable('the node does not answer', { cause: error })
  }
  if (answer.ok) return answer
  throw new GatewayRefusal(answer.status, (await answer.text()).slice(0, 300) || `status ${answer.status}`)
}

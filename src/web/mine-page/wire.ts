/** What the gateway answers to the page at /mine, as JSON. */
import type { SettledVerdict } from '../../core/solution.ts'
import type { MinerBody } from '../../schema/bodies.ts'

/** `GET /mine/about`: what the page shows of the network. */
export interface AboutNetwork {
  readonly network: string
  readonly chains: number
  /** Who is paid unless the visitor names another account. */
  readonly account: MinerBody
}

/** `POST /mine/solved`: what became of a solution. */
export interface SolutionEnd {
  readonly verdict: SettledVerdict
  readonly chain: number
  readonly height: number
  /** Hash of the block, base64url. */
  readonly hash: string
  /** Why it was rejected or is lost. */
  readonly reason?: string
  readonly message?: string
}

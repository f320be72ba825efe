/** The gateway's answers to the mining page, as JSON. */
import type { SettledVerdict } from '#ground/chain/solution.ts'
import type { MinerBody } from '#ground/schema/bodies.ts'

/** `GET /mine/about`: the network for the page to show. */
export interface AboutNetwork {
  readonly network: string
  readonly chains: number
  /** Default account that block rewards go to. */
  readonly account: MinerBody
  /** Other accounts to choose from. */
  readonly accounts: readonly MinerBody[]
}

/** `POST /mine/solved`: the result of a solution. */
export interface SolutionEnd {
  readonly verdict: SettledVerdict
  readonly chain: number
  readonly height: number
  /** Hash of the block, base64url. */
  readonly hash: string
  /** Why it was rejected or lost. */
  readonly reason?: string
  readonly message?: string
}

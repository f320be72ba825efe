/** Remembers which node gave which work, and for which account. Only that node knows the payload. */

import type { NodeClient } from '#client/node/client.ts'
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { WorkFields } from '#ground/chain/header.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'

/** Limit of remembered work. A page requests work every few seconds, and nodes forget it after 5 minutes. */
const MAX_KNOWN = 4_096

export interface Issue {
  readonly client: NodeClient
  readonly account: MinerAccount
}

export class Issuers {
  /** Chain and payload hash -> issuer, oldest first. */
  readonly #known = new Map<string, Issue>()

  remember(issue: Issue, work: WorkFields): void {
    const key = keyOf(work)
    this.#known.delete(key)
    this.#known.set(key, issue)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_KNOWN) this.#known.delete(oldest)
  }

  /** @returns the issuer of the work, or null if it is not remembered */
  issueOf(work: WorkFields): Issue | null {
    return this.#known.get(keyOf(work)) ?? null
  }
}

const keyOf = ({ chainId, payloadHash }: WorkFields) => `${chainId} ${encodeBase64Url(payloadHash)}`

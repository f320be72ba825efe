/** Control requests about commands: dropping pending ones, and impersonation of signers. */
import type { DropRequest, DropResult } from '#ground/schema/control-commands.ts'
import { impersonatedKey } from '#ground/schema/control-commands.ts'
import type { Coordinator } from '../../work/coordinator.ts'
import { RequestRefused } from '../refusal.ts'

/** Maximum characters of a wrong key that a refusal repeats. */
const MAX_SHOWN = 80

/** Drops pending transactions, also from blocks that are under construction. @throws RequestRefused */
export function dropTransactions(coordinator: Coordinator, { requestKeys, all }: DropRequest): DropResult {
  if ((requestKeys === undefined) === (all === undefined)) {
    throw new RequestRefused(400, 'expected either requestKeys or "all": true')
  }
  const dropped = coordinator.pools.drop(requestKeys ?? null)
  for (const chain of dropped.keys()) coordinator.drafts.restart(chain)
  // A solution of work that was handed out before would put them into a block.
  if (dropped.size > 0) coordinator.renewWork()
  const gone = new Set([...dropped.values()].flat())
  return {
    dropped: Object.fromEntries(dropped),
    notPending: [...new Set(requestKeys ?? [])].filter((key) => !gone.has(key)),
  }
}

/** Reads keys of an order. @throws RequestRefused */
export function impersonatedKeys(texts: readonly string[]): string[] {
  return texts.map((text, i) => {
    const key = impersonatedKey(text)
    if (key !== null) return key
    const shown = JSON.stringify(text.slice(0, MAX_SHOWN))
    const expected = 'expected a public key (64 hex digits in lower case), an account k:KEY, or * for every key'
    throw new RequestRefused(400, `/keys/${i}: ${shown}: ${expected}`)
  })
}

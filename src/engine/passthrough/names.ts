/** The name of a rig's worker, as the pool is told it. */
import { difficultyBehindUser } from '../stratum/hints.ts'

const MAX_NAME = 32

/**
 * What a rig calls itself behind the first dot of its user, or its whole user where that is no account; null: nothing.
 * Characters that pools may refuse are replaced.
 */
export function workerNameFor(text: string): string | null {
  const { user } = difficultyBehindUser(text)
  const dot = user.indexOf('.')
  if (dot < 0 && (user.includes(':') || user.length > MAX_NAME)) return null
  const name = user
    .slice(dot + 1)
    .slice(0, MAX_NAME)
    .replace(/[^\w-]/g, '_')
  return name === '' ? null : name
}

/** Programs that take another nonce1 without a new log-in, besides those that say so. `agent`: what they call themselves. */
export const changesNonce1 = (agent: string): boolean => /godminer|ckbminer|kdaminer|goldshell|bfgminer/i.test(agent)

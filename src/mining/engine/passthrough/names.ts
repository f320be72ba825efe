/** Names of rigs' workers at the pool. */
import { difficultyAfterUser } from '../stratum/hints.ts'

/** Maximum length of a worker name: it is a part of the user name at the pool. */
const MAX_NAME = 32

/**
 * The worker name of a rig: the text after the first dot of its user, or the whole user if that is not an account.
 * Replaces characters that pools may refuse.
 * @returns null if there is no name
 */
export function workerNameFor(text: string): string | null {
  const { user } = difficultyAfterUser(text)
  const dot = user.indexOf('.')
  if (dot < 0 && (user.includes(':') || user.length > MAX_NAME)) return null
  const name = user
    .slice(dot + 1)
    .slice(0, MAX_NAME)
    .replace(/[^\w-]/g, '_')
  return name === '' ? null : name
}

/**
 * Whether a rig accepts a new nonce1 without a new log-in, judging by its program. Rigs can also announce it.
 * @param agent name that the program reports
 */
export const changesNonce1 = (agent: string): boolean => /godminer|ckbminer|kdaminer|goldshell|bfgminer/i.test(agent)

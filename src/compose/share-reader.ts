/** Reads shares for reports and payouts: from the share log of a stopped miner, a running miner, or a fleet. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#ground/base/clock.ts'
import { operatingError } from '#ground/base/errors.ts'
import { packageVersion } from '#ground/platform/version.ts'
import { FleetShareReader } from '#mining/accounts/fleet-reader.ts'
import { HttpShareReader } from '#mining/accounts/http-reader.ts'
import { LevelStore } from '#mining/accounts/level-store.ts'
import type { ShareReader } from '#mining/accounts/share-store.ts'
import type { LinkSetup } from '#mining/fleet/link.ts'
import { composeErrors } from './errors.ts'
import { SHARES_FOLDER } from './search/shares.ts'

/** `folder` is the state folder of the miner. */
export type ShareSource =
  | {
      readonly kind: 'state'
      readonly folder: string
      readonly network: string
      readonly onWarning: (message: string) => void
    }
  | { readonly kind: 'miner'; readonly url: string; readonly token: string | undefined }
  | { readonly kind: 'fleet'; readonly server: LinkSetup; readonly onWarning: (message: string) => void }

/**
 * Opens a reader of shares. If a running miner does not answer, the first read fails.
 * @throws NewcutError BAD_INPUT if there is no share log, DATA_UNUSABLE if it is in use, of another network, or damaged,
 * and the errors of FleetShareReader
 */
export async function openShareReader(source: ShareSource, clock: Clock, stopped: AbortSignal): Promise<ShareReader> {
  if (source.kind === 'miner') return new HttpShareReader({ url: source.url, token: source.token, stopped })
  if (source.kind === 'fleet') {
    const { server, onWarning } = source
    const shared = { agent: `newcut/${packageVersion}`, clock, random: Math.random, onWarning }
    return await FleetShareReader.open({ ...server, ...shared }, stopped)
  }
  const folder = join(source.folder, SHARES_FOLDER)
  if (!existsSync(folder)) {
    throw operatingError(composeErrors.noShareLog, { folder: source.folder })
  }
  try {
    return await LevelStore.open({ folder, network: source.network, clock, onWarning: source.onWarning })
  } catch (error) {
    if (!isLocked(error)) throw error
    throw operatingError(composeErrors.shareLogInUse, { folder })
  }
}

function isLocked(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ((at as { readonly code?: string }).code === 'LEVEL_LOCKED') return true
  }
  return false
}

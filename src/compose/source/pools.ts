/** Connects to pools as the source of a miner. */

import { systemClock } from '#ground/platform/clock.ts'
import { packageVersion } from '#ground/platform/version.ts'
import { DEFAULT_RIGS_OF_POOL } from '#mining/engine/stratum/limits.ts'
import { PoolSource } from '#mining/source/pool/pool-source.ts'
import { OpenRigPoolSessions } from '#mining/source/pool/rig-pool-sessions.ts'
import type { PoolsSetup } from '../setup.ts'
import { type ConnectedSource, FAILBACK_MS } from './connected-source.ts'
import { applyStartPolicy } from './start-policy.ts'

/** Name in place of the network, which pools do not report. */
const POOL_NETWORK = 'pool'

/**
 * Waits for the first pool that gives work.
 * @throws NewcutError, or the signal's reason
 */
export async function connectPools(
  { pools, trust, failbackMs = FAILBACK_MS, sessions = DEFAULT_RIGS_OF_POOL, ...reaching }: PoolsSetup,
  onWaiting: (message: string) => void,
  signal: AbortSignal,
): Promise<ConnectedSource> {
  const about = { agent: `newcut/${packageVersion}`, clock: systemClock, random: Math.random }
  const source = await applyStartPolicy(reaching, 'no pool gave work', { onWaiting, signal }, (onTrouble, ends) =>
    PoolSource.reach({ pools, trust, ...about, failbackMs }, onTrouble, ends),
  )
  const [{ user: payee }] = pools
  const close = async () => source.close()
  const rigLines = (workBytes: number) =>
    new OpenRigPoolSessions({ pools: source, trust, ...about, most: sessions, workBytes })
  return { source, choice: null, network: POOL_NETWORK, payee, node: null, rigLines, attach: () => undefined, close }
}

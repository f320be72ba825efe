/** Joins a fleet as the source of a miner: this machine becomes one of its rigs. */
import { randomUUID } from 'node:crypto'
import { failedOf } from '#ground/chain/solution.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { packageVersion } from '#ground/platform/version.ts'
import { FleetLink } from '#mining/fleet/link.ts'
import type { RelayStatistics } from '#mining/fleet/messages.ts'
import type { Miner } from '#mining/mine/miner.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import { FleetSource, type MemberCallbacks } from '#mining/source/fleet/fleet-source.ts'
import type { FleetRigSetup } from '../setup.ts'
import type { ConnectedSource } from './connected-source.ts'
import { applyStartPolicy } from './start-policy.ts'

/**
 * Waits for the leader of the fleet.
 * @param isRelay whether stratum rigs connect to this process
 * @throws NewcutError, or the signal's reason.
 */
export function joinFleet(
  { link: server, rig, ...reaching }: FleetRigSetup,
  isRelay: boolean,
  onWaiting: (message: string) => void,
  signal: AbortSignal,
): Promise<ConnectedSource> {
  const shared = { clock: systemClock, random: Math.random }
  const what = 'no leader of the fleet gave work'
  return applyStartPolicy(reaching, what, { onWaiting, signal }, async (onTrouble, ends) => {
    const agent = `newcut/${packageVersion}`
    const link = await FleetLink.open({ ...server, agent, ...shared }, reaching.failFast ? null : onWaiting, ends)
    try {
      const names = { fleet: server.fleet, rig, version: packageVersion, session: randomUUID(), isRelay }
      const source = await FleetSource.join({ link, ...names, ...shared }, onTrouble, ends)
      const { network, account: payee } = source.payee
      const close = () => {
        source.close()
        return link.close()
      }
      const attach = (miner: Miner) => source.attach(rigCallbacks(miner))
      const fleetShares = isRelay ? { link, relay: rig } : undefined
      return { source, choice: null, network, payee, node: null, fleetShares, attach, close }
    } catch (error) {
      await link.close()
      throw error
    }
  })
}

/** Connects the miner to its leader: reports its figures, and obeys pauses. */
export function rigCallbacks(miner: Miner): MemberCallbacks {
  const figures = () => {
    const snapshot = miner.snapshot()
    const { hashes, hashrates, paused, pauses, idleReason, solutions, hardwareErrors } = snapshot
    const { watts, joules, hashrate, unread } = snapshot.energy
    const reason = paused ? (pauses[0]?.text ?? null) : idleReason
    const state = paused ? 'paused' : reason === null ? 'searching' : 'idle'
    const counts = { accepted: solutions.accepted, refused: failedOf(solutions), hardwareErrors }
    return {
      hashes,
      rate: hashrates['10s'],
      state,
      reason: reason?.slice(0, 200) ?? null,
      ...counts,
      energy: { watts, joules, hashrate, unread },
      relay: relayFigures(snapshot),
    } as const
  }
  let held: string | null = null
  const hold = (text: string | null) => {
    if (text !== held) miner.hold('fleet', text)
    held = text
  }
  return { figures, hold, hashes: () => miner.hashes }
}

/** @returns undefined without a stratum server */
function relayFigures({ rigs, devices }: Pick<Snapshot, 'rigs' | 'devices'>): RelayStatistics | undefined {
  if (rigs === undefined) return undefined
  const rates = devices.flatMap(({ engine, hashrates }) => (engine === 'rigs' ? (hashrates['10s'] ?? []) : []))
  return { rigs: rigs.sessions, rate: rates.length === 0 ? null : rates.reduce((sum, rate) => sum + rate, 0) }
}

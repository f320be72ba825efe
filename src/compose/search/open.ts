/** Opens the search of a miner: its first engines, the stratum server, the leader of a fleet. */

import { encodeBase64Url } from '#ground/base/bytes.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import type { Engine } from '#mining/engine/engine.ts'
import type { Leader } from '#mining/engine/leader.ts'
import type { RigHost } from '#mining/engine/rigs.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import type { Miner } from '#mining/mine/miner.ts'
import type { UnfinishedSolution } from '#mining/mine/solution-steps.ts'
import type { MiningRecord } from '../record.ts'
import type { RunEnd } from '../run-end.ts'
import type { MinerSetup } from '../setup.ts'
import type { ConnectedSource } from '../source/connected-source.ts'
import { Engines, listenForRigs } from './engines.ts'

export interface OpenedSearch {
  readonly engines: Engines
  readonly first: readonly Engine[]
  /** `HOST:PORT` of the stratum server, or null without one. */
  readonly rigsAddress: string | null
  /** The stratum server, if any. */
  readonly rigs: RigHost | undefined
  /** `HOST:PORT` for newcut proxies, or null. */
  readonly proxiesAddress: string | null
  /** Passes verdicts of solutions to the leader of a fleet. */
  readonly onEvent: (event: MinerEvent) => void
  /** Connects the leader of a fleet to the miner, before the miner runs. */
  readonly attach: (miner: Pick<Miner, 'adopt'>, of: MinerContext) => void
  /** Announces unsettled solutions of earlier runs to the leader. */
  readonly expect: (unfinished: readonly UnfinishedSolution[]) => void
}

interface MinerContext {
  readonly reached: Pick<ConnectedSource, 'network' | 'payee'> & Partial<Pick<ConnectedSource, 'node'>>
  readonly record: Pick<MiningRecord, 'unfinished'>
  readonly show: (event: MinerEvent) => void
}

/**
 * Opens the search.
 * @throws NewcutError BAD_OPTION if nothing would search, PORT_BUSY if the stratum port is in use
 */
export async function openSearch(
  search: MinerSetup['search'],
  { source, network, rigLines, fleetShares }: Pick<ConnectedSource, 'source' | 'network' | 'rigLines' | 'fleetShares'>,
  end: RunEnd,
): Promise<OpenedSearch> {
  const engines = new Engines(source.workBytes, end.stopped, { network, fleet: fleetShares }, rigLines)
  const { coming, rigs: host, leader, commit: done } = await engines.replacementFor(search)
  done()
  const rigs = await listenForRigs(host)
  end.onClose(async () => rigs?.close())
  return {
    engines,
    first: coming,
    rigsAddress: rigs?.address ?? null,
    rigs: host,
    proxiesAddress: rigs?.proxies ?? null,
    ...leaderCallbacks(leader, host),
  }
}

/**
 * Callbacks that connect the fleet leader and the stratum server to the miner. They do nothing where there are none.
 */
export function leaderCallbacks(
  leader: Leader | undefined,
  host?: RigHost,
): Pick<OpenedSearch, 'onEvent' | 'attach' | 'expect'> {
  return {
    onEvent: (event) => {
      if (event.type === 'solution') leader?.recordStep(event)
    },
    attach: (miner, { reached: { network, payee: account, node }, record, show }) => {
      host?.setNoticeListener(show)
      leader?.attach({
        network,
        account,
        unfinished: hashesOf(record.unfinished),
        silentMs: () => node?.silentMs() ?? 0,
        adopt: (solution) => miner.adopt(solution),
        onLeader: (status) => show({ type: 'fleet', ...status }),
      })
    },
    expect: (unfinished) => leader?.expect(hashesOf(unfinished)),
  }
}

/** Block hashes in base64url. */
function hashesOf(unfinished: readonly UnfinishedSolution[]): string[] {
  return unfinished.map(({ bytes }) => encodeBase64Url(blockHash(bytes)))
}

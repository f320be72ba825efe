/** Connects to the source of work. The modules of each kind load only when needed. */
import type { MinerSetup } from '../setup.ts'
import type { ConnectedSource } from './connected-source.ts'

/**
 * Waits for the first node that answers, the first pool that gives work, or the leader of a fleet.
 * @param onWaiting called with the reason for waiting
 * @throws NewcutError, or the signal's reason.
 */
export async function connectSource(
  { source, search }: MinerSetup,
  onWaiting: (message: string) => void,
  signal: AbortSignal,
): Promise<ConnectedSource> {
  switch (source.kind) {
    case 'nodes':
      return (await import('./nodes.ts')).connectNodeSource(source, onWaiting, signal)
    case 'embedded':
      return (await import('./embedded.ts')).connectEmbedded(source, search, signal)
    case 'pools':
      return (await import('./pools.ts')).connectPools(source, onWaiting, signal)
    case 'fleet':
      return (await import('./fleet.ts')).joinFleet(
        source,
        'stratum' in search && search.stratum !== undefined,
        onWaiting,
        signal,
      )
  }
}

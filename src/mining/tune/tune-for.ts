/** Applies `--tune-for` to the search of a miner. Modules that measure load only for efficiency. */
import type { MinerEvent } from '../mine/events.ts'
import { problemText, readPackages } from '../sensors/powercap.ts'
import type { PowerSources } from './efficiency.ts'
import type { EnginesFor, TunableSearch } from './own-search.ts'

/** Applies what was chosen at the start to a search, except to settings of the user. */
export type SearchTuning = <Search extends TunableSearch>(search: Search) => Search

/** Where to read power, and how to try settings. */
export interface TuningPorts {
  readonly places: PowerSources | undefined
  readonly workBytes: number
  readonly enginesFor: EnginesFor
  readonly onEvent: (event: MinerEvent) => void
  readonly stopped: AbortSignal
}

/**
 * Chooses the settings for efficiency. For speed, searches stay as they are.
 * @throws NewcutError BAD_OPTION if the energy cannot be read, and the signal's reason when stopped
 */
export async function tuneSearch(search: TunableSearch, { onEvent, ...ports }: TuningPorts): Promise<SearchTuning> {
  if (search.kind !== 'own' || search.efficiency === undefined) return (next) => next
  const [{ chooseSettings: chosenFor }, { applySettings: withChosen }] = await Promise.all([
    import('./efficient-search.ts'),
    import('./efficiency.ts'),
  ])
  const tell = (message: string) => onEvent({ type: 'notice', message })
  const chosen = await chosenFor(search, search.efficiency, { ...ports, tell })
  return (next) =>
    next.kind === 'own' && next.efficiency !== undefined ? { ...next, ...withChosen(next, chosen) } : next
}

/**
 * Says which package a graphics card of this machine lacks, if the user left the choice of GPUs to newcut.
 * @param workBytes length of the work: GPUs search some networks only
 */
export async function noticeIdleCard(
  search: TunableSearch,
  { workBytes, onEvent }: Pick<TuningPorts, 'workBytes' | 'onEvent'>,
): Promise<void> {
  if (search.kind !== 'own' || search.gpu?.which !== 'auto') return
  const [{ gpuSearches }, { packageAdvice }] = await Promise.all([
    import('../engine/gpu/gpu.ts'),
    import('../engine/gpu/adapters.ts'),
  ])
  const message = gpuSearches(workBytes) ? packageAdvice().notice : null
  if (message !== null) onEvent({ type: 'notice', message })
}

/**
 * Checks that the energy of the processor can be read if a search needs it.
 * @throws NewcutError BAD_OPTION if it cannot
 */
export async function checkTuning(search: TunableSearch, places: PowerSources | undefined): Promise<void> {
  if (search.kind !== 'own' || search.efficiency === undefined || search.threads === 0) return
  const counters = await readPackages(places?.powercap ?? '')
  if (!('problem' in counters)) return
  const { unreadableError } = await import('./efficiency.ts')
  throw unreadableError(problemText(counters))
}

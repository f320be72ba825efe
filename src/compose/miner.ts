/** Runs a miner: connects to the source, opens search, journal and HTTP, mines, and closes everything at the end. */
import type { ApiServer } from '#faces/api/server.ts'
import { systemClock } from '#ground/platform/clock.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import { Miner } from '#mining/mine/miner.ts'
import { Money } from '#mining/mine/money.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import { checkTuning, noticeIdleCard, type SearchTuning, type TuningPorts, tuneSearch } from '#mining/tune/tune-for.ts'
import { changerOf, type LiveSetup } from './change.ts'
import { forecastOf } from './forecast.ts'
import { checkPausing, PauseController } from './pausing.ts'
import { checkPayee } from './payee.ts'
import { openPower, type PowerMonitor } from './power.ts'
import { type MiningRecord, openRecord } from './record.ts'
import { RunEnd } from './run-end.ts'
import { enginesFor } from './search/engines.ts'
import { type OpenedSearch, openSearch } from './search/open.ts'
import { openServers, type Servers } from './servers.ts'
import type { MinerSetup } from './setup.ts'
import { connectSource } from './source/connect-source.ts'
import type { ConnectedSource, NodeAccess } from './source/connected-source.ts'

/** Reported once, before mining starts. */
export interface MinerStart {
  readonly miner: Pick<Miner, 'snapshot' | 'paused' | 'pause' | 'resume'>
  /**
   * Applies another setup to the running miner.
   * @throws NewcutError if that is impossible; nothing has changed then
   */
  readonly change: (next: LiveSetup) => Promise<void>
  /** Description of the source of work, and the paid account, for people. */
  readonly source: string
  readonly payee: string
  /** The node of the work, or null for pools and fleets. */
  readonly node: Pick<NodeAccess, 'client' | 'account' | 'embedded'> | null
  readonly api: ApiServer | null
  /** The journal's folder and its number of unsettled solutions of earlier runs, or null without a journal. */
  readonly journal: { readonly folder: string; readonly unfinished: number } | null
  /** `HOST:PORT` of the stratum server, or null without one. */
  readonly rigsAddress: string | null
  /** `HOST:PORT` for newcut proxies, or null. */
  readonly proxiesAddress: string | null
  /** URL of the mining page, or null if it is not served. */
  readonly pageUrl: string | null
}

/** Receives the miner's events and the start, and stops it by a signal. */
interface MinerPorts {
  readonly onEvent: (event: MinerEvent) => void
  readonly onStart?: (start: MinerStart) => void
  readonly stopped: AbortSignal
}

type Receiver = (event: MinerEvent) => void

/**
 * Mines until the miner is stopped or has reached its limits.
 * @throws NewcutError
 */
export async function runMiner(setup: MinerSetup, { onEvent, onStart, stopped }: MinerPorts): Promise<Snapshot> {
  await checkSetup(setup)
  const receivers: Receiver[] = []
  const show: Receiver = (event) => {
    for (const receive of receivers) receive(event)
  }
  const end = new RunEnd(stopped)
  try {
    const reached = await connectSource(setup, (message) => onEvent({ type: 'trouble', message }), stopped)
    end.onClose(reached.close)
    const tuned = await tuneSearch(setup.search, tuningOf(setup, { reached, end, onEvent }))
    const search = await openSearch(tuned(setup.search), reached, end)
    const record = await openRecord(setup, reached, { onEvent, show, end })
    const power = powerOf(setup, { search, end })
    const money = moneyOf(setup, { reached, record, end, onEvent })
    const miner = minerOf(setup, { reached, search, power, money, show })
    const servers = await openServers(setup, { miner, reached, search, record, end, onEvent })
    receivers.push(...receiversOf({ record, search, servers, onEvent }), profitReporter(show))
    const pauses = new PauseController(miner, systemClock, end.over)
    onStart?.(startOf(setup, { miner, reached, search, record, servers, pauses, power, money, tuned }))
    await noticeIdleCard(setup.search, { workBytes: reached.source.workBytes, onEvent })
    pauses.set(setup.pausing ?? {})
    search.attach(miner, { reached, record, show })
    reached.attach(miner)
    miner.resumeUnfinished(record.unfinished)
    recoverLateSolutions(miner, { record, search, end })
    return await runOf(miner, end)
  } finally {
    await end.close()
  }
}

/**
 * The receivers of an event, in order. The journal precedes the leader of a fleet, which acknowledges to JetStream only
 * what the journal has. Rewards come last because they raise events themselves.
 */
export function receiversOf({ record, search, servers, onEvent }: EventReceivers): readonly Receiver[] {
  return [record.onEvent, onEvent, search.onEvent, servers.onEvent, record.onConfirmed]
}

interface EventReceivers {
  readonly record: Pick<MiningRecord, 'onEvent' | 'onConfirmed'>
  readonly search: Pick<OpenedSearch, 'onEvent'>
  readonly servers: Pick<Servers, 'onEvent'>
  readonly onEvent: Receiver
}

/**
 * Returns a listener for the miner's events. It reports the profit with the first `speed` event, when the hashrate is
 * known, and again after a change of prices. Without prices it reports nothing.
 */
export function profitReporter(show: (event: MinerEvent) => void): (event: MinerEvent) => void {
  let told: string | null = null
  return (event) => {
    if (event.type !== 'speed') return
    const { profit, hashrates } = event.snapshot
    if (profit === undefined || profit.currency === null || !hashrates['10s']) return
    const prices = `${profit.coinPrice} ${profit.powerPrice} ${profit.currency}`
    if (prices === told) return
    told = prices
    show({ type: 'profit', profit })
  }
}

/**
 * Checks the setup without the network.
 * @throws NewcutError BAD_OPTION
 */
export async function checkSetup({ source, search, sensors, pausing = {} }: MinerSetup): Promise<void> {
  if ('payee' in source) checkPayee(source.payee)
  await checkTuning(search, sensors)
  await checkPausing(pausing)
}

interface RunParts {
  readonly miner: Miner
  readonly reached: ConnectedSource
  readonly search: OpenedSearch
  readonly record: MiningRecord
  readonly servers: Servers
  readonly pauses: PauseController
  readonly power: PowerMonitor
  readonly money: Money
  readonly tuned: SearchTuning
  readonly end: RunEnd
  readonly show: Receiver
}

function tuningOf({ sensors: places }: MinerSetup, { reached, end, onEvent }: TuningParts): TuningPorts {
  const { workBytes } = reached.source
  return { places, workBytes, enginesFor: enginesFor(end.wanted), onEvent, stopped: end.wanted }
}

interface TuningParts extends Pick<RunParts, 'reached' | 'end'> {
  readonly onEvent: Receiver
}

function moneyOf({ source, prices }: MinerSetup, { reached: { node }, record, end, onEvent }: MoneyParts): Money {
  const payer = source.kind === 'pools' ? 'pool' : source.kind === 'fleet' ? 'leader' : 'chain'
  const ports = { clock: systemClock, onEvent, stopped: end.over, onFault: end.fault }
  const rewardAt = node === null ? undefined : forecastOf(node.client, ports)
  return new Money({ payer, earnings: record.earnings, prices, rewardAt })
}

interface MoneyParts extends TuningParts, Pick<RunParts, 'record'> {}

function powerOf({ sensors, power = {} }: MinerSetup, { search, end }: Pick<RunParts, 'search' | 'end'>): PowerMonitor {
  const hasCards = () => search.engines.running.some(({ name }) => name === 'gpu')
  const opened = openPower(sensors, power, hasCards)
  end.onClose(async () => opened.stop())
  return opened
}

function minerOf(
  { limits }: MinerSetup,
  {
    reached: { source },
    search,
    power,
    money,
    show,
  }: Pick<RunParts, 'reached' | 'search' | 'power' | 'money' | 'show'>,
): Miner {
  const readServerParts = () => ({ ...search.engines.status(), money })
  const options = { source, engines: search.first, clock: systemClock, onEvent: show }
  return new Miner({ ...options, ...limits, power, serverParts: readServerParts })
}

function startOf(setup: MinerSetup, parts: Omit<RunParts, 'end' | 'show'>): MinerStart {
  const { miner, reached, search, record, servers, pauses, power, money, tuned } = parts
  const { state, unfinished } = record
  const { engines, rigsAddress, proxiesAddress } = search
  return {
    miner,
    change: changerOf({ miner, engines, reached, setup, pauses, power, money, tuned, setToken: servers.setToken }),
    source: reached.source.description,
    payee: reached.payee,
    node: reached.node,
    api: servers.api,
    journal: state && { folder: state.folder, unfinished: unfinished.length },
    rigsAddress,
    proxiesAddress,
    pageUrl: servers.pageUrl,
  }
}

/** Takes up the solutions of an unreadable journal once it becomes readable. */
function recoverLateSolutions(
  miner: Miner,
  { record, search, end }: Pick<RunParts, 'record' | 'search' | 'end'>,
): void {
  const taken = record.state?.readLater(end.over).then((unfinished) => {
    search.expect(unfinished)
    miner.resumeUnfinished(unfinished)
  })
  taken?.catch(end.fault)
}

async function runOf(miner: Miner, end: RunEnd): Promise<Snapshot> {
  const snapshot = await miner.run(end.wanted)
  end.throwIfFaulted()
  return snapshot
}

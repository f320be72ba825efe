/**
 * Prometheus metrics of a miner. Names and labels are public: dashboards depend on them. docs/METRICS.md is made from the
 * help texts here and the groups in scripts/docs/metric-groups.ts. A scrape removes the series of devices that have left. The
 * `newcut_miner_` totals keep their counts; rate() would read hashes moved to another series as a burst.
 */
import { stepNames, verdictOf, verdicts } from '#ground/chain/solution.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import { pauseCauses } from '#mining/mine/pauses.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import { shareVerdicts } from '#mining/stratum/messages.ts'
import { HardwareMetrics } from './hardware-metrics.ts'
import { MoneyMetrics } from './money-metrics.ts'
import { NodeMetrics } from './node-metrics.ts'
import { Counter, Gauge, Histogram, Registry } from './prom-client.ts'

/** Histogram buckets in seconds, from the slice of a search thread to a slow node. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class Metrics {
  readonly registry = new Registry()
  readonly #snapshot: () => Snapshot
  readonly #hashes = this.#counter('newcut_hashes_total', 'Hashes computed.', ['engine', 'device'])
  readonly #hashrate = this.#gauge(
    'newcut_hashrate_hashes_per_second',
    'Hashrate over the last 10 s. Absent for the first 10 s, 0 while the device does not search.',
    ['engine', 'device'],
  )
  readonly #solutions = this.#counter(
    'newcut_solutions_total',
    'Solutions by verdict. A solution whose verdict changes counts under both.',
    ['verdict'],
  )
  readonly #blocks = this.#counter(
    'newcut_blocks_total',
    'Solutions by state: found, handed-in, acknowledged, credited (a share that a pool counts), confirmed, unconfirmed, stale, orphaned, rejected, lost. With --pool they are shares, otherwise blocks.',
    ['state'],
  )
  readonly #poolBlocks = this.#counter(
    'newcut_pool_blocks_total',
    'Shares that the pool accepted and that also meet the target of their block.',
  )
  readonly #hardwareErrors = this.#counter(
    'newcut_hardware_errors_total',
    'Claimed nonces that do not solve the work.',
    ['device'],
  )
  readonly #faults = this.#counter(
    'newcut_device_faults_total',
    'Retired kernels, and restarts of threads and processes.',
    ['engine', 'device'],
  )
  readonly #up = this.#gauge(
    'newcut_device_up',
    '1 while the device searches; 0 while it restarts, is parked, or cannot search the current work.',
    ['engine', 'device'],
  )
  readonly #minerHashes = this.#counter(
    'newcut_miner_hashes_total',
    'Hashes of all devices, including those that are gone.',
  )
  readonly #minerFaults = this.#counter(
    'newcut_miner_faults_total',
    'Faults of all devices, including those that are gone.',
  )
  readonly #minerHardwareErrors = this.#counter(
    'newcut_miner_hardware_errors_total',
    'Hardware errors of all devices, including those that are gone.',
  )
  readonly #preemptions = this.#counter('newcut_work_preemptions_total', 'Work that a new cut on its chain made stale.')
  readonly #preemptDuration = this.#histogram(
    'newcut_preempt_duration_seconds',
    'Time from the news of a new cut until nearly every device (99 %) searches new work.',
  )
  readonly #submitDuration = this.#histogram(
    'newcut_submit_duration_seconds',
    'Time from a solution to its verdict, including confirmation.',
  )
  readonly #connected = this.#gauge(
    'newcut_update_stream_connected',
    '1 while the update stream of the current chain is open.',
  )
  readonly #workForkVotes = this.#gauge(
    'newcut_work_fork_votes',
    'Votes for the next fork in the current work: those of its epoch so far, including its own. Absent without work.',
  )
  readonly #workAge = this.#gauge('newcut_work_age_seconds', 'Age of the current work. Absent without work.')
  readonly #difficulty = this.#gauge(
    'newcut_difficulty_hashes',
    'Expected hashes for a block, from the latest work of the chain.',
    ['chain'],
  )
  readonly #nodes = new NodeMetrics(this.registry)
  readonly #money = new MoneyMetrics(this.registry)
  readonly #highest = this.#gauge(
    'newcut_hashrate_highest_hashes_per_second',
    'Highest hashrate of all devices over 10 s so far. Absent for the first 10 s.',
  )
  readonly #paused = this.#gauge('newcut_paused', '1 while the miner is paused.')
  readonly #pausedBy = this.#gauge('newcut_paused_by', '1 for each pause cause: user, fleet, schedule, load.', [
    'cause',
  ])
  readonly #hardware = new HardwareMetrics(this.registry)
  readonly #fleetLeading = this.#gauge(
    'newcut_fleet_leading',
    'For newcut lead: 1 while it gives the rigs their work, 0 while it stands by.',
    ['fleet'],
  )
  readonly #fleetRigs = this.#gauge('newcut_fleet_rigs', 'For newcut lead: rigs that it hears from.', ['fleet'])
  readonly #rigSessions = this.#gauge('newcut_rig_sessions', 'Connected stratum rigs.')
  readonly #rigShares = this.#counter(
    'newcut_rig_shares_total',
    'Shares of rigs by verdict: accepted, stale, duplicate, low, malformed, unauthorized, unsubscribed, unavailable.',
    ['verdict'],
  )
  readonly #rigsSentAway = this.#counter(
    'newcut_rig_sent_away_total',
    'Rigs of a passed-through pool that were sent away, by reason: full, away, few, digits, user.',
    ['reason'],
  )
  readonly #rigUserShares = this.#counter(
    'newcut_rig_user_shares_total',
    'Shares of the rigs of a user by verdict. 64 users have series of their own; all others are `others`.',
    ['user', 'verdict'],
  )
  readonly #rigUserHashes = this.#counter(
    'newcut_rig_user_hashes_total',
    'Expected hashes of the accepted shares of a user.',
    ['user'],
  )
  readonly #rigUserSessions = this.#gauge('newcut_rig_user_sessions', 'Connected rigs of a user.', ['user'])
  readonly #rigDeviceShares = this.#counter(
    'newcut_rig_device_shares_total',
    'Shares of a rig by verdict. The device is named as in newcut_hashes_total.',
    ['device', 'verdict'],
  )
  readonly #rigDeviceRefused = this.#gauge(
    'newcut_rig_device_refused',
    '1 while too many shares of a rig are refused, with the most common reason; otherwise 0, with the reason `none`.',
    ['device', 'reason'],
  )
  readonly #shareLogFailing = this.#gauge(
    'newcut_share_log_failing',
    '1 while the share log cannot be written and shares are refused. 0 without a share log.',
  )
  readonly #rigRefusals = this.#counter(
    'newcut_rig_refused_total',
    'Requests of rigs that were refused or delayed, by reason. Readable shares are not among them.',
    ['reason'],
  )
  readonly #rigClosed = this.#counter(
    'newcut_rig_closed_total',
    'Connections of rigs that were closed or not accepted, by reason.',
    ['reason'],
  )
  readonly #build = this.#gauge(
    'newcut_build_info',
    'Always 1. The labels are the versions of newcut and Node.js, and the kernels that search.',
    ['version', 'node', 'kernel'],
  )
  readonly #version: string
  readonly #counted = new Map<Counter, number>()
  /** Counts of rigs by metric, and by labels as JSON. */
  #countedRigs = new Map<Counter<string>, Map<string, RigSeries>>()
  /** Counts per device at the last scrape, by engine and device. */
  #devices = new Map<string, DeviceCounters>()
  /** Names of devices with hardware errors; these series have no engine label. */
  readonly #devicesWithErrors = new Set<string>()

  /**
   * @param snapshot called at every scrape
   * @param version version of newcut
   */
  constructor(snapshot: () => Snapshot, version: string) {
    this.#snapshot = snapshot
    this.#version = version
    for (const verdict of verdicts) this.#solutions.inc({ verdict }, 0)
    for (const state of stepNames) this.#blocks.inc({ state }, 0)
    for (const verdict of shareVerdicts) this.#rigShares.inc({ verdict }, 0)
    this.#connected.set(0)
    // Without labels, it would begin at 0, which is a false figure.
    this.#highest.remove()
  }

  /** Receives every event of the miner. */
  onEvent(event: MinerEvent): void {
    switch (event.type) {
      case 'work':
        this.#difficulty.set({ chain: String(event.chain) }, event.difficulty)
        if (event.reason === 'newCut') {
          this.#preemptDuration.observe(event.preemptMs / 1000)
        }
        return
      case 'solution':
        // Confirmations repeat at each depth, and an orphan is reported again when final. Count each once.
        if (verdictOf(event.step) === null || event.verdict !== null) this.#blocks.inc({ state: event.step })
        if (event.verdict === null) return
        this.#solutions.inc({ verdict: event.verdict })
        // Skip verdicts without a meaningful duration: a reorg can orphan or restore a block at any time, and no time
        // limits an unconfirmed block.
        if (!event.wasDecided && event.verdict !== 'orphaned' && event.verdict !== 'unconfirmed')
          this.#submitDuration.observe(event.elapsedMs / 1000)
        return
      case 'hardwareError':
        this.#countErrors(event.device, 1)
    }
  }

  /** Returns the text of a scrape. */
  async scrape(): Promise<string> {
    const { devices, hardware, hashes, connected, nodes, preemptions, work, ...rest } = this.#snapshot()
    this.#countUpTo(this.#preemptions, preemptions)
    this.#countUpTo(this.#minerHashes, hashes)
    this.#countUpTo(this.#poolBlocks, rest.poolBlocks)
    this.#showDevices(devices)
    this.#hardware.show({ hardware, energy: rest.energy })
    this.#showBuild(devices)
    this.#paused.set(rest.paused ? 1 : 0)
    for (const cause of pauseCauses) this.#pausedBy.set({ cause }, rest.pauses.some(({ by }) => by === cause) ? 1 : 0)
    if (rest.highestHashrate !== null) this.#highest.set(rest.highestHashrate)
    this.#nodes.show(nodes)
    this.#money.show(rest)
    if (rest.rigs !== undefined) this.#showRigs(rest.rigs)
    if (rest.fleet !== undefined) this.#showFleet(rest.fleet)
    this.#connected.set(connected ? 1 : 0)
    if (work === null) {
      this.#workAge.remove()
      this.#workForkVotes.remove()
    } else {
      this.#workAge.set(work.ageMs / 1000)
      this.#workForkVotes.set(work.forkVotes)
    }
    return this.registry.metrics()
  }

  #showDevices(devices: Snapshot['devices']): void {
    const present = new Map<string, DeviceCounters>()
    for (const { engine, device, hashes, faults, hardwareErrors = 0, state, hashrates } of devices) {
      const labels = { engine, device }
      const key = `${engine}/${device}`
      const before = this.#devices.get(key) ?? { labels, hashes: 0, faults: 0, hardwareErrors: 0 }
      this.#up.set(labels, state === undefined ? 1 : 0)
      // A restarted device may count from zero again.
      this.#hashes.inc(labels, increase(before.hashes, hashes))
      this.#faults.inc(labels, increase(before.faults, faults))
      this.#minerFaults.inc(increase(before.faults, faults))
      this.#countErrors(device, increase(before.hardwareErrors, hardwareErrors))
      const rate = hashrates['10s']
      if (rate === null) this.#hashrate.remove(labels)
      else this.#hashrate.set(labels, rate)
      present.set(key, { labels, hashes, faults, hardwareErrors })
    }
    for (const [key, { labels }] of this.#devices) {
      if (present.has(key)) continue
      for (const metric of [this.#up, this.#hashes, this.#faults, this.#hashrate]) metric.remove(labels)
    }
    this.#devices = present
    this.#removeErrorSeries(devices)
  }

  #showBuild(devices: Snapshot['devices']): void {
    const kernel = [...new Set(devices.map((device) => device.kernel))].sort().join(' ')
    this.#build.reset()
    this.#build.set({ version: this.#version, node: process.versions.node, kernel }, 1)
  }

  #showFleet({ fleet, isLeading, rigs }: NonNullable<Snapshot['fleet']>): void {
    this.#fleetLeading.set({ fleet }, isLeading ? 1 : 0)
    this.#fleetRigs.set({ fleet }, rigs)
  }

  /** Shows users and rigs, and removes the series of those that have left. */
  #showRigs({
    sessions,
    shares,
    users,
    rigs,
    isLogWell,
    refusals,
    sentAway = {},
  }: NonNullable<Snapshot['rigs']>): void {
    this.#rigSessions.set(sessions)
    this.#shareLogFailing.set(isLogWell === false ? 1 : 0)
    this.#rigDeviceRefused.reset()
    for (const { device, refusedAs } of rigs)
      this.#rigDeviceRefused.set({ device, reason: refusedAs ?? 'none' }, refusedAs === null ? 0 : 1)
    const present = new Map<Counter<string>, Map<string, RigSeries>>()
    const count = (counter: Counter<string>, labels: Record<string, string>, total: number) => {
      const key = JSON.stringify(labels)
      counter.inc(labels, increase(this.#countedRigs.get(counter)?.get(key)?.total ?? 0, total))
      const series = present.get(counter) ?? new Map<string, RigSeries>()
      present.set(counter, series.set(key, { labels, total }))
    }
    for (const [reason, total] of Object.entries(sentAway)) count(this.#rigsSentAway, { reason }, total)
    for (const verdict of shareVerdicts) {
      count(this.#rigShares, { verdict }, shares[verdict])
      for (const each of users) count(this.#rigUserShares, { user: each.user, verdict }, each.shares[verdict])
      for (const { device, shares } of rigs) count(this.#rigDeviceShares, { device, verdict }, shares[verdict])
    }
    for (const [reason, total] of Object.entries(refusals.requests)) count(this.#rigRefusals, { reason }, total)
    for (const [reason, total] of Object.entries(refusals.connections)) count(this.#rigClosed, { reason }, total)
    this.#rigUserSessions.reset()
    for (const { user, hashes, sessions } of users) {
      count(this.#rigUserHashes, { user }, hashes)
      this.#rigUserSessions.set({ user }, sessions)
    }
    for (const [counter, series] of this.#countedRigs) {
      for (const [key, { labels }] of series) if (!present.get(counter)?.has(key)) counter.remove(labels)
    }
    this.#countedRigs = present
  }

  #countErrors(device: string, count: number): void {
    if (count === 0) return
    this.#hardwareErrors.inc({ device }, count)
    this.#minerHardwareErrors.inc(count)
    this.#devicesWithErrors.add(device)
  }

  #removeErrorSeries(devices: Snapshot['devices']): void {
    if (this.#devicesWithErrors.size === 0) return
    const names = new Set(devices.map(({ device }) => device))
    for (const device of this.#devicesWithErrors) {
      if (names.has(device)) continue
      this.#hardwareErrors.remove({ device })
      this.#devicesWithErrors.delete(device)
    }
  }

  /** Raises a counter to a total that is kept elsewhere. */
  #countUpTo(counter: Counter<never>, total: number): void {
    counter.inc(Math.max(0, total - (this.#counted.get(counter) ?? 0)))
    this.#counted.set(counter, total)
  }

  #counter<Label extends string = never>(name: string, help: string, labelNames: Label[] = []): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] })
  }

  #gauge<Label extends string = never>(name: string, help: string, labelNames: Label[] = []): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] })
  }

  #histogram(name: string, help: string): Histogram {
    return new Histogram({ name, help, buckets: DURATION_BUCKETS, registers: [this.registry] })
  }
}

interface RigSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly total: number
}

interface DeviceCounters {
  readonly labels: { readonly engine: string; readonly device: string }
  readonly hashes: number
  readonly faults: number
  readonly hardwareErrors: number
}

function increase(before: number, now: number): number {
  return now >= before ? now - before : now
}

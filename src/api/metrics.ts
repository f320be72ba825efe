/**
 * Prometheus metrics of a miner. Names and labels are public: dashboards depend on them.
 *
 * A scrape removes the series of devices that have left, because fleets change and every label set costs memory here
 * and in Prometheus. Their counts remain in the `newcut_miner_` totals, which never decrease. These totals are separate
 * metrics: moving a device's hashes to another series would look like a burst to rate().
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { stepNames, verdictOf, verdicts } from '../core/solution.ts'
import type { MinerEvent } from '../mine/events.ts'
import type { HardwareSnapshot } from '../mine/hardware.ts'
import { pauseCauses } from '../mine/pauses.ts'
import type { Snapshot } from '../mine/snapshot.ts'
import { shareVerdicts } from '../stratum/messages.ts'

/** Histogram buckets in seconds, from the slice of a search thread to a slow node. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class Metrics {
  readonly registry = new Registry()
  readonly #snapshot: () => Snapshot
  readonly #hashes = this.#counter('newcut_hashes_total', 'Hashes computed.', ['engine', 'device'])
  readonly #hashrate = this.#gauge(
    'newcut_hashrate_hashes_per_second',
    'Hashrate over the last 10 seconds; absent until they have passed.',
    ['engine', 'device'],
  )
  readonly #solutions = this.#counter(
    'newcut_solutions_total',
    'Solutions by what became of them; one of which other news comes later counts twice.',
    ['verdict'],
  )
  readonly #blocks = this.#counter(
    'newcut_blocks_total',
    'Solutions, which are shares at a pool and blocks elsewhere, that have come to this state: found, handed in, acknowledged, and what became of them.',
    ['state'],
  )
  readonly #poolBlocks = this.#counter(
    'newcut_pool_blocks_total',
    'Shares that the pool took and whose hash also meets the target of their block.',
    [],
  )
  readonly #hardwareErrors = this.#counter('newcut_hardware_errors_total', 'Claimed nonces that do not solve.', [
    'device',
  ])
  readonly #faults = this.#counter('newcut_device_faults_total', 'Kernels retired, threads or processes restarted.', [
    'engine',
    'device',
  ])
  readonly #up = this.#gauge('newcut_device_up', 'Whether the device searches: not while it restarts or is parked.', [
    'engine',
    'device',
  ])
  readonly #minerHashes = this.#counter('newcut_miner_hashes_total', 'Hashes of all devices, gone ones included.', [])
  readonly #minerFaults = this.#counter('newcut_miner_faults_total', 'Faults of all devices, gone ones included.', [])
  readonly #minerHardwareErrors = this.#counter(
    'newcut_miner_hardware_errors_total',
    'Claimed nonces that do not solve, of all devices, gone ones included.',
    [],
  )
  readonly #preemptions = this.#counter('newcut_work_preemptions_total', 'Work lost to a new cut on its chain.', [])
  readonly #preemptDuration = this.#histogram(
    'newcut_preempt_duration_seconds',
    'Time from the news of a new cut until nearly every device searches new work.',
  )
  readonly #submitDuration = this.#histogram(
    'newcut_submit_duration_seconds',
    'Time from a solution until its verdict, confirmation included.',
  )
  readonly #connected = this.#gauge(
    'newcut_update_stream_connected',
    'Whether the update stream of the current chain is open.',
    [],
  )
  readonly #workForkVotes = this.#gauge(
    'newcut_work_fork_votes',
    'Votes for the next fork in the current work: those of the epoch so far, its own included; absent while there is none.',
    [],
  )
  readonly #workAge = this.#gauge('newcut_work_age_seconds', 'Age of the current work; absent while there is none.', [])
  readonly #difficulty = this.#gauge('newcut_difficulty_hashes', 'Expected hashes for a block, as of the last work.', [
    'chain',
  ])
  readonly #nodeUp = this.#gauge('newcut_node_up', 'Whether the node answers.', ['node'])
  readonly #nodeActive = this.#gauge('newcut_node_active', 'Whether the work that is searched comes from the node.', [
    'node',
  ])
  readonly #nodeLag = this.#gauge(
    'newcut_node_lag_blocks',
    'Blocks that the node lacks and others have, in the mean over its chains; absent while it does not answer.',
    ['node'],
  )
  readonly #nodeLatency = this.#gauge(
    'newcut_node_latency_seconds',
    'Time until the last answer of the node; absent while it does not answer.',
    ['node'],
  )
  readonly #highest = this.#gauge(
    'newcut_hashrate_highest_hashes_per_second',
    'The highest hashrate over 10 seconds so far; absent until they have passed.',
    [],
  )
  readonly #paused = this.#gauge('newcut_paused', 'Whether it was told to search nothing for now.', [])
  readonly #pausedBy = this.#gauge('newcut_paused_by', 'Whether this is a cause why it searches nothing for now.', [
    'cause',
  ])
  readonly #temperature = this.#gauge(
    'newcut_temperature_celsius',
    'Temperature of the processor or card; absent where it is not known.',
    ['engine', 'device'],
  )
  readonly #fan = this.#gauge(
    'newcut_fan_speed_ratio',
    'Speed of the fan as a share of its highest; absent where it is not known.',
    ['engine', 'device'],
  )
  readonly #power = this.#gauge('newcut_power_watts', 'Power that is drawn; absent where it is not known.', [
    'engine',
    'device',
  ])
  readonly #fleetLeading = this.#gauge('newcut_fleet_leading', 'Whether this process leads its fleet: 1 or 0.', [
    'fleet',
  ])
  readonly #fleetRigs = this.#gauge('newcut_fleet_rigs', 'Rigs of the fleet that this leader hears of.', ['fleet'])
  readonly #rigSessions = this.#gauge('newcut_rig_sessions', 'Rigs that are connected, speaking stratum.', [])
  readonly #rigShares = this.#counter('newcut_rig_shares_total', 'Shares of rigs by verdict.', ['verdict'])
  readonly #rigsSentAway = this.#counter(
    'newcut_rig_sent_away_total',
    'Rigs behind a pool that were sent away, by reason.',
    ['reason'],
  )
  readonly #rigUserShares = this.#counter('newcut_rig_user_shares_total', 'Shares of rigs by user and verdict.', [
    'user',
    'verdict',
  ])
  readonly #rigUserHashes = this.#counter(
    'newcut_rig_user_hashes_total',
    'Hashes that the accepted shares of the rigs of a user take on average.',
    ['user'],
  )
  readonly #rigUserSessions = this.#gauge('newcut_rig_user_sessions', 'Rigs of a user that are connected.', ['user'])
  readonly #rigDeviceShares = this.#counter('newcut_rig_device_shares_total', 'Shares of a rig by verdict.', [
    'device',
    'verdict',
  ])
  readonly #rigDeviceRefused = this.#gauge(
    'newcut_rig_device_refused',
    'Whether too many shares of a rig are refused, and the commonest reason; none: it is well.',
    ['device', 'reason'],
  )
  readonly #shareLogFailing = this.#gauge(
    'newcut_share_log_failing',
    'Whether the share log cannot be written, so that shares are refused; 0 where none is kept.',
    [],
  )
  readonly #rigRefusals = this.#counter(
    'newcut_rig_refused_total',
    'Requests of rigs, other than shares that can be read, that were refused or kept waiting, by reason.',
    ['reason'],
  )
  readonly #rigClosed = this.#counter(
    'newcut_rig_closed_total',
    'Connections of rigs that were closed, or not let in, by reason.',
    ['reason'],
  )
  readonly #build = this.#gauge('newcut_build_info', 'Always 1: what runs here.', ['version', 'node', 'kernel'])
  readonly #version: string
  readonly #counted = new Map<Counter, number>()
  /** Counts of rigs by metric and labels. */
  #countedRigs = new Map<string, RigSeries>()
  /** Counts per device at the last scrape, by engine and device. */
  #devices = new Map<string, CountedDevice>()
  /** Names of devices with hardware errors; these series have no engine label. */
  readonly #erring = new Set<string>()

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
    this.#showSensors(hardware)
    this.#showBuild(devices)
    this.#paused.set(rest.paused ? 1 : 0)
    for (const cause of pauseCauses) this.#pausedBy.set({ cause }, rest.pauses.some(({ by }) => by === cause) ? 1 : 0)
    if (rest.highestHashrate !== null) this.#highest.set(rest.highestHashrate)
    this.#showNodes(nodes)
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
    const present = new Map<string, CountedDevice>()
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
    this.#forgetErring(devices)
  }

  /** Shows the CPU as one device with all its threads. */
  #showSensors(hardware: readonly HardwareSnapshot[]): void {
    for (const metric of [this.#temperature, this.#fan, this.#power]) metric.reset()
    for (const { engine, name: device, celsius, fanPercent, watts } of hardware) {
      const labels = { engine, device }
      if (celsius !== null) this.#temperature.set(labels, celsius)
      if (fanPercent !== null) this.#fan.set(labels, fanPercent / 100)
      if (watts !== null) this.#power.set(labels, watts)
    }
  }

  #showBuild(devices: Snapshot['devices']): void {
    const kernel = [...new Set(devices.map((device) => device.kernel))].sort().join(' ')
    this.#build.reset()
    this.#build.set({ version: this.#version, node: process.versions.node, kernel }, 1)
  }

  /** Shows the nodes. Their list is fixed for a run. */
  #showNodes(nodes: Snapshot['nodes']): void {
    for (const { url: node, up, active, lag, latencyMs } of nodes) {
      this.#nodeUp.set({ node }, up ? 1 : 0)
      this.#nodeActive.set({ node }, active ? 1 : 0)
      if (lag === null) this.#nodeLag.remove({ node })
      else this.#nodeLag.set({ node }, lag)
      if (latencyMs === null) this.#nodeLatency.remove({ node })
      else this.#nodeLatency.set({ node }, latencyMs / 1000)
    }
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
    const present = new Map<string, RigSeries>()
    const count = (counter: Counter<string>, labels: Record<string, string>, total: number) => {
      // Label names distinguish all metrics except the two of refusals.
      const key = JSON.stringify([labels, counter === this.#rigClosed])
      counter.inc(labels, increase(this.#countedRigs.get(key)?.total ?? 0, total))
      present.set(key, { counter, labels, total })
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
    for (const [key, { counter, labels }] of this.#countedRigs) if (!present.has(key)) counter.remove(labels)
    this.#countedRigs = present
  }

  #countErrors(device: string, count: number): void {
    if (count === 0) return
    this.#hardwareErrors.inc({ device }, count)
    this.#minerHardwareErrors.inc(count)
    this.#erring.add(device)
  }

  #forgetErring(devices: Snapshot['devices']): void {
    if (this.#erring.size === 0) return
    const names = new Set(devices.map(({ device }) => device))
    for (const device of this.#erring) {
      if (names.has(device)) continue
      this.#hardwareErrors.remove({ device })
      this.#erring.delete(device)
    }
  }

  /** Raises a counter to a total that is kept elsewhere. */
  #countUpTo(counter: Counter<never>, total: number): void {
    counter.inc(Math.max(0, total - (this.#counted.get(counter) ?? 0)))
    this.#counted.set(counter, total)
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] })
  }

  #gauge<Label extends string>(name: string, help: string, labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] })
  }

  #histogram(name: string, help: string): Histogram {
    return new Histogram({ name, help, buckets: DURATION_BUCKETS, registers: [this.registry] })
  }
}

interface RigSeries {
  readonly counter: Counter<string>
  readonly labels: Readonly<Record<string, string>>
  readonly total: number
}

interface CountedDevice {
  readonly labels: { readonly engine: string; readonly device: string }
  readonly hashes: number
  readonly faults: number
  readonly hardwareErrors: number
}

function increase(before: number, now: number): number {
  return now >= before ? now - before : now
}

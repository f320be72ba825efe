/** Formats the state of a miner as XMRig's HTTP API does, which many monitors and dashboards read. */
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { failedOf } from '#ground/chain/solution.ts'
import type { HardwareSnapshot } from '#mining/mine/hardware.ts'
import type { Hashrates, RateWindows } from '#mining/mine/hashrate.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import type { Connection } from './connection.ts'
import { type Processor, resources } from './machine.ts'

export const ALGORITHM = 'blake2s'

/** Schemes of nodes and pools with TLS. */
const TLS_SCHEMES = ['https:', 'stratum+ssl:']

/** The identity of the miner, constant during a run. */
export interface Identity {
  readonly version: string
  readonly processor: Processor
  /** Whether the API is read-only because no token is configured. */
  readonly restricted: boolean
  /** SHA-256 fingerprint of the pinned node certificate, or null. */
  readonly fingerprint: string | null
}

type Windows = readonly [number | null, number | null, number | null]

/** Hashrates over 10 s, 60 s and 15 minutes. */
function windowsOf({ '10s': short, '60s': middle, '15m': long }: Hashrates): Windows {
  return [roundRate(short), roundRate(middle), roundRate(long)]
}

const roundRate = (rate: number | null) => (rate === null ? null : Math.round(rate * 100) / 100)

/**
 * `/2/summary`, or `/1/summary` with version 1, which adds the hashrate of each thread. Solutions count as shares, and
 * `hashes_total` counts computed hashes.
 */
export function summaryOf(snapshot: Snapshot, connection: Connection, identity: Identity, version: 1 | 2) {
  const { solutions, hashrates, highestHashrate, work, hashes, devices } = snapshot
  const worker = hostname()
  const total = solutions.accepted + failedOf(solutions)
  const averageMs = total === 0 ? null : Math.round(snapshot.uptimeMs / total)
  const average = { avg_time: averageMs && Math.round(averageMs / 1000), avg_time_ms: averageMs, hashes_total: hashes }
  return {
    id: createHash('sha256').update(worker).digest('hex').slice(0, 16),
    worker_id: worker,
    uptime: Math.floor(snapshot.uptimeMs / 1000),
    restricted: identity.restricted,
    resources: resources(),
    features: ['api', 'http', 'tls'],
    results: {
      diff_current: work?.difficulty ?? null,
      shares_good: solutions.accepted,
      shares_total: total,
      ...average,
      best: bestOf(snapshot),
    },
    algo: ALGORITHM,
    connection: { ...connectionOf(snapshot, connection, identity), ...average },
    version: identity.version,
    kind: 'miner',
    ua: `newcut/${identity.version} (${process.platform} ${process.arch}) node/${process.versions.node}`,
    cpu: identity.processor,
    donate_level: 0,
    paused: snapshot.paused,
    algorithms: [ALGORITHM],
    hashrate: {
      total: windowsOf(hashrates),
      highest: roundRate(highestHashrate),
      ...(version === 1 && { threads: devices.map((device) => windowsOf(device.hashrates)) }),
    },
  }
}

function connectionOf({ issuer, nodes, solutions, work }: Snapshot, connection: Connection, { fingerprint }: Identity) {
  const url = issuer !== null && URL.canParse(issuer) ? new URL(issuer) : null
  const isSecure = url !== null && TLS_SCHEMES.includes(url.protocol)
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? ''
  const ping = nodes.find(({ active }) => active)?.latencyMs ?? connection.answerMs
  return {
    pool: url && `${url.hostname}:${url.port || (isSecure ? 443 : 80)}`,
    ip: isIP(host) === 0 ? null : host,
    uptime: Math.floor(connection.connectedMs / 1000),
    uptime_ms: Math.floor(connection.connectedMs),
    ping: ping && Math.round(ping),
    failures: connection.failures,
    tls: isSecure ? 'TLS' : null,
    'tls-fingerprint': isSecure ? fingerprint : null,
    algo: ALGORITHM,
    diff: work?.difficulty ?? null,
    accepted: solutions.accepted,
    rejected: failedOf(solutions),
  }
}

/** `/2/backends`: NVIDIA cards are `cuda` and other cards `opencl`, although WebGPU drives both. All else is `cpu`. */
export function backendsOf({ hardware, devices }: Snapshot) {
  const isCard = ({ engine }: { engine: string }) => engine === 'gpu'
  const isNvidia = ({ vendor }: HardwareSnapshot) => vendor === 'nvidia'
  const cards = hardware.filter(isCard)
  const threads = devices
    .filter((device) => !isCard(device))
    .map(({ device, kernel, hashrates }, index) => {
      return { index, name: device, kernel, hashrate: windowsOf(hashrates) }
    })
  const others = hardware.filter((each) => !isCard(each))
  const processor = others.find(({ name }) => name === 'cpu')
  return [
    // XMRig has the health of cards only; here, the processor has it too.
    { ...backend('cpu', threads, others), ...(processor && { health: healthOf(processor) }) },
    backend(
      'opencl',
      cards.filter((card) => !isNvidia(card)).map(cardOf),
      cards.filter((card) => !isNvidia(card)),
    ),
    backend('cuda', cards.filter(isNvidia).map(cardOf), cards.filter(isNvidia)),
  ]
}

function backend<T>(type: 'cpu' | 'opencl' | 'cuda', threads: readonly T[], parts: readonly HardwareSnapshot[]) {
  const enabled = parts.length > 0
  const hashrate = windowsOf(sumRates(parts.map(({ hashrates }) => hashrates)))
  return { type, enabled, algo: enabled ? ALGORITHM : null, hashrate, threads }
}

function cardOf(card: HardwareSnapshot, index: number) {
  const { name, model, pci, hashrates } = card
  return { index, name: model ?? name, bus_id: pci, hashrate: windowsOf(hashrates), health: healthOf(card) }
}

function healthOf({ celsius, watts, fanPercent }: HardwareSnapshot) {
  const fan = fanPercent === null ? [] : [fanPercent]
  return { temperature: celsius, power: watts, clock: null, mem_clock: null, fan_speed: fan }
}

/** The sum of several hashrates, or null if one is unknown. */
function sumRates(rates: readonly RateWindows[]): Hashrates {
  const sum = (window: keyof Hashrates) => {
    const known = rates.flatMap((each) => each[window] ?? [])
    return rates.length === 0 || known.length < rates.length ? null : known.reduce((total, rate) => total + rate, 0)
  }
  return { '10s': sum('10s'), '60s': sum('60s'), '15m': sum('15m') }
}

/** Difficulties of the ten best solutions in descending order, padded with 0. */
function bestOf({ results: { best } }: Snapshot): number[] {
  return Array.from({ length: 10 }, (_, i) => best[i]?.difficulty ?? 0)
}

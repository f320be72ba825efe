/** Relay process of the suite `relay`: a rig's source, the stratum server, the share log. */
import { randomUUID } from 'node:crypto'
import { rigCallbacks } from '../src/compose/source/fleet.ts'
import { systemClock } from '../src/ground/platform/clock.ts'
import { JetStreamStore } from '../src/mining/accounts/jetstream-store.ts'
import { StratumEngine } from '../src/mining/engine/stratum/stratum.ts'
import { readNatsAddress } from '../src/mining/fleet/address.ts'
import { FleetLink } from '../src/mining/fleet/link.ts'
import { Miner } from '../src/mining/mine/miner.ts'
import { FleetSource } from '../src/mining/source/fleet/fleet-source.ts'
import { usedBytes } from './used-bytes.ts'

/** Orders of the suite. */
export type RelayOrder =
  | { readonly type: 'join'; readonly fleet: string; readonly port: number; readonly rig: string }
  /** Report memory and the number of shares. */
  | { readonly type: 'measure' }
  /** Write this many shares to JetStream, `each` at a time. */
  | { readonly type: 'keep'; readonly shares: number; readonly each: number }

export type RelayAnswer =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'measured'; readonly bytes: number; readonly accepted: number }
  | { readonly type: 'kept'; readonly tookMs: number }

const shared = { clock: systemClock, random: Math.random }
/** No rate limits, because the load is a single address. */
const limits = {
  sessionsPerAddress: 65_536,
  requestsPerSecond: 1e9,
  requestsPerSecondOfAddress: 1e9,
  sharesPerJob: 1e9,
  unsentBytes: 2 ** 24,
}
const send = (answer: RelayAnswer) => process.send?.(answer)
const warn = (text: string) => void process.stderr.write(`${text}\n`)

let engine: StratumEngine | null = null
let store: JetStreamStore | null = null

process.on('message', async (order: RelayOrder) => {
  if (order.type === 'join') send({ type: 'listening', port: await join(order) })
  else if (order.type === 'measure') {
    send({ type: 'measured', bytes: await usedBytes(), accepted: engine?.status().shares.accepted ?? 0 })
  } else send({ type: 'kept', tookMs: await keep(order) })
})
process.on('disconnect', () => process.exit(0))

async function join({ fleet, port, rig }: Extract<RelayOrder, { type: 'join' }>): Promise<number> {
  const { signal } = new AbortController()
  const addresses = [readNatsAddress(`nats://127.0.0.1:${port}`)]
  const link = await FleetLink.open({ addresses, trust: {}, fleet, agent: rig, ...shared }, null, signal)
  const about = { fleet, rig, version: 'bench', session: randomUUID(), isRelay: true }
  const source = await FleetSource.join({ link, ...about, ...shared }, warn, signal)
  const rigs = new StratumEngine({ host: '127.0.0.1', port: 0, tls: null, difficulty: 1, limits, ...shared })
  engine = rigs
  store = await JetStreamStore.open({ link, clock: systemClock, session: rig, onWarning: warn })
  const miner = new Miner({
    source,
    engines: [rigs],
    clock: systemClock,
    serverParts: () => ({ rigs: rigs.status() }),
    onEvent: (event) => {
      if (event.type === 'trouble' || event.type === 'warning') warn(event.message)
    },
  })
  source.attach(rigCallbacks(miner))
  void miner.run(signal)
  return (await rigs.listen()).port
}

async function keep({ shares, each }: Extract<RelayOrder, { type: 'keep' }>): Promise<number> {
  const startMs = performance.now()
  const rig = { user: `k:${'ab'.repeat(32)}`, worker: 'rig', agent: 'load/1', address: '127.0.0.1' }
  const work = { chain: 3, height: 7, difficulty: 1e12, blockDifficulty: 1e18, block: null }
  for (let first = 0; first < shares; first += each) {
    const ids = Array.from({ length: Math.min(each, shares - first) }, () => randomUUID())
    await store?.append(ids.map((id) => ({ id, timeMs: Date.now(), ...rig, ...work })))
  }
  return performance.now() - startMs
}

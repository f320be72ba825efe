/**
 * Measures the gain from choosing chains by expected reward. Two miners run on one simulated live network in virtual
 * time: one chooses by expected reward, one takes any chain. Both run the state machine of the source. Results are
 * computed from hash shares, not drawn at random, because the miners are too small to affect the network.
 *
 * The other miners stay on their chain until it advances, then spread over the minable chains. In the last rows they
 * spread again after every block, so that no chain is safer than another.
 */

import { median, type Row, relativeTo } from './report.ts'
import { SimulatedMiner, SWITCH_MS } from './simulated-miner.ts'
import { CHAINS, Network } from './simulated-network.ts'
import type { Effort } from './suite.ts'
import { Usefulness } from './usefulness.ts'

const SUITE = 'choice'
const LATENCIES_MS = [20, 100, 200]
/** The latency of the rows with restless other miners. */
const RESTLESS_MS = 100
const HOUR_MS = 3_600_000
const CUT_EVERY_MS = 1500

export async function choice({ rounds, isQuick }: Effort): Promise<Row[]> {
  const hours = isQuick ? { before: 1, each: 1, rounds } : { before: 50, each: 10, rounds }
  const rows = LATENCIES_MS.flatMap((latencyMs) => compareMiners(new Network(true), latencyMs, hours))
  rows.push(...compareMiners(new Network(false), RESTLESS_MS, hours))
  for (const latencyMs of [20, 100]) rows.push(...ownCuts(latencyMs, isQuick ? 20 : 4000))
  return rows
}

/**
 * The miner's chain advances every 1.5 s, and up to two others in between. Measures useful hashing relative to the
 * maximum that the news latency allows. A change of work costs SWITCH_MS of virtual time, whatever the machine.
 */
function ownCuts(latencyMs: number, cuts: number): Row[] {
  return [false, true].map((chooses) => {
    const network = new Network(true)
    network.run(HOUR_MS)
    const usefulness = new Usefulness(latencyMs / 2)
    const miner = new SimulatedMiner(network, latencyMs, chooses)
    miner.onWork = (chain, height) => {
      network.at(network.nowMs + SWITCH_MS, () => usefulness.work(chain, height, network.nowMs))
    }
    const extend = (chain: number) => {
      network.extend(chain)
      usefulness.cut(chain, network.heights[chain], network.nowMs)
    }
    // Wait until the miner has work and stand-by work.
    network.run(HOUR_MS / 60)
    usefulness.start(network.nowMs)
    for (let cut = 0; cut < cuts; cut++) {
      const { chain } = usefulness
      if (chain !== null && network.isOpen(chain)) extend(chain)
      network.pass(network.nowMs + CUT_EVERY_MS / 2)
      for (let others = 0; others < 2; others++) {
        const open = CHAINS.filter((other) => network.isOpen(other))
        const other = open[Math.floor(Math.random() * open.length)]
        if (other !== usefulness.chain) extend(other)
      }
      network.pass(network.nowMs + CUT_EVERY_MS / 2)
    }
    const name = `own chain cut, useful of the possible, ${chooses ? 'best' : 'any'} chain, ${latencyMs} ms away`
    return { suite: SUITE, name, unit: '%', samples: [usefulness.end(network.nowMs).usefulOfPossible] }
  })
}

/** Runs both miners on one network for `rounds` samples of `each` hours, after a warm-up in which the epochs drift. */
function compareMiners(
  network: Network,
  latencyMs: number,
  { before, each, rounds }: { readonly before: number; readonly each: number; readonly rounds: number },
): Row[] {
  network.run(before * HOUR_MS)
  const [random, best] = [false, true].map((chooses) => new SimulatedMiner(network, latencyMs, chooses))
  const samples = Array.from({ length: rounds }, () => {
    for (const miner of [random, best]) miner.begin()
    network.run(each * HOUR_MS)
    return [random, best].map((miner) => miner.account(each * HOUR_MS))
  })
  const valuesOf = (miner: 0 | 1, what: 'blocks' | 'useful') => samples.map((pair) => pair[miner][what])
  const row = (name: string, values: number[]): Row => {
    const where = `${latencyMs} ms away${network.staysOnChain ? '' : ', restless others'}`
    return { suite: SUITE, name: `${name}, ${where}`, unit: '%', samples: values }
  }
  const relative = relativeTo('any chain', valuesOf(1, 'blocks'), valuesOf(0, 'blocks'))
  // A chooser that hardly mines would win by default.
  if (median(valuesOf(1, 'blocks')) < 90) throw new Error('choice: the miner that chooses hardly mines')
  return [
    row('blocks a hash, any chain', valuesOf(0, 'blocks')),
    { ...row('blocks a hash, best chain', valuesOf(1, 'blocks')), ...(relative && { relative }) },
    row('useful hashes, any chain', valuesOf(0, 'useful')),
    row('useful hashes, best chain', valuesOf(1, 'useful')),
  ]
}

/** The suites of `newcut bench` with their subjects. bench/bench.ts runs them. */
export const benchSuites = {
  verify: 'a fixed search with a known checksum, the same on every machine',
  kernels: 'one thread: each kernel against other hash functions',
  threads: 'the CPU engine on 1 to N threads',
  preempt: 'how soon new work is searched, and what preemptions cost',
  pipeline: 'the whole miner against the embedded node, near and far',
  choice: 'the chain with the highest expected reward, against any, simulated',
  gpu: 'the GPU engine on each adapter, and against a native GPU kernel',
  shader: 'vector instructions a nonce on AMD cards, counted without a card',
  node: 'the embedded node under load, on disk, and the client on a page',
  contracts: 'contracts: reading, transfers, blocks, accounts on disk',
  hostile: 'commands made to take more than their gas allows',
  stratum: 'the server for rigs: sessions, new work to all of them, shares',
  fleet: 'a fleet on a real nats-server: jobs, reports, solutions, costs',
  relay: 'two relays of a fleet with 5,000 rigs each: jobs, shares, memory',
  codec: 'headers, hashes and difficulty steps',
  footprint: 'start and memory of a miner and a network, and a long journal',
} as const

export type BenchSuite = keyof typeof benchSuites

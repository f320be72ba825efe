/** The whole miner with a GPU alone, against the embedded network. Software drivers stand in for the GPU. */
import { expect, it } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { startDevnet } from '../../src/compose/devnet.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { GpuEngine } from '../../src/mining/engine/gpu/gpu.ts'
import { nonceRanges } from '../../src/mining/engine/range.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import { Miner } from '../../src/mining/mine/miner.ts'
import { miningNodeOf } from '../../src/mining/source/node/mining-node.ts'
import { NodeSource } from '../../src/mining/source/node/node-source.ts'
import { describeWith } from '../needs.ts'
import { rotating } from '../rotation.ts'
import { driverLack, testDrivers } from './driver.ts'

const drivers = await testDrivers()
const BLOCKS = 5

describeWith(driverLack(), 'a miner with a GPU alone', () => {
  it.each(rotating(drivers, 1))('the miner mines blocks of the embedded network on $name', async ({ env, speed }) => {
    const devnet = await startDevnet({ port: 0, difficulty: 50_000n * BigInt(speed) })
    try {
      const client = await NodeClient.connect({ url: devnet.url })
      const account = { account: 'k:gpu', predicate: 'keys-all', publicKeys: [] } as const
      const node = miningNodeOf({ client, account, clock: systemClock, stallMs: 0 })
      const source = new NodeSource({ node, clock: systemClock, random: Math.random })
      const ranges = nonceRanges(1, Math.random)
      const engine = new GpuEngine({ adapters: [null], ranges, allowSoftware: true, tuningFile: null, env })
      const events: MinerEvent[] = []
      const onEvent = (event: MinerEvent) => void events.push(event)
      const miner = new Miner({ source, engines: [engine], clock: systemClock, onEvent, blocks: BLOCKS })
      const { solutions, hardwareErrors, devices } = await miner.run(new AbortController().signal)
      expect(solutions).toMatchObject({ accepted: BLOCKS, rejected: 0, lost: 0 })
      expect(hardwareErrors).toBe(0)
      expect(devices).toMatchObject([{ engine: 'gpu', device: 'gpu0', kernel: 'wgsl', faults: 0 }])
      await client.close()
    } finally {
      await devnet.close()
    }
  })
})

/** shaders/search.wgsl on each driver: a few nonces against @noble/hashes, and many against a CPU kernel. */
import { randomBytes, randomInt } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { readU32LE } from '../../src/ground/base/bytes.ts'
import { withNonce } from '../../src/ground/chain/header.ts'
import { powHash } from '../../src/ground/chain/pow.ts'
import { chooseKernel } from '../../src/mining/engine/cpu/kernels.ts'
import { type Batch, judgeNonce, nonceCount, prepareWork } from '../../src/mining/engine/gpu/layout.ts'
import { HIGHS, LOWS, MIDDLES, nonceOf } from '../../src/mining/engine/range.ts'
import { batchConformance, targetOf } from '../conformance/gpu.ts'
import { describeWith } from '../needs.ts'
import { BatchServer } from './batch-server.ts'
import { driverLack, type TestDriver, testDrivers } from './driver.ts'

const WORK_BYTES = 286
/** Number of batches of random work, with 2000 nonces each. */
const batchesOf = ({ speed, isThorough }: TestDriver) => (isThorough ? (speed > 1 ? 120 : 60) : 15)

const drivers = await testDrivers()
const servers = new Map<string, BatchServer>()
afterAll(() => {
  for (const server of servers.values()) server.close()
})

function serverOf(driver: TestDriver): BatchServer {
  const server = servers.get(driver.name) ?? new BatchServer(driver.env)
  servers.set(driver.name, server)
  return server
}

describe.each(drivers)('shader on $name', (driver) => {
  batchConformance((request) => serverOf(driver).run(request), batchesOf(driver))
})

describeWith(driverLack(), `shader on ${drivers.map(({ name }) => name).join(' and on ')}`, () => {
  const middle = { lanes: 2 ** 16, first: randomInt(MIDDLES), high: randomInt(HIGHS) }
  it.each<Batch>([
    { ...middle, low: randomInt(LOWS), trips: 16, step: 1 },
    { ...middle, low: 0xfff0, trips: 20, step: 1 },
    { ...middle, low: randomInt(LOWS), first: MIDDLES - 2 ** 15, trips: 16, step: 256 },
  ])(
    'the shader finds the same nonces as a CPU kernel in all of $lanes lanes, $trips trips, $step apart',
    async (batch) => {
      const bytes = randomBytes(WORK_BYTES)
      const bound = Math.floor(2 ** 32 * (500 / nonceCount(batch)))
      const wanted = foundByKernel(bytes, bound, batch)
      expect(wanted.length).toBeGreaterThan(300)
      for (const nonce of wanted) expect(readU32LE(powHash(withNonce(bytes, nonce)), 28)).toBeLessThanOrEqual(bound)
      for (const driver of drivers) {
        const { found, nonces } = await serverOf(driver).run({ bytes, target: targetOf(bound), batch })
        expect(found, driver.name).toEqual(wanted.length)
        expect(nonces, driver.name).toEqual(wanted)
      }
    },
  )
})

/**
 * Candidates by a CPU kernel. Kernels sweep the high 16 bits, which a batch fixes, so each nonce takes a sweep of one
 * chunk.
 */
function foundByKernel(bytes: Uint8Array, bound: number, { low, first, high, lanes, trips, step }: Batch): bigint[] {
  const { kernel } = chooseKernel(WORK_BYTES, 'auto', randomBytes)
  if (kernel === null) throw new Error('no CPU kernel works here')
  const work = prepareWork(bytes, targetOf(bound))
  kernel.setWork(work.mid.state, work.mid.tail, bound)
  const chunk = high - (high % kernel.lanes)
  const found: bigint[] = []
  for (let trip = 0; trip < trips; trip++) {
    for (let lane = 0; lane < lanes; lane++) {
      const [bits, middle] = [(low + trip * step) % LOWS, (first + lane) % MIDDLES]
      if (kernel.sweep(bits, middle, chunk, chunk + kernel.lanes) > chunk) continue
      const nonce = nonceOf(bits, middle, high)
      if (judgeNonce(work, nonce) !== 'false') found.push(nonce)
    }
  }
  return found.sort((a, b) => (a < b ? -1 : 1))
}

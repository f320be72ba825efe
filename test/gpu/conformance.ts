/** The GPU engine against the contract of engines. */
import { describe } from 'vitest'
import { GpuEngine } from '../../src/mining/engine/gpu/gpu.ts'
import { nonceRanges } from '../../src/mining/engine/range.ts'
import { engineConformance } from '../conformance/engine.ts'
import { describeWith } from '../needs.ts'
import { driverLack, type TestDriver } from './driver.ts'

export function gpuConformance(drivers: readonly TestDriver[], some?: number): void {
  describeWith(driverLack(), 'the GPU engine', () => {
    describe.each(drivers)('on $name', ({ env, speed }) => {
      engineConformance({
        create: () => {
          const ranges = nonceRanges(1, Math.random)
          return new GpuEngine({ adapters: [null], ranges, allowSoftware: true, tuningFile: null, env })
        },
        unsearchable: { degree: 2, warning: /the GPU cannot search work of 250 bytes/ },
        keepsFixedBits: true,
        difficulty: 20_000n * BigInt(speed),
        ...(some !== undefined && { some }),
      })
    })
  })
}

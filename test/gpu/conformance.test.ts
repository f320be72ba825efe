/** The GPU engine, on a software driver, against the contract of engines. */
import { describe } from 'vitest'
import { GpuEngine } from '../../src/engine/gpu/gpu.ts'
import { nonceRanges } from '../../src/engine/range.ts'
import { engineConformance } from '../conformance/engine.ts'
import { testDriver } from './driver.ts'

const { env, reason } = await testDriver()

describe.skipIf(env === null)(`the GPU engine${reason && `: ${reason}`}`, () => {
  engineConformance({
    create: () => {
      const ranges = nonceRanges(1, Math.random)
      return new GpuEngine({ adapters: [null], ranges, allowSoftware: true, tuningFile: null, env: env ?? {} })
    },
    unsearchable: { degree: 2, warning: /the GPU cannot search work of 250 bytes/ },
    keepsFixedBits: true,
    difficulty: 20_000n,
  })
})

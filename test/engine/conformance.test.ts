/** The CPU engine with each kind of kernel, and an external program, against the contract of engines. */
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { CpuEngine } from '../../src/mining/engine/cpu/cpu.ts'
import { chooseNative } from '../../src/mining/engine/cpu/native-choice.ts'
import { ExternalEngine } from '../../src/mining/engine/external.ts'
import { nonceRanges } from '../../src/mining/engine/range.ts'
import { engineConformance } from '../conformance/engine.ts'
import { describeWith } from '../needs.ts'

const { obstacle } = chooseNative()

for (const kernel of ['native', 'wasm', 'js'] as const) {
  const lack =
    kernel === 'native' && obstacle !== null ? `there is no native kernel (${obstacle}): npm run install` : null
  describeWith(lack, `the CPU engine, kernel ${kernel}`, () => {
    engineConformance({
      create: () =>
        new CpuEngine({ ranges: nonceRanges(2, Math.random), kernel, priority: 'normal', clock: systemClock }),
      unsearchable: { degree: 4, warning: /the nonce of work of 322 bytes lies in two blocks/ },
      keepsFixedBits: true,
      difficulty: kernel === 'js' ? 20_000n : 200_000n,
    })
  })
}

describe('an external program: newcut solve', () => {
  const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
  engineConformance({
    create: () => {
      const command = `${process.execPath} ${main} solve --threads 1 --kernel wasm --priority normal`
      return new ExternalEngine({ command, clock: systemClock })
    },
    unsearchable: { bits: 8, warning: /cannot search work in which a pool fixes a part of the nonce/ },
    keepsFixedBits: false,
    difficulty: 10_000n,
  })
})

import { it } from 'vitest'
import { gpuConformance } from './conformance.ts'
import { testDrivers } from './driver.ts'

const others = (await testDrivers()).slice(1)
if (others.length > 0) gpuConformance(others)
else it('the GPU engine on a second driver', (context) => context.skip('no second driver is here: Mesa 25 brings one'))

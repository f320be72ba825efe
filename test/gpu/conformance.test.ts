/** One driver; conformance-all.test.ts runs the others. */
import { gpuConformance } from './conformance.ts'
import { testDrivers } from './driver.ts'

gpuConformance((await testDrivers()).slice(0, 1), 4)

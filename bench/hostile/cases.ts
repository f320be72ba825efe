/** All hostile commands. */
import type { HostileCase } from './case.ts'
import { flatCases } from './flat-cases.ts'
import { listCases } from './list-cases.ts'
import { moduleCases } from './module-cases.ts'
import { nameCases } from './name-cases.ts'
import { nativeCases } from './native-cases.ts'
import { numberCases } from './number-cases.ts'

export const hostileCases: readonly HostileCase[] = [
  ...numberCases,
  ...nameCases,
  ...listCases,
  ...moduleCases,
  ...nativeCases,
  ...flatCases,
]

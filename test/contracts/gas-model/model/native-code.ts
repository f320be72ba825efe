/** The work of natives, without their flat prices (Pact/Core/IR/Eval/CEK/CoreBuiltin.hs). */

import type { Code } from './native-args.ts'
import { CHAIN } from './natives-chain.ts'
import { DATA } from './natives-data.ts'
import { LISTS } from './natives-lists.ts'
import { NUMBERS } from './natives-numbers.ts'

export const NATIVE_CODE: ReadonlyMap<string, Code> = new Map([...NUMBERS, ...DATA, ...LISTS, ...CHAIN])

/**
 * Chooses the order of operations of a native kernel by a short race at the first start, and remembers it. It depends on
 * the processor, the compiler and the sources, so these are the key of an entry.
 */
import { describeError } from '../../core/errors.ts'
import { readTuningFile, writeTuningFile } from '../cache-folder.ts'
import { fastestOf } from './calibrate.ts'
import { type Kernel, tailLayout } from './kernel.ts'
import { sourcesMark } from './native-files.ts'
import {
  createNativeKernel,
  type NativeAddon,
  type NativeName,
  nativeNames,
  type OrderName,
  type Orders,
  ordersIn,
} from './native-kernel.ts'
import { agreementTest } from './self-test.ts'

/** Length of work on networks with ten or more chains. Other work has only one order. */
const WORK_BYTES = 286
/** Duration of a race. With the tests before it, the choice takes 50 ms. */
const RACE_MS = 35
/** An order wins over an earlier one only if it is faster by this factor. */
const MARGIN = 1.01

export interface OrderSurroundings {
  /** File of the remembered orders (kernelTuningFileOf). */
  readonly file: string
  /** A clock. */
  readonly nowMs: () => number
  /** Returns this number of random bytes. */
  readonly random: (bytes: number) => Uint8Array
}

export interface ChosenOrders {
  readonly orders: Orders
  /** Messages for people, a sentence each. */
  readonly news: readonly string[]
}

/** The remembered orders. Measures those that the file does not have, for some 50 ms, and adds them to it. */
export function chooseOrders(addon: NativeAddon, { file, nowMs, random }: OrderSurroundings): ChosenOrders {
  const { entries, damaged } = readTuningFile(file)
  const hasOthers = entries.size > 0
  const orders: Partial<Record<NativeName, OrderName>> = {}
  const news: string[] = []
  let isNew = false
  for (const name of nativeNames) {
    const present = ordersIn(addon, name)
    if (present.length < 2) continue
    const key = orderKey(addon, name)
    const known = entries.get(key)
    const order = present.find((each) => each === known)
    if (order !== undefined) {
      orders[name] = order
      continue
    }
    news.push(...reasonsToMeasure(file, damaged || known !== undefined, hasOthers))
    orders[name] = race(name, present, addon, { nowMs, random }, news)
    entries.delete(key)
    entries.set(key, orders[name])
    isNew = true
  }
  try {
    if (isNew) writeTuningFile(file, entries)
  } catch (error) {
    news.push(`the order of the native kernel is measured at each start: ${describeError(error)}`)
  }
  return { orders, news }
}

/** The key of an entry, valid only for this processor, compiler and these sources. */
function orderKey({ exported = {} }: NativeAddon, name: NativeName): string {
  return [name, exported.processor, exported.compiler, sourcesMark().slice(-64, -48)].join('|')
}

/** Silent at the first start of a machine. */
function reasonsToMeasure(file: string, damaged: boolean, hasOthers: boolean): string[] {
  if (damaged) return [`${file} is damaged: the order of the native kernel is measured anew`]
  if (hasOthers) return [`${file} is of another processor or version: the order of the native kernel is measured anew`]
  return []
}

function race(
  name: NativeName,
  present: readonly OrderName[],
  addon: NativeAddon,
  { nowMs, random }: Omit<OrderSurroundings, 'file'>,
  news: string[],
): OrderName {
  const layout = tailLayout(WORK_BYTES)
  const kernels = new Map<Kernel, OrderName>()
  const plain = createNativeKernel(name, layout, addon)
  for (const order of present) {
    const kernel = order === 'halves' ? plain : createNativeKernel(name, layout, addon, order)
    const failure = order === 'halves' ? null : agreementTest(kernel, plain, layout, random)
    if (failure === null) kernels.set(kernel, order)
    else news.push(`the order ${order} of kernel ${name} is not used: ${failure}`)
  }
  return kernels.get(fastestOf([...kernels.keys()], nowMs, { raceMs: RACE_MS, margin: MARGIN })) ?? 'halves'
}

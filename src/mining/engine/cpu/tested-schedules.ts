/** The orders of a kernel that may race, because they compute the same. */
import { createKernel, schedulesOf } from './create-kernel.ts'
import { type Kernel, SWEEP_NONCES, tailLayout } from './kernel.ts'
import type { KernelName, ScheduleName } from './names.ts'
import type { NativeAddon } from './native-kernel.ts'
import { type DeviceRates, RACE_MS, ScheduleRace } from './schedule-race.ts'
import { testAgreement } from './self-test.ts'

/** Length of work on networks with ten or more chains. Other work has only one order. */
const WORK_BYTES = 286

/** The orders of a kernel that agree with `halves`, and why others do not, a sentence each. */
export function testedSchedules(
  name: KernelName,
  addon: NativeAddon,
  random: (bytes: number) => Uint8Array,
): { readonly kernels: ReadonlyMap<ScheduleName, Kernel>; readonly refused: readonly string[] } {
  const layout = tailLayout(WORK_BYTES)
  const plain = createKernel(name, layout, addon)
  const kernels = new Map<ScheduleName, Kernel>([['halves', plain]])
  const refused: string[] = []
  for (const order of schedulesOf(name, addon).filter((each) => each !== 'halves')) {
    const kernel = createKernel(name, layout, addon, order)
    const failure = testAgreement(kernel, plain, layout, random)
    if (failure === null) kernels.set(order, kernel)
    else refused.push(`the order ${order} of kernel ${name} is not used: ${failure}`)
  }
  return { kernels, refused }
}

/** A race in this thread alone. */
export function raceHere(
  kernels: ReadonlyMap<ScheduleName, Kernel>,
  nowMs: () => number,
  raceMs = RACE_MS,
): DeviceRates {
  for (const kernel of kernels.values()) kernel.setWork(new Uint32Array(8), new Uint32Array(16), 0)
  const race = new ScheduleRace([...kernels.keys()], raceMs)
  for (let middle = 0; !race.isOver; middle++) {
    const startMs = nowMs()
    kernels.get(race.turn)?.sweep(0, middle, 0, SWEEP_NONCES)
    race.add(SWEEP_NONCES, nowMs() - startMs)
  }
  return race.paces()
}

/** Whether a kernel has several orders for work of this length. */
export const hasSchedules = (name: KernelName, workBytes: number, addon: NativeAddon): boolean =>
  workBytes === WORK_BYTES && schedulesOf(name, addon).length > 1

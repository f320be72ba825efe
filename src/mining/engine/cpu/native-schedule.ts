/**
 * Remembers the order of operations of a native kernel that was the fastest on this machine. It depends on the
 * processor, the compiler and the sources, so these are the key of an entry.
 */
import { describeError } from '#ground/base/errors.ts'
import { readTuningFile, writeTuningFile } from '../cache-folder.ts'
import type { ScheduleName } from './names.ts'
import { sourcesMark } from './native-files.ts'
import { type KernelSchedules, type NativeAddon, type NativeName, nativeNames, schedulesIn } from './native-kernel.ts'

interface RememberedSchedules {
  readonly orders: KernelSchedules
  /** Whether the kernel that will search has several orders, and none is remembered. True without a native kernel. */
  readonly isUnknown: boolean
  /** Messages for people, a sentence each. */
  readonly news: readonly string[]
}

/**
 * @param file see kernelTuningFileOf
 * @param searching the kernel that will search. Default: the widest
 */
export function rememberedSchedules(
  addon: NativeAddon,
  file: string,
  searching = widestOf(addon),
): RememberedSchedules {
  const { entries, problem } = readTuningFile(file)
  const orders: Partial<Record<NativeName, ScheduleName>> = {}
  const news: string[] = []
  let isUnknown = searching === undefined
  for (const name of nativeNames) {
    const present = schedulesIn(addon, name)
    if (present.length < 2) continue
    const known = entries.get(scheduleKey(addon, name))
    const order = present.find((each) => each === known)
    if (order !== undefined) orders[name] = order
    else if (name === searching) {
      isUnknown = true
      news.push(
        ...reasonsToMeasure(file, problem ?? (known === undefined ? null : `${file} is damaged`), entries.size > 0),
      )
    }
  }
  return { orders, isUnknown, news }
}

const widestOf = ({ sweeps }: NativeAddon) => nativeNames.find((name) => name in sweeps)

/** Writes the fastest order of a kernel. @returns why it could not, as a sentence, or null */
export function rememberSchedule(
  addon: NativeAddon,
  file: string,
  name: NativeName,
  order: ScheduleName,
): string | null {
  try {
    const { entries } = readTuningFile(file)
    const key = scheduleKey(addon, name)
    entries.delete(key)
    writeTuningFile(file, entries.set(key, order))
    return null
  } catch (error) {
    return `the order of the native kernel is measured at each start: ${describeError(error)}`
  }
}

/** The key of an entry, valid only for this processor, compiler and these sources. */
function scheduleKey({ exported = {} }: NativeAddon, name: NativeName): string {
  return [name, exported.processor, exported.compiler, sourcesMark().slice(-64, -48)].join('|')
}

/** Silent at the first start of a machine. */
function reasonsToMeasure(file: string, problem: string | null, hasOthers: boolean): string[] {
  if (problem !== null) return [`${problem}: the order of the native kernel is measured again`]
  if (hasOthers) return [`${file} is of another processor or version: the order of the native kernel is measured again`]
  return []
}

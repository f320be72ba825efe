/**
 * Chooses threads, kernel and GPU batch by the energy of a hash, for `--tune-for efficiency`. Each kernel is tried on all
 * threads, then the best one on fewer; after that, the GPUs are tried alone with batches of several durations.
 */
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import type { KernelName } from '../engine/cpu/names.ts'
import type { SensorsOptions } from '../sensors/sensors.ts'
import { tuneErrors } from './errors.ts'
import type { OwnSearch } from './own-search.ts'

/** Where to read power. */
export type PowerSources = Omit<SensorsOptions, 'clock' | 'hasCards'>

/** Figures of a trial. */
export interface TrialFigures {
  /** Hashes per second. */
  readonly rate: number
  readonly joulesPerMegahash: number
}

/** The chosen settings. Absent ones were set by the user, or have no device. */
export interface ChosenSettings {
  readonly threads?: number
  readonly kernel?: KernelName
  readonly batchMs?: number
}

/** The settings to try. */
export interface SettingChoices {
  /** Threads without tuning; 0 if no thread searches. */
  readonly threads: number
  readonly isThreadsFree: boolean
  /** Kernels that run here and that the user allows, the fastest first. */
  readonly kernels: readonly KernelName[]
  /** Whether GPUs search, and the user left their batch free. */
  readonly isBatchFree: boolean
}

/**
 * Runs a search for some seconds.
 * @throws NewcutError if its energy is unknown
 */
type EfficiencyTrial = (search: OwnSearch) => Promise<TrialFigures>

/** A setting that was tried, as text for people, with its figures. */
export interface SettingTrial extends TrialFigures {
  readonly setting: string
}

/** Durations of a batch to try, in milliseconds. */
const BATCHES_MS = [5, 10, 25, 50]
/** Shares of all threads to try after the whole. */
const THREAD_SHARES = [0.75, 0.5, 0.25]

/** @returns fewer threads than all, descending */
export function fewerThreads(threads: number): readonly number[] {
  const counts = THREAD_SHARES.map((share) => Math.max(1, Math.round(threads * share)))
  return [...new Set(counts)].filter((count) => count < threads)
}

/**
 * Measures, and chooses the settings with the least energy per hash.
 * @throws the errors of `trial`
 */
export async function chooseEfficient(
  search: OwnSearch,
  choices: SettingChoices,
  trial: EfficiencyTrial,
): Promise<{ readonly chosen: ChosenSettings; readonly tried: readonly SettingTrial[] }> {
  const tried: SettingTrial[] = []
  const measure = async <T>(value: T, setting: string, variant: OwnSearch) => {
    const figures = await trial(variant)
    tried.push({ setting, ...figures })
    return { value, joules: figures.joulesPerMegahash }
  }
  let chosen: ChosenSettings = {}
  if (needsCpuTrials(choices)) {
    const { threads, kernels, isThreadsFree } = choices
    const onCpu = (kernel: KernelName, count: number) =>
      measure({ kernel, threads: count }, cpuText(count, kernel), { ...search, threads: count, kernel, gpu: null })
    const [first, ...others] = kernels
    let best = await onCpu(first, threads)
    for (const kernel of others) best = lowerEnergy(best, await onCpu(kernel, threads))
    const { kernel } = best.value
    for (const count of isThreadsFree ? fewerThreads(threads) : []) best = lowerEnergy(best, await onCpu(kernel, count))
    chosen = { kernel, ...(isThreadsFree && { threads: best.value.threads }) }
  }
  const { gpu } = search
  if (gpu !== null && choices.isBatchFree) {
    const onGpu = (batchMs: number) =>
      measure(batchMs, `GPU batches of ${batchMs} ms`, { ...search, threads: 0, gpu: { ...gpu, batchMs } })
    const [first, ...others] = BATCHES_MS
    let best = await onGpu(first)
    for (const batchMs of others) best = lowerEnergy(best, await onGpu(batchMs))
    chosen = { ...chosen, batchMs: best.value }
  }
  return { chosen, tried }
}

/** Whether there are several settings of the processor to choose from. */
function needsCpuTrials({ threads, kernels, isThreadsFree }: SettingChoices): boolean {
  if (threads === 0 || kernels.length === 0) return false
  return kernels.length > 1 || (isThreadsFree && fewerThreads(threads).length > 0)
}

const lowerEnergy = <T>(a: { value: T; joules: number }, b: { value: T; joules: number }) =>
  b.joules < a.joules ? b : a

const cpuText = (threads: number, kernel: string) => `${threads === 1 ? '1 thread' : `${threads} threads`} of ${kernel}`

/** The search with the chosen settings, except where the user has set others. */
export function applySettings(search: OwnSearch, { threads, kernel, batchMs }: ChosenSettings): OwnSearch {
  const { gpu } = search
  const isBatchFree = search.efficiency?.isBatchFree === true
  return {
    ...search,
    threads: search.threads === 'auto' ? (threads ?? 'auto') : search.threads,
    kernel: search.kernel === 'auto' ? (kernel ?? 'auto') : search.kernel,
    gpu: gpu === null || batchMs === undefined || !isBatchFree ? gpu : { ...gpu, batchMs },
  }
}

/** @param problem why the energy cannot be read, as the end of a sentence */
export function unreadableError(problem: string): NewcutError {
  return operatingError(tuneErrors.noEnergy, { why: problem })
}

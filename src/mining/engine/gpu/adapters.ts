/** Lists GPUs through a child process: this process never loads drivers. */

import { operatingError } from '#ground/base/errors.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { FREE_NONCE } from '#ground/chain/nonce.ts'
import { engineErrors } from '../errors.ts'
import { nonceRanges } from '../range.ts'
import { findCards } from './cards.ts'
import { GpuChild } from './child-process.ts'
import { GpuEngine, type GpuEngineOptions } from './gpu.ts'
import { cardEnv, distinguishCards, provideLayer } from './identical.ts'
import type { AdapterInfo, ListedAdapter } from './messages.ts'
import { hasWebgpu, installCommandOf } from './webgpu-package.ts'

interface AdapterList {
  readonly adapters: readonly ListedAdapter[]
  /** Why there is no GPU, with what to install, or null if there is one. */
  readonly problem: string | null
}

interface AdapterListOptions {
  /** Environment variables for the child process, in addition to those of this one. */
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** Cancels the listing; the result is then an empty list. */
  readonly signal?: AbortSignal
}

/** Opening a driver for the first time may take seconds. */
const MAX_LIST_MS = 20_000

/**
 * Lists all adapters, including software ones, and each of several identical cards where they can be distinguished. Never
 * rejects: without a driver the list is empty and `problem` explains why. Retries once if the child dies.
 */
export async function listAdapters(options: AdapterListOptions = {}): Promise<AdapterList> {
  if (!hasWebgpu()) return { adapters: [], problem: packageAdvice().problem }
  let { adapters, reason, mayPass } = await askForAdapters(options)
  if (mayPass) ({ adapters, reason } = await askForAdapters(options))
  if (adapters.length > 0) {
    const isClear = adapters.every(({ alike }) => alike === 1) || (await provideLayer()) === null
    return { adapters: isClear ? adapters : await cardsOf(adapters, options), problem: null }
  }
  return { adapters, problem: `${reason ?? 'no graphics driver was found'}; ${installHint(process.platform)}` }
}

function cardsOf(adapters: readonly ListedAdapter[], options: AdapterListOptions): Promise<readonly ListedAdapter[]> {
  return distinguishCards(adapters, async (card) => {
    const { env } = options
    const answer = await askForAdapters({ ...options, env: { ...env, ...cardEnv(card, { ...process.env, ...env }) } })
    return answer.reason === null ? answer.adapters : null
  })
}

interface AdapterAnswer {
  readonly adapters: readonly ListedAdapter[]
  readonly reason: string | null
  /** Whether a retry may succeed, because the child died. */
  readonly mayPass: boolean
}

async function askForAdapters({
  env = {},
  timeoutMs = MAX_LIST_MS,
  signal,
}: AdapterListOptions): Promise<AdapterAnswer> {
  let timer: NodeJS.Timeout | undefined
  let child: GpuChild | undefined
  let stop: () => void = () => undefined
  try {
    return await new Promise<AdapterAnswer>((resolve) => {
      const resolveEmpty = (reason: string, mayPass = false) => resolve({ adapters: [], reason, mayPass })
      timer = setTimeout(() => resolveEmpty('the graphics driver does not answer'), timeoutMs)
      stop = () => resolveEmpty('the listing was cancelled')
      if (signal?.aborted) return stop()
      signal?.addEventListener('abort', stop, { once: true })
      child = new GpuChild({
        env,
        onReport: (report) => {
          if (report.type === 'adapters') resolve({ adapters: report.adapters, reason: null, mayPass: false })
        },
        onEnd: ({ reason, hopeless }) => resolveEmpty(reason, !hopeless),
      })
      child.send({ type: 'list' })
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
    await child?.kill()
  }
}

interface PackageAdvice {
  /** Why there is no GPU. */
  readonly problem: string
  /** The line for people whose card does not mine, or null without a card and if the package is installed. */
  readonly notice: string | null
}

/** Advice to install the package `webgpu`, which newcut asks for only where there is a graphics card. */
export function packageAdvice(cards: readonly string[] = findCards(), isInstalled = hasWebgpu()): PackageAdvice {
  const command = installCommandOf()
  const makers = cards.join(', ')
  if (cards.length === 0) {
    return {
      problem: `no graphics card was found; for one, \`${command}\` adds the package that it needs`,
      notice: null,
    }
  }
  const notice =
    `the graphics card of this machine (${makers}) does not mine yet: ` +
    `\`${command}\` adds the package that it needs; \`gpu: none\` hides this line`
  return {
    problem: `the graphics card (${makers}) needs the package webgpu: \`${command}\``,
    notice: isInstalled ? null : notice,
  }
}

/** Advice on what to install for a GPU. */
function installHint(platform: NodeJS.Platform): string {
  switch (platform) {
    case 'linux':
      return (
        "install the card's Vulkan driver (NVIDIA: the proprietary driver; AMD and Intel: mesa-vulkan-drivers, " +
        'version 24 or newer) and libvulkan1'
      )
    case 'win32':
      return "install the card maker's driver (Direct3D 12)"
    case 'darwin':
      return 'Metal is part of macOS, so this Mac has no card that it supports'
    default:
      return `the npm package webgpu has no build for ${platform}: mine with \`gpu: none\``
  }
}

/**
 * Selects adapters for `--gpu`.
 * @param selection `all`, `none`, or a comma-separated list of numbers and parts of names. `all` excludes software
 * adapters unless they are allowed, and may match nothing.
 * @throws NewcutError BAD_OPTION for a number or name that matches no adapter, and for a software adapter that is not
 * allowed
 */
export function chooseAdapters<T extends AdapterInfo>(
  selection: string,
  adapters: readonly T[],
  allowSoftware: boolean,
): readonly T[] {
  if (selection === 'none') return []
  if (selection === 'all') return adapters.filter(({ software }) => allowSoftware || !software)
  const chosen = new Set<T>()
  for (const part of selection.split(',')) {
    for (const adapter of adaptersNamed(part.trim(), adapters)) {
      if (adapter.software && !allowSoftware) {
        throw operatingError(engineErrors.softwareGpu, { part, name: adapter.name })
      }
      chosen.add(adapter)
    }
  }
  return [...chosen]
}

function adaptersNamed<T extends AdapterInfo>(part: string, adapters: readonly T[]): readonly T[] {
  const found = /^\d+$/.test(part)
    ? adapters.slice(Number(part), Number(part) + 1)
    : adapters.filter(({ name }) => part !== '' && name.toLowerCase().includes(part.toLowerCase()))
  if (found.length > 0) return found
  const known = adapters.map(({ name }, index) => `${index} (${name})`).join(', ')
  const guess = suggestName(part, ['auto', 'all', 'none', ...adapters.map(({ name }) => name)])
  const listed = known === '' ? 'newcut finds no GPU here' : `GPUs here: ${known}`
  throw operatingError(engineErrors.noSuchGpu, { part, guess, listed })
}

/**
 * Measures the hashrate of an adapter on this work, with a target that nothing meets.
 * @returns hashes per second over `durationMs`
 * @throws NewcutError if the device does not search
 */
export async function measureAdapter(
  adapter: AdapterInfo,
  bytes: Uint8Array,
  options: Pick<GpuEngineOptions, 'env' | 'tuningFile' | 'batchMs' | 'retune'> & { readonly durationMs: number },
): Promise<number> {
  const { durationMs, ...rest } = options
  const ranges = nonceRanges(1, Math.random)
  const engine = new GpuEngine({ ...rest, adapters: [adapter], ranges, allowSoftware: true })
  let trouble = ''
  const onWarning = (message: string) => {
    trouble = message
  }
  await engine.start(bytes.length, { onCandidate: () => undefined, onWarning })
  try {
    await engine.setWork({ sequence: 1, job: 'measured', bytes, target: 0n, fixedNonce: FREE_NONCE })
    // Measure only after batches have grown to their full size.
    await pause(durationMs / 4)
    const [startMs, before] = [performance.now(), engine.hashes()]
    await pause(durationMs)
    const hashes = engine.hashes()
    if (hashes === before) throw operatingError(engineErrors.idleGpu, { name: adapter.name, trouble })
    return ((hashes - before) * 1000) / (performance.now() - startMs)
  } finally {
    await engine.stop()
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs))
}

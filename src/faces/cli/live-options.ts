/** The options that a running miner can change, and the differences between two configurations. */
import { type Config, type ConfigLayers, resolveLayers } from './config.ts'
import type { Notice } from './notices.ts'
import { mineOptions } from './options/mine.ts'
import { environmentName, type OptionSpec } from './options/row.ts'

export type MineConfig = Config<typeof mineOptions>
export type OptionName = keyof typeof mineOptions
type Change = Extract<Notice, { readonly type: 'configuration' }>

export const specOf = (name: string) => (mineOptions as Readonly<Record<string, OptionSpec<unknown>>>)[name]
export const isLive = (name: string) => specOf(name).isLive === true
export const isForHttp = (name: string) => specOf(name).isForHttp === true
const names = Object.keys(mineOptions) as readonly OptionName[]

/** @returns the value of an option as a file has it, or undefined if it is not set. */
export function fileValue(name: string, { values, origins }: Pick<MineConfig, 'values' | 'origins'>): unknown {
  // The default depends on the cards that mine.
  if (name === 'threads' && origins.get(name) === 'default') return undefined
  const value = (values as Readonly<Record<string, unknown>>)[name]
  return value === undefined ? undefined : specOf(name).kind.format(value)
}

export const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Whether others may see its value. */
export const isPublic = (name: string) => specOf(name).isSecret === undefined && specOf(name).isHidden === undefined

/** All set options that are not secret, as a file would have them. */
export function publicOptions(config: MineConfig): Record<string, unknown> {
  const visible = names.filter((name) => isPublic(name) && specOf(name).isFlagOnly === undefined)
  const entries = visible.map((name) => [name, fileValue(name, config)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** The configuration with the changeable options of `next`, and all others as before. */
export function withLive(before: MineConfig, next: MineConfig): MineConfig {
  const pick = <T>(now: T, then: T, name: string) => (isLive(name) ? now : then)
  const values = Object.fromEntries(names.map((name) => [name, pick(next.values[name], before.values[name], name)]))
  const origins = new Map(names.map((name) => [name, pick(next.origins, before.origins, name).get(name) ?? 'default']))
  return { ...before, values: values as MineConfig['values'], origins, layers: next.layers }
}

/**
 * The options of the file alone.
 * @throws NewcutError for an invalid value, even if another layer wins over it
 */
export function fileAlone(layers: ConfigLayers): MineConfig {
  return resolveLayers(mineOptions, { ...layers, orders: {}, flags: {}, environment: {} })
}

/** @returns an event for each option that changed. */
export function changesBetween(before: MineConfig, now: MineConfig): Change[] {
  const [fileBefore, fileNow] = [fileAlone(before.layers), fileAlone(now.layers)]
  return names.flatMap((name): Change[] => {
    const publicValue = (config: MineConfig) => (isPublic(name) ? (fileValue(name, config) ?? null) : null)
    const isOther = !isSame(fileValue(name, before), fileValue(name, now))
    if (isOther) {
      const effect = isLive(name) ? 'now' : 'next start'
      return [{ type: 'configuration', option: name, before: publicValue(before), now: publicValue(now), effect }]
    }
    const originAndValue = (config: MineConfig) => [config.origins.get(name), fileValue(name, config)]
    const reason = overridingLayer(name, now)
    if (reason === null || isSame(originAndValue(fileBefore), originAndValue(fileNow))) return []
    return [
      {
        type: 'configuration',
        option: name,
        before: publicValue(now),
        now: publicValue(fileNow),
        effect: 'none',
        reason,
      },
    ]
  })
}

/** @returns the reason why another layer wins over the file, or null if none does. */
function overridingLayer(name: OptionName, { origins }: MineConfig): string | null {
  switch (origins.get(name)) {
    case 'order':
      return 'what was asked for over HTTP wins until the end'
    case 'flag':
      return `--${name} on the command line wins`
    case 'environment':
      return `${environmentName(name)} in the environment wins`
    default:
      return null
  }
}

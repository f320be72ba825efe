/**
 * Cards that their names do not tell apart: identical ones, and those whose name is part of another's ("RTX 4070",
 * "RTX 4070 Ti"). Dawn opens only the first, so each card gets a process that sees no other. On Linux the Vulkan layer
 * native/one-card.c hides the others; environment variables tell it which card to show. The variables of the Vulkan
 * loader and of Mesa are no use here: they select by vendor and model, or work with some drivers only.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AdapterChoice, ListedAdapter } from './messages.ts'

type Variables = Readonly<Record<string, string | undefined>>

const LAYER = 'VK_LAYER_NEWCUT_one_card'

/** Where native/build.js puts it: in build/, three folders above the sources and four above the compiled files. */
const LAYER_FOLDER = fileURLToPath(
  new URL(`${import.meta.url.endsWith('.ts') ? '' : '../'}../../../build/vulkan`, import.meta.url),
)

/** The loader also numbers cards that Dawn cannot use. Up to this many of them are skipped. */
const MAX_USELESS = 4

/** Whether the layer was compiled when newcut was installed. */
export function hasLayer(): boolean {
  return existsSync(join(LAYER_FOLDER, 'one-card.json'))
}

/** Variables, in addition to `env`, for a process that is to see one card only. */
export function cardEnv(card: number, env: Variables): Record<string, string> {
  const before = (first: string, rest: string | undefined) => (rest ? `${first}:${rest}` : first)
  return {
    NEWCUT_VULKAN_CARD: String(card),
    VK_LAYER_PATH: before(LAYER_FOLDER, env.VK_LAYER_PATH),
    VK_INSTANCE_LAYERS: before(LAYER, env.VK_INSTANCE_LAYERS),
  }
}

/** The adapter, of a list in Dawn's order, that Dawn opens by this name: the first whose name contains it. */
export function openedBy<T extends AdapterChoice>(
  { backend, name }: AdapterChoice,
  adapters: readonly T[],
): T | undefined {
  return adapters.find((adapter) => adapter.backend === backend && adapter.name.includes(name))
}

/**
 * Replaces an adapter that stands for several cards by all of them, each with its number. `listCard` lists the adapters
 * of a process that is shown only the card of this number; null when that fails. Unless all cards are found, each alone
 * in its process, the adapter stays as it is.
 */
export async function tellApart(
  adapters: readonly ListedAdapter[],
  listCard: (card: number) => Promise<readonly ListedAdapter[] | null>,
): Promise<readonly ListedAdapter[]> {
  if (adapters.every(({ alike }) => alike === 1)) return adapters
  const all = adapters.reduce((sum, { alike }) => sum + alike, 0)
  const cards: ListedAdapter[] = []
  for (let card = 0; cards.length < all && card < all + MAX_USELESS; card++) {
    const seen = await listCard(card)
    if (seen === null || seen.length > 1 || seen.some(({ alike }) => alike > 1)) return adapters
    cards.push(...seen.map((adapter) => ({ ...adapter, card })))
  }
  return adapters.flatMap((adapter) => {
    const own = cards.filter((card) => openedBy(card, adapters) === adapter)
    return adapter.alike > 1 && own.length === adapter.alike ? own : [adapter]
  })
}

/** What users are told about an adapter that stands for several cards. */
export function alikeHint(alike: number, platform: NodeJS.Platform = process.platform, built = hasLayer()): string {
  const fact = `one of ${alike} cards that their names do not tell apart, and the only one used`
  if (platform !== 'linux') return `${fact}: newcut tells them apart on Linux only`
  if (built) return `${fact}: the Vulkan loader does not let newcut tell them apart`
  return `${fact}: to use all, install newcut again where there is a C compiler`
}

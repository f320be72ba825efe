/**
 * Cards that their names do not distinguish: identical ones, and those whose name is part of another's ("RTX 4070", "RTX
 * 4070 Ti"). Dawn opens only the first, so each card gets a process that sees no other. On Linux the Vulkan layer
 * native/one-card.c hides the others; environment variables select the visible card. The variables of the Vulkan loader
 * and of Mesa do not help: they select by vendor and model, or work only with some drivers.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeFolders } from '#ground/base/replace-file.ts'
import type { EnvironmentVariables } from '../cache-folder.ts'
import { cachedFile, distrust, inRoot, installedFile, lookUp, type NativePart } from '../native/part.ts'
import type { AdapterChoice, ListedAdapter } from './messages.ts'

export const LAYER: NativePart = {
  name: 'layer',
  title: 'Vulkan layer',
  folder: 'src/mining/engine/gpu/native',
  units: ['one-card.c'],
  headers: [],
  options: ['-O2'],
  extension: 'so',
  output: 'build/vulkan',
}

const LAYER_NAME = 'VK_LAYER_NEWCUT_one_card'
const MANIFEST = 'one-card.json'

/** A folder of its own, because the Vulkan loader reads all manifests in it. */
const INSTALLED = inRoot(LAYER.output)
const cachedFolder = (env: EnvironmentVariables) => join(dirname(cachedFile(LAYER, env)), 'vulkan')

/** Points the Vulkan loader to a compiled layer. */
function writeManifest(library: string, folder: string): void {
  const manifest = {
    file_format_version: '1.1.2',
    layer: {
      name: LAYER_NAME,
      type: 'INSTANCE',
      library_path: library,
      api_version: '1.3.0',
      implementation_version: '1',
      description: 'Shows one card and hides all others',
    },
  }
  makeFolders(folder, 0o700)
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Points the Vulkan loader to the layer of the installation, if it is there. */
export function writeInstalledManifest(): void {
  const file = installedFile(LAYER)
  if (existsSync(file)) writeManifest(`./${basename(file)}`, dirname(file))
}

/** The folder of a compiled layer: that of the installation, or that of the user's cache. Null if there is none. */
function layerFolder(env: EnvironmentVariables = process.env, installed: string = INSTALLED): string | null {
  if (existsSync(join(installed, MANIFEST))) return installed
  const folder = cachedFolder(env)
  const manifest = join(folder, MANIFEST)
  if (!existsSync(manifest) || lookUp(cachedFile(LAYER, env)) !== 'usable') return null
  return (distrust(folder) ?? distrust(manifest)) === null ? folder : null
}

/**
 * Provides the layer: that of the installation, or one in the user's cache, compiled now if need be.
 * @returns its folder, or null without a C compiler and where there are no layers
 */
export async function provideLayer(
  env: EnvironmentVariables = process.env,
  installed: string = INSTALLED,
): Promise<string | null> {
  const folder = layerFolder(env, installed)
  if (folder !== null || process.platform !== 'linux') return folder
  const file = cachedFile(LAYER, env)
  if (lookUp(file) === 'absent') await (await import('../native/provide.ts')).cachePart(LAYER, file, env)
  if (lookUp(file) !== 'usable') return null
  writeManifest(file, cachedFolder(env))
  return layerFolder(env, installed)
}

/** The loader also numbers cards that Dawn cannot use. Up to this many of them are skipped. */
const MAX_SKIPPED_CARDS = 4

/** Environment variables, in addition to `env`, for a process that sees only one card. */
export function cardEnv(
  card: number,
  env: EnvironmentVariables,
  folder: string = layerFolder() ?? INSTALLED,
): Record<string, string> {
  const before = (first: string, rest: string | undefined) => (rest ? `${first}:${rest}` : first)
  return {
    NEWCUT_VULKAN_CARD: String(card),
    VK_LAYER_PATH: before(folder, env.VK_LAYER_PATH),
    VK_INSTANCE_LAYERS: before(LAYER_NAME, env.VK_INSTANCE_LAYERS),
  }
}

/** The adapter that Dawn opens by this name: the first of a list in Dawn's order whose name contains it. */
export function openedBy<T extends AdapterChoice>(
  { backend, name }: AdapterChoice,
  adapters: readonly T[],
): T | undefined {
  return adapters.find((adapter) => adapter.backend === backend && adapter.name.includes(name))
}

/**
 * Replaces an adapter that represents several cards by all of them, each with its number. Unless it finds every card
 * alone in its process, the adapter stays unchanged.
 * @param listCard lists the adapters of a process that sees only the card of this number, or returns null if that fails
 */
export async function distinguishCards(
  adapters: readonly ListedAdapter[],
  listCard: (card: number) => Promise<readonly ListedAdapter[] | null>,
): Promise<readonly ListedAdapter[]> {
  if (adapters.every(({ alike }) => alike === 1)) return adapters
  const total = adapters.reduce((sum, { alike }) => sum + alike, 0)
  const cards: ListedAdapter[] = []
  for (let card = 0; cards.length < total && card < total + MAX_SKIPPED_CARDS; card++) {
    const seen = await listCard(card)
    if (seen === null || seen.length > 1 || seen.some(({ alike }) => alike > 1)) return adapters
    cards.push(...seen.map((adapter) => ({ ...adapter, card })))
  }
  return adapters.flatMap((adapter) => {
    const own = cards.filter((card) => openedBy(card, adapters) === adapter)
    return adapter.alike > 1 && own.length === adapter.alike ? own : [adapter]
  })
}

/** Message for users about an adapter that represents several cards. */
export function alikeHint(
  alike: number,
  platform: NodeJS.Platform = process.platform,
  built = layerFolder() !== null,
): string {
  const fact = `one of ${alike} cards with names that do not distinguish them, and the only one used`
  if (platform !== 'linux') return `${fact}: newcut distinguishes them on Linux only`
  if (built) return `${fact}: the Vulkan loader does not let newcut distinguish them`
  return `${fact}: to use all, install a C compiler and start newcut again`
}

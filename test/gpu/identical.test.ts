/**
 * Identical cards: the software driver, loaded several times from separate files, appears as several cards of one name.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { listAdapters } from '../../src/mining/engine/gpu/adapters.ts'
import { adaptersIn } from '../../src/mining/engine/gpu/dawn.ts'
import { GpuEngine } from '../../src/mining/engine/gpu/gpu.ts'
import {
  alikeHint,
  cardEnv,
  distinguishCards,
  LAYER,
  provideLayer,
  writeInstalledManifest,
} from '../../src/mining/engine/gpu/identical.ts'
import type { ListedAdapter } from '../../src/mining/engine/gpu/messages.ts'
import { installPart } from '../../src/mining/engine/native/provide.ts'
import { nonceRanges } from '../../src/mining/engine/range.ts'
import { describeWith } from '../needs.ts'
import { engineWork, freshWork, UNREACHABLE } from '../support/work.ts'
import { until } from '../wait.ts'
import { driverLack, testDriver } from './driver.ts'

const env = (await testDriver())?.env ?? null
const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'newcut-'))
const NAME = 'SwiftShader Device (Subzero)'
/**
 * Name of another card -> the text that replaces `SwiftShader Device` in the driver, zero-padded to the same length.
 */
const OTHERS = new Map([
  ['SwiftShader Second (Subzero)', 'SwiftShader Second'],
  ['Shader Device (Subzero)', 'Shader Device\0\0\0\0\0'],
])
const [OTHER, PART] = OTHERS.keys()

afterAll(() => rmSync(folder, { recursive: true }))

/** Environment with a card for each of these names, in this order. */
function environmentWith(names: readonly string[]): Record<string, string> {
  const manifest = env?.VK_ICD_FILENAMES ?? ''
  const manifests = names.map((name) => {
    const own = mkdtempSync(join(folder, 'driver-'))
    const library = readFileSync(join(dirname(manifest), 'libvk_swiftshader.so')).toString('latin1')
    const renamed = library.replaceAll('SwiftShader Device', OTHERS.get(name) ?? 'SwiftShader Device')
    writeFileSync(join(own, 'libvk_swiftshader.so'), renamed, 'latin1')
    copyFileSync(manifest, join(own, 'icd.json'))
    return join(own, 'icd.json')
  })
  return { ...env, VK_ICD_FILENAMES: manifests.join(':') }
}

/** Makes the Vulkan loader ignore the layer, as a loader that is too old for it does. */
const NO_LAYERS = { VK_LOADER_LAYERS_DISABLE: '*' }

/** Builds the layer. @returns the reason if there is none, or null */
async function buildLayer(): Promise<string | null> {
  if (env?.VK_ICD_FILENAMES === undefined) return driverLack() ?? 'the driver of the machine cannot be loaded twice'
  const message = await installPart(LAYER, process.env)
  writeInstalledManifest()
  return (await provideLayer()) === null ? message : null
}

describeWith(await buildLayer(), 'identical cards', () => {
  const twins = environmentWith([NAME, NAME])
  const three = environmentWith([NAME, OTHER, NAME])

  it('each process sees one of several identical cards', async () => {
    for (const [card, name] of [NAME, OTHER, NAME].entries()) {
      const { adapters } = await listAdapters({ env: { ...three, ...cardEnv(card, {}) } })
      expect(adapters).toMatchObject([{ name, alike: 1 }])
    }
    const { adapters, problem } = await listAdapters({ env: { ...three, ...cardEnv(3, {}) } })
    expect(adapters).toEqual([])
    expect(problem).not.toBeNull()
  })

  it('newcut compiles the layer for identical cards at first use, into the cache of the user', async () => {
    const own = { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') }
    const nowhere = join(folder, 'nowhere')
    const layer = await provideLayer(own, nowhere)
    expect(layer).toBe(join(folder, 'cache/newcut/native/vulkan'))
    expect(await provideLayer(own, nowhere)).toBe(layer)
    for (const [card, name] of [NAME, OTHER].entries()) {
      const { adapters } = await listAdapters({ env: { ...three, ...cardEnv(card, {}, layer ?? '') } })
      expect(adapters).toMatchObject([{ name, alike: 1 }])
    }
    // Another user may write there.
    chmodSync(layer ?? '', 0o777)
    expect(await provideLayer(own, nowhere)).toBeNull()
  })

  it('the list gives each identical card its number, and a card with a unique name none', async () => {
    const { adapters } = await listAdapters({ env: three })
    expect(adapters.map(({ name, card, alike }) => [name, card, alike])).toEqual([
      [NAME, 0, 1],
      [NAME, 2, 1],
      [OTHER, undefined, 1],
    ])
  })

  it('identical cards are distinguished from a card whose name contains theirs, whichever comes first', async () => {
    for (const names of [
      [NAME, PART],
      [PART, NAME],
    ]) {
      const { adapters } = await listAdapters({ env: environmentWith(names) })
      expect(adapters.map(({ name }) => name).sort()).toEqual([PART, NAME].sort())
      // The name in Dawn's list is not proof; `device` comes from the opened card.
      expect(adapters.map(({ device }) => device).sort()).toEqual([
        'shader-device-subzero-',
        'swiftshader-device-subzero-',
      ])
    }
  })

  it('identical cards mine each in its own process, which sees one card', async () => {
    const { adapters } = await listAdapters({ env: twins })
    expect(adapters).toHaveLength(2)
    const ranges = nonceRanges(2, Math.random)
    const engine = new GpuEngine({ adapters, ranges, allowSoftware: true, tuningFile: null, env: twins })
    const warnings: string[] = []
    const onWarning = (message: string) => void warnings.push(message)
    await engine.start(286, { onCandidate: () => undefined, onWarning })
    try {
      await engine.setWork(engineWork(1, freshWork(UNREACHABLE), 0n))
      await until(() => engine.devices().every(({ hashes }) => hashes > 0))
      const cards = engine.details().map(({ pid }) => {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').match(/NEWCUT_VULKAN_CARD=\d+/)?.[0]
      })
      expect(cards).toEqual(['NEWCUT_VULKAN_CARD=0', 'NEWCUT_VULKAN_CARD=1'])
      expect(warnings).toEqual([])
    } finally {
      await engine.stop()
    }
  })

  it('identical cards count as one adapter if the layer does nothing, and mining warns of that', async () => {
    const env = { ...twins, ...NO_LAYERS }
    const { adapters } = await listAdapters({ env })
    expect(adapters).toMatchObject([{ name: NAME, alike: 2 }])
    expect(adapters[0].card).toBeUndefined()
    const ranges = nonceRanges(1, Math.random)
    const engine = new GpuEngine({ adapters, ranges, allowSoftware: true, tuningFile: null, env })
    const warnings: string[] = []
    const onWarning = (message: string) => void warnings.push(message)
    await engine.start(286, { onCandidate: () => undefined, onWarning })
    await engine.stop()
    expect(warnings).toEqual([expect.stringMatching(/^gpu0, SwiftShader.*: one of 2 cards with names/)])
  })

  it.each([
    ['every card', {}, 2, 0],
    ['the first card and their number without the layer', NO_LAYERS, 1, 1],
  ])('`newcut devices` shows %s', (_, more, devices, hints) => {
    const { stdout, status } = spawnSync(process.execPath, [join(root, 'dist/src/main.js'), 'devices'], {
      env: { ...process.env, ...twins, ...more },
      encoding: 'utf8',
    })
    expect(status).toBe(0)
    expect(stdout.match(/^\d: SwiftShader/gm)).toHaveLength(devices)
    expect(stdout.match(/one of 2 cards .* the only one used/g) ?? []).toHaveLength(hints)
  })
})

describe('the numbering of cards', () => {
  const adapter = (name: string, alike = 1): ListedAdapter => ({
    name,
    alike,
    software: false,
    backend: 'vulkan',
    vendor: '',
    architecture: '',
    device: '',
    driver: '',
    limits: { invocationsPerWorkgroup: 256, workgroupsPerDimension: 65_535, storageBufferBytes: 1 },
  })
  /** The answer of `distinguishCards` if the process of card number i sees `seen[i]`. */
  const distinguish = async (adapters: ListedAdapter[], seen: (ListedAdapter[] | null)[]) => {
    const listed = await distinguishCards(adapters, async (card) => (card < seen.length ? seen[card] : []))
    return listed.map(({ name, alike, card }) => `${alike} ${name} ${card}`)
  }

  it('the numbering of cards skips those that Dawn cannot use, and keeps the order of the list', async () => {
    const seen = [[], [adapter('B')], [adapter('A')], [], [adapter('A')]]
    expect(await distinguish([adapter('A', 2), adapter('B')], seen)).toEqual(['1 A 2', '1 A 4', '1 B undefined'])
  })

  it('the numbering assigns a card to the adapter that Dawn opens under its name', async () => {
    const seen = [[adapter('RTX 1 Ti')], [adapter('RTX 1')], [adapter('RTX 2')]]
    const wanted = ['1 RTX 1 Ti 0', '1 RTX 1 1', '1 RTX 2 undefined']
    expect(await distinguish([adapter('RTX 1 Ti', 2), adapter('RTX 2')], seen)).toEqual(wanted)
  })

  it.each([
    ['a card is missing', [[adapter('A')]]],
    ['the processes see more cards than the list', [[adapter('B')], [adapter('A')], [adapter('A')], [adapter('A')]]],
    ['a process sees two', [[adapter('A', 2)], [adapter('A')]]],
    ['a process sees two of different names', [[adapter('A'), adapter('B')]]],
    ['no process sees a card', []],
    ['a process fails', [null, [adapter('A')], [adapter('A')]]],
  ])('the numbering of cards leaves the list as it is when %s', async (_, seen) => {
    expect(await distinguish([adapter('A', 2)], seen)).toEqual(['2 A undefined'])
  })

  it('the numbering of cards starts no processes if all names differ', async () => {
    const never = () => Promise.reject(new Error('asked'))
    const adapters = [adapter('A'), adapter('B')]
    expect(await distinguishCards(adapters, never)).toEqual(adapters)
  })

  it('the environment of a card keeps the layers of the user', () => {
    expect(cardEnv(3, { VK_LAYER_PATH: '/l', VK_INSTANCE_LAYERS: 'MINE' })).toEqual({
      NEWCUT_VULKAN_CARD: '3',
      VK_LAYER_PATH: expect.stringMatching(/build\/vulkan:\/l$/),
      VK_INSTANCE_LAYERS: 'VK_LAYER_NEWCUT_one_card:MINE',
    })
  })

  it('the hint about identical cards fits the platform', () => {
    expect(alikeHint(3, 'linux', false)).toMatch(/^one of 3 cards .*C compiler/)
    expect(alikeHint(3, 'linux', true)).toMatch(/loader/)
    expect(alikeHint(3, 'win32', false)).toMatch(/on Linux only/)
  })
})

describe('names in a refusal', () => {
  const refusal = [
    'no suitable backends found',
    'Available adapters:',
    " * backend: 'vulkan', name: 'Card'",
    " * backend: 'vulkan', name: 'It's'",
    " * backend: 'vulkan', name: 'Card Ti'",
    " * backend: 'vulkan', name: 'Card'",
    " * backend: 'opengl', name: 'Card'",
    " * backend: 'null', name: 'Null backend'",
  ].join('\n')

  it('the names in a refusal are listed in order and counted for the preferred backend', () => {
    expect(adaptersIn(refusal, 'linux')).toEqual([
      { backend: 'vulkan', name: 'Card', alike: 2 },
      { backend: 'vulkan', name: "It's", alike: 1 },
      { backend: 'vulkan', name: 'Card Ti', alike: 1 },
    ])
  })

  it('the names in a refusal are counted with the first name that contains them', () => {
    const lines = ['Card Ti', 'Card', 'Card Ti', 'Car'].map((name) => ` * backend: 'vulkan', name: '${name}'`)
    expect(adaptersIn(lines.join('\n'), 'linux')).toEqual([{ backend: 'vulkan', name: 'Card Ti', alike: 4 }])
  })

  it('the names in a refusal are listed for any backend but null if the preferred one has none', () => {
    expect(adaptersIn(refusal, 'win32').map(({ backend, alike }) => `${backend} ${alike}`)).toEqual([
      'vulkan 2',
      'vulkan 1',
      'vulkan 1',
      'opengl 1',
    ])
    expect(adaptersIn('', 'linux')).toEqual([])
  })
})

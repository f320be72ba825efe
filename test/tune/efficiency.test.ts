/** `--tune-for efficiency`: what is tried, chosen and remembered. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { applySettings, chooseEfficient, fewerThreads, type SettingChoices } from '../../src/mining/tune/efficiency.ts'
import { readTunedSettings, writeTunedSettings } from '../../src/mining/tune/efficiency-file.ts'
import type { GpuSetup, OwnSearch } from '../../src/mining/tune/own-search.ts'
import { checkTuning } from '../../src/mining/tune/tune-for.ts'
import { startMiner, temporaryFolder } from '../api/running.ts'
import { paceSearch } from '../pace.ts'
import { powercapFolder, runningPackage } from '../sensors/powercap-folder.ts'

paceSearch()

const gpu: GpuSetup = {
  ...{ which: 'all', neededBy: null, batchMs: 10, workgroup: undefined },
  ...{ allowSoftware: false, retune: false, tuningFile: null },
}
const efficiency = { file: '/nowhere/file', retune: false, isBatchFree: true }
const search: OwnSearch = { kind: 'own', threads: 'auto', kernel: 'auto', priority: 'low', gpu, efficiency }
const cpuOnly: SettingChoices = {
  ...{ threads: 8, isThreadsFree: true, kernels: ['native-avx512', 'native-avx2'], isBatchFree: false },
}

/** Trials whose joules come from this function. */
function trialsOf(joulesOf: (search: OwnSearch) => number) {
  const variants: OwnSearch[] = []
  const trial = async (variant: OwnSearch) => {
    variants.push(variant)
    return { rate: 1e6, joulesPerMegahash: joulesOf(variant) }
  }
  return { variants, trial }
}

describe('choice by energy', () => {
  it('the search tries each kernel on all threads, then the best one on fewer, without GPUs', async () => {
    const { variants, trial } = trialsOf(({ kernel, threads }) => (kernel === 'native-avx2' ? 1 : 2) * Number(threads))
    const { chosen, tried } = await chooseEfficient(search, cpuOnly, trial)
    expect(variants.map(({ kernel, threads }) => [kernel, threads])).toEqual([
      ...[
        ['native-avx512', 8],
        ['native-avx2', 8],
        ['native-avx2', 6],
        ['native-avx2', 4],
        ['native-avx2', 2],
      ],
    ])
    expect(variants.every((variant) => variant.gpu === null)).toBe(true)
    expect(chosen).toEqual({ kernel: 'native-avx2', threads: 2 })
    expect(tried[0]).toEqual({ setting: '8 threads of native-avx512', rate: 1e6, joulesPerMegahash: 16 })
  })

  it('the search keeps the first of equal settings: the faster kernel, and all threads', async () => {
    const { trial } = trialsOf(() => 1)
    expect((await chooseEfficient(search, cpuOnly, trial)).chosen).toEqual({ kernel: 'native-avx512', threads: 8 })
  })

  it('the search leaves the number of threads that the user gives', async () => {
    const { variants, trial } = trialsOf(({ kernel }) => (kernel === 'native-avx2' ? 1 : 2))
    const { chosen } = await chooseEfficient(search, { ...cpuOnly, isThreadsFree: false }, trial)
    expect(variants).toHaveLength(2)
    expect(chosen).toEqual({ kernel: 'native-avx2' })
  })

  it('the search tries nothing where there is nothing to choose', async () => {
    const { variants, trial } = trialsOf(() => 1)
    const given = { ...cpuOnly, isThreadsFree: false, kernels: ['wasm'] as const }
    expect(await chooseEfficient(search, given, trial)).toEqual({ chosen: {}, tried: [] })
    expect(await chooseEfficient(search, { ...cpuOnly, threads: 0 }, trial)).toEqual({ chosen: {}, tried: [] })
    expect(variants).toEqual([])
  })

  it('the search tries batch sizes for the GPUs without the CPU', async () => {
    const { variants, trial } = trialsOf((variant) => Math.abs((variant.gpu?.batchMs ?? 0) - 25))
    const choices = { ...cpuOnly, threads: 0, isBatchFree: true }
    const { chosen, tried } = await chooseEfficient(search, choices, trial)
    expect(variants.map((variant) => [variant.threads, variant.gpu?.batchMs])).toEqual([
      ...[
        [0, 5],
        [0, 10],
        [0, 25],
        [0, 50],
      ],
    ])
    expect(chosen).toEqual({ batchMs: 25 })
    expect(tried[2].setting).toBe('GPU batches of 25 ms')
  })

  it('the search tries three quarters, half and a quarter of all threads', () => {
    expect(fewerThreads(64)).toEqual([48, 32, 16])
    expect(fewerThreads(2)).toEqual([1])
    expect(fewerThreads(1)).toEqual([])
  })
})

describe('remembered choice', () => {
  const chosen = { threads: 3, kernel: 'native-avx2', batchMs: 25 } as const

  it('a remembered choice applies to settings that the user left free', () => {
    expect(applySettings(search, chosen)).toMatchObject({ threads: 3, kernel: 'native-avx2', gpu: { batchMs: 25 } })
    const given = { ...search, threads: 5, kernel: 'wasm', efficiency: { ...efficiency, isBatchFree: false } } as const
    expect(applySettings(given, chosen)).toMatchObject({ threads: 5, kernel: 'wasm', gpu: { batchMs: 10 } })
    expect(applySettings(search, {})).toEqual(search)
  })

  it('a choice is remembered per machine, beside the choices of other machines', () => {
    const file = join(temporaryFolder(), 'below', 'tuning.json')
    expect(readTunedSettings(file, 'a')).toEqual({ chosen: null, why: null })
    writeTunedSettings(file, 'a', chosen)
    writeTunedSettings(file, 'b', { threads: 1 })
    expect(readTunedSettings(file, 'a')).toEqual({ chosen, why: null })
    expect(readTunedSettings(file, 'b')).toEqual({ chosen: { threads: 1 }, why: null })
    const other = { chosen: null, why: `${file} is of another machine, version or setting` }
    expect(readTunedSettings(file, 'c')).toEqual(other)
    for (let i = 0; i < 15; i++) writeTunedSettings(file, `more ${i}`, {})
    expect(readTunedSettings(file, 'a')).toEqual(other)
    expect(readTunedSettings(file, 'b').chosen).toEqual({ threads: 1 })
  })

  it('a choice is not read from a damaged file, which the next choice replaces', () => {
    const file = join(temporaryFolder(), 'tuning.json')
    for (const text of ['{', '[]', '{"a":{"threads":0}}', '{"a":{"kernel":"other"}}', 'null']) {
      writeFileSync(file, text)
      expect(readTunedSettings(file, 'a')).toEqual({ chosen: null, why: `${file} is damaged` })
    }
    writeTunedSettings(file, 'a', chosen)
    expect(readTunedSettings(file, 'a').chosen).toEqual(chosen)
  })

  it('a choice is not read from a file with another number of threads than newcut wrote', () => {
    const file = join(temporaryFolder(), 'tuning.json')
    writeTunedSettings(file, 'a', chosen)
    writeFileSync(file, readFileSync(file, 'utf8').replace('"threads": 3', '"threads": 7'))
    expect(readTunedSettings(file, 'a')).toEqual({ chosen: null, why: `${file} is damaged` })
  })

  it('the text of an unreadable file says why', () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'tuning.json'))
    expect(readTunedSettings(join(folder, 'tuning.json'), 'a').why).toContain('cannot be read: EISDIR')
  })
})

describe('miner that is tuned for efficiency', () => {
  it('tuning for efficiency is refused where the energy of the processor cannot be read', async () => {
    const places = { hwmon: '/nowhere', powercap: '/nowhere', env: {} }
    await expect(checkTuning(search, places)).rejects.toMatchObject({
      code: 'BAD_OPTION',
      message:
        '`tune-for: efficiency` needs the energy of each hash: this machine does not report the power of the processor: /nowhere has no package',
    })
    await checkTuning({ ...search, threads: 0 }, places)
    await checkTuning({ ...search, efficiency: undefined }, places)
  })

  const notices = (events: readonly MinerEvent[]) =>
    events.flatMap((event) => (event.type === 'notice' ? [event.message] : []))

  it('a miner tuned for efficiency measures at the first start, mines with its choice, and remembers it', async () => {
    const powercap = runningPackage()
    const file = join(temporaryFolder(), 'tuning.json')
    writeFileSync(file, '{"another machine":{"threads":1}}')
    // Few blocks, since only the search matters.
    const own = { threads: 'auto', kernel: 'js', difficulty: 100_000_000n } as const
    const options = { ...own, powercap, efficiency: { ...efficiency, file } }
    const first = await startMiner(options)
    const told = notices(first.events)
    expect(told[0]).toBe(`efficiency: ${file} is of another machine, version or setting; measuring again`)
    expect(told[2]).toMatch(/^efficiency: \d+ threads? of js: [\d.]+ [mk]?J\/MH at [\d.]+ [kMG]?H\/s$/)
    const choice = /^efficiency: chose (\d+) CPU threads?, js$/.exec(told.at(-1) ?? '')
    expect(choice).not.toBeNull()
    const devices = async () => ((await first.json('/api/summary')) as Snapshot).devices.length
    await expect.poll(devices).toBe(Number(choice?.[1]))
    expect(existsSync(file)).toBe(true)
    const kept = readFileSync(file, 'utf8')
    const second = await startMiner(options)
    expect(notices(second.events)).toEqual([
      `efficiency: ${choice?.[1]} CPU thread${choice?.[1] === '1' ? '' : 's'}, js, as measured before (${file})`,
    ])
    expect(readFileSync(file, 'utf8')).toBe(kept)
  })

  it('a miner tuned for efficiency does not start if the counters do not move', async () => {
    const powercap = powercapFolder({ 'intel-rapl:0': { name: 'package-0', energy: 5 } })
    const file = join(temporaryFolder(), 'tuning.json')
    const start = startMiner({ powercap, threads: 'auto', efficiency: { ...efficiency, file } })
    await expect(start).rejects.toMatchObject({ code: 'BAD_OPTION', message: expect.stringContaining('no energy') })
    expect(existsSync(file)).toBe(false)
  })
})

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createJsKernel } from '../../src/mining/engine/cpu/js-kernel.ts'
import { type Kernel, tailLayout } from '../../src/mining/engine/cpu/kernel.ts'
import { chooseKernel } from '../../src/mining/engine/cpu/kernels.ts'
import type { ScheduleName } from '../../src/mining/engine/cpu/names.ts'
import { chooseNative, loadChosen } from '../../src/mining/engine/cpu/native-choice.ts'
import {
  createNativeKernel,
  type NativeAddon,
  nativeNames,
  schedulesIn,
} from '../../src/mining/engine/cpu/native-kernel.ts'
import { rememberedSchedules, rememberSchedule } from '../../src/mining/engine/cpu/native-schedule.ts'
import { fastestSchedule, raceMsOf, ScheduleRace } from '../../src/mining/engine/cpu/schedule-race.ts'
import { testAgreement } from '../../src/mining/engine/cpu/self-test.ts'
import { raceHere, testedSchedules } from '../../src/mining/engine/cpu/tested-schedules.ts'
import { itWith } from '../needs.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-order-'))
afterAll(() => rmSync(folder, { recursive: true }))
const layout = tailLayout(286)
const native = loadChosen(chooseNative())
const [widest] = nativeNames.filter((name) => name in native.sweeps)
const noKernel = native.obstacle === null ? null : `there is no native kernel (${native.obstacle}): npm run install`

/** A file of kernels that find nothing, on a clock that only they move. */
class FakeFile {
  ms = 0
  readonly addon: NativeAddon

  constructor(costMs: Record<string, number>, processor = 'one 00000001') {
    const sweep = (cost: number) => (_: Uint32Array, from: number, to: number) => {
      this.ms += cost * ((to - from) / 8192)
      return to
    }
    const sweeps = Object.fromEntries(Object.entries(costMs).map(([name, cost]) => [name, sweep(cost)]))
    this.addon = { sweeps, exported: { ...sweeps, processor, compiler: 'gcc 12' }, obstacle: null }
  }

  /** The order that a race in this thread chooses. */
  race(current: ScheduleName = 'halves'): ScheduleName {
    const { kernels } = testedSchedules('native-avx512', this.addon, randomBytes)
    return fastestSchedule(current, [raceHere(kernels, () => this.ms)])
  }
}

const costs = { 'native-avx512': 1, 'native-avx512 steps': 0.9, 'native-avx512 mixed': 0.8, 'native-avx2': 2 }
const mixed = { 'native-avx512': 'mixed' }
const unknown = { orders: {}, isUnknown: true, news: [] }

describe('a race of orders', () => {
  it.each([
    ['mixed', 0.9, 0.8],
    ['steps', 0.8, 0.9],
    ['halves', 1.1, 1.2],
    ['halves', 0.985, 0.999],
  ] as const)(
    'a race of orders chooses the fastest, and changes the choice only for two per cent: %s',
    (order, steps, mixed) => {
      const fake = new FakeFile({ ...costs, 'native-avx512 steps': steps, 'native-avx512 mixed': mixed })
      expect(fake.race()).toBe(order)
    },
  )

  it('a race of orders gives all orders the same number of slices, in turn, and takes the median of each', () => {
    const race = new ScheduleRace(['halves', 'single'], raceMsOf('native-avx2', true))
    const turns: ScheduleName[] = []
    for (let i = 0; !race.isOver; i++) {
      turns.push(race.turn)
      // A neighbour takes a third of the slices.
      race.add(1000, (race.turn === 'single' ? 2 : 3) * (i % 3 === 0 ? 10 : 1))
    }
    expect(turns.slice(0, 4)).toEqual(['halves', 'single', 'halves', 'single'])
    expect(turns.filter((each) => each === 'single')).toHaveLength(turns.length / 2)
    expect(race.paces()).toEqual({ halves: 3000, single: 2000 })
  })

  it('a race of orders lasts for 150 ms of fast slices, and for 24 slices of each order', () => {
    const slicesOf = (milliseconds: number) => {
      const race = new ScheduleRace(['halves', 'single'], raceMsOf('native-avx2', true))
      let slices = 0
      for (; !race.isOver; slices++) race.add(1000, milliseconds)
      return slices
    }
    expect([slicesOf(0.5), slicesOf(10)]).toEqual([300, 48])
  })

  it('a race of orders measures WebAssembly until most slices are of optimised code, in its first race only', () => {
    expect([raceMsOf('wasm', true), raceMsOf('wasm', false), raceMsOf('native-avx2', true)]).toEqual([2000, 150, 150])
    const { kernels, refused } = testedSchedules(
      'wasm',
      { sweeps: {}, obstacle: 'kernel native is not built' },
      randomBytes,
    )
    expect([...kernels].map(([order, { lanes }]) => [order, lanes])).toEqual([
      ['halves', 8],
      ['single', 4],
    ])
    expect(refused).toEqual([])
    // V8 optimises each order after its first slices, which are ten times slower.
    const race = new ScheduleRace([...kernels.keys()], raceMsOf('wasm', true))
    for (let count = 0; !race.isOver; count++) {
      const pace = race.turn === 'single' ? 1.5 : 2
      race.add(1e6, pace * (count < 50 ? 10 : 1))
    }
    expect(fastestSchedule('halves', [race.paces()])).toBe('single')
    expect(race.paces()).toEqual({ halves: 2, single: 1.5 })
  })

  it('a race of orders decides for all threads together, whatever one of them prefers', () => {
    const alone = { halves: 10, single: 9, mixed: 5 }
    const beside = { halves: 20, single: 8, mixed: 40 }
    expect(fastestSchedule('halves', [alone, beside])).toBe('single')
    expect(fastestSchedule('halves', [alone])).toBe('mixed')
    expect(fastestSchedule('mixed', [{ halves: 10, mixed: 10.1 }])).toBe('mixed')
  })

  it('a race of orders leaves out an order that disagrees with halves, and says so', () => {
    const fake = new FakeFile(costs)
    const exported = { ...fake.addon.exported, 'native-avx512 mixed': (_: Uint32Array, from: number) => from }
    const { kernels, refused } = testedSchedules('native-avx512', { ...fake.addon, exported }, randomBytes)
    expect([...kernels.keys()]).toEqual(['halves', 'steps'])
    expect(refused).toEqual([expect.stringMatching(/^the order mixed of kernel native-avx512 is not used: nonces \d/)])
  })
})

describe('the order of a native kernel', () => {
  let file: string
  let count = 0
  beforeEach(() => {
    file = join(folder, `${count++}`, 'kernel-tuning.json')
  })

  it('the order of a native kernel is remembered for a processor, compiler and sources', () => {
    const { addon } = new FakeFile(costs)
    expect(rememberedSchedules(addon, file)).toEqual(unknown)
    expect(rememberSchedule(addon, file, 'native-avx512', 'mixed')).toBeNull()
    expect(rememberedSchedules(addon, file)).toEqual({ orders: mixed, isUnknown: false, news: [] })
    rememberSchedule(addon, file, 'native-avx512', 'steps')
    expect(rememberedSchedules(addon, file).orders).toEqual({ 'native-avx512': 'steps' })
  })

  it('no line reports an unknown order of a kernel that is not selected', () => {
    const { addon } = new FakeFile({ ...costs, 'native-avx2 single': 1 })
    rememberSchedule(addon, file, 'native-avx512', 'mixed')
    expect(rememberedSchedules(addon, file)).toEqual({ orders: mixed, isUnknown: false, news: [] })
    expect(rememberedSchedules(addon, file, 'native-avx2').isUnknown).toBe(true)
  })

  it('the order of a native kernel is unknown if it has only one', () => {
    const { addon } = new FakeFile({ 'native-avx2': 1 })
    expect(rememberedSchedules(addon, file)).toEqual({ orders: {}, isUnknown: false, news: [] })
  })

  it('the order of a native kernel is unknown with a line on another processor, and both orders are remembered', () => {
    const [one, other] = [new FakeFile(costs), new FakeFile(costs, 'two 00000002')]
    rememberSchedule(one.addon, file, 'native-avx512', 'mixed')
    const news = [`${file} is of another processor or version: the order of the native kernel is measured again`]
    expect(rememberedSchedules(other.addon, file)).toEqual({ ...unknown, news })
    rememberSchedule(other.addon, file, 'native-avx512', 'steps')
    expect(rememberedSchedules(other.addon, file).orders).toEqual({ 'native-avx512': 'steps' })
    expect(rememberedSchedules(one.addon, file).orders).toEqual(mixed)
  })

  it.each([
    ['no JSON', '{"native'],
    ['an array', '[]'],
    ['an order that the file of kernels lacks', null],
  ])('the order of a native kernel is unknown with a line if the file is damaged: %s', (_, text) => {
    const { addon } = new FakeFile(costs)
    rememberSchedule(addon, file, 'native-avx512', 'mixed')
    writeFileSync(file, text ?? readFileSync(file, 'utf8').replace('"mixed"', '"fastest"'))
    const news = [`${file} is damaged: the order of the native kernel is measured again`]
    expect(rememberedSchedules(addon, file)).toEqual({ ...unknown, news })
    expect(rememberSchedule(addon, file, 'native-avx512', 'mixed')).toBeNull()
    expect(rememberedSchedules(addon, file)).toEqual({ orders: mixed, isUnknown: false, news: [] })
  })

  it('the order of a native kernel is not remembered if the file cannot be written, and a line says so', () => {
    writeFileSync(join(folder, 'taken'), '')
    const unwritable = join(folder, 'taken', 'kernel-tuning.json')
    const why = rememberSchedule(new FakeFile(costs).addon, unwritable, 'native-avx512', 'mixed')
    expect(why).toMatch(/^the order of the native kernel is measured at each start: .+/)
  })

  itWith(noKernel, 'a search thread uses the order halves if the chosen one fails its self-test', () => {
    const exported = { ...native.exported, [`${widest} steps`]: () => 0 }
    const addon: NativeAddon = { ...native, exported, orders: { [widest]: 'steps' } }
    const { kernel, refused } = chooseKernel(286, widest, randomBytes, new Set(), () => addon)
    expect(kernel?.name).toBe(widest)
    expect(refused).toEqual([expect.stringMatching(`^order steps of kernel ${widest} failed its self-test: nonces `)])
  })

  itWith(noKernel, 'a search thread uses the chosen order', () => {
    let sweeps = 0
    const run = native.sweeps[widest]
    if (run === undefined) throw new Error('no kernel')
    const counted: typeof run = (...args) => {
      sweeps++
      return run(...args)
    }
    const exported = { ...native.exported, [`${widest} steps`]: counted }
    const addon: NativeAddon = { ...native, exported, orders: { [widest]: 'steps' } }
    const { kernel, refused } = chooseKernel(286, widest, randomBytes, new Set(), () => addon)
    expect(refused).toEqual([])
    sweeps = 0
    kernel?.sweep(0, 0, 0, kernel.lanes)
    expect(sweeps).toBe(1)
  })
})

describe('the comparison of two kernels', () => {
  const judge = createJsKernel(layout)
  const changed = (sweep: Kernel['sweep']): Kernel => ({ ...createJsKernel(layout), sweep })
  const compare = (kernel: Kernel) => testAgreement(kernel, judge, layout, randomBytes)

  it('the comparison of two kernels passes equal kernels', () => {
    expect(compare(createJsKernel(layout))).toBeNull()
  })

  it('the comparison of two kernels finds one that misses candidates only in the last chunk of a sweep', () => {
    const blind = createJsKernel(layout)
    const kernel = changed((low, middle, from, to) => {
      const found = blind.sweep(low, middle, from, to)
      return found === to - blind.lanes ? to : found
    })
    const both: Kernel = { ...kernel, setWork: blind.setWork }
    expect(compare(both)).toMatch(/^nonces \d+ to \d+: it returned \d+ instead of \d+$/)
  })
})

describe.each(nativeNames)('the orders of %s', (name) => {
  const orders = schedulesIn(native, name).filter((order) => order !== 'halves')
  const lack = orders.length > 0 ? null : `${name} has only one order on this processor`
  itWith(
    lack,
    `the orders of ${name} find the same chunks in sweeps of all lengths, with rare and frequent candidates`,
    () => {
      const plain = createNativeKernel(name, layout, native)
      for (const order of orders) {
        const kernel = createNativeKernel(name, layout, native, order)
        for (let count = 0; count < 2000; count++) {
          const random = () => randomBytes(4).readUInt32LE()
          const state = Uint32Array.from({ length: 8 }, random)
          const tail = Uint32Array.from({ length: 16 }, (_, word) => (word < 7 ? random() : 0))
          const from = (random() % 1024) * plain.lanes
          const to = Math.min(65_536, from + (random() % 200) * plain.lanes)
          const bound = 2 ** (32 - (count % 16)) - 1
          const [low, middle] = [random() & 0xffff, random()]
          const found = [plain, kernel].map((each) => {
            each.setWork(state, tail, bound)
            return each.sweep(low, middle, from, to)
          })
          expect(found[1]).toBe(found[0])
        }
      }
    },
  )
})

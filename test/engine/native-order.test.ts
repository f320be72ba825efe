import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createJsKernel } from '../../src/engine/cpu/js-kernel.ts'
import { type Kernel, tailLayout } from '../../src/engine/cpu/kernel.ts'
import { chooseKernel } from '../../src/engine/cpu/kernels.ts'
import { chooseNative, loadChosen } from '../../src/engine/cpu/native-choice.ts'
import { createNativeKernel, type NativeAddon, nativeNames, ordersIn } from '../../src/engine/cpu/native-kernel.ts'
import { chooseOrders } from '../../src/engine/cpu/native-order.ts'
import { agreementTest } from '../../src/engine/cpu/self-test.ts'
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
  races = 0
  readonly addon: NativeAddon

  constructor(costMs: Record<string, number>, processor = 'one 00000001') {
    const sweep = (cost: number) => (_: Uint32Array, from: number, to: number) => {
      this.races++
      this.ms += cost * ((to - from) / 8192)
      return to
    }
    const sweeps = Object.fromEntries(Object.entries(costMs).map(([name, cost]) => [name, sweep(cost)]))
    this.addon = { sweeps, exported: { ...sweeps, processor, compiler: 'gcc 12' }, obstacle: null }
  }

  choose(file: string) {
    this.races = 0
    return chooseOrders(this.addon, { file, nowMs: () => this.ms, random: randomBytes })
  }
}

const costs = { 'native-avx512': 1, 'native-avx512 steps': 0.9, 'native-avx512 mixed': 0.8, 'native-avx2': 2 }
const mixed = { 'native-avx512': 'mixed' }

describe('the order of a native kernel', () => {
  let file: string
  let count = 0
  beforeEach(() => {
    file = join(folder, `${count++}`, 'kernel-tuning.json')
  })

  it.each([
    ['mixed', 0.9, 0.8],
    ['steps', 0.8, 0.9],
    ['halves', 1.1, 1.2],
    ['halves', 0.995, 0.999],
  ])('is the fastest, and another than halves only if it gains a per cent: %s', (order, steps, mixed) => {
    const fake = new FakeFile({ ...costs, 'native-avx512 steps': steps, 'native-avx512 mixed': mixed })
    expect(fake.choose(file)).toEqual({ orders: { 'native-avx512': order }, news: [] })
  })

  it('is measured once for a processor, compiler and sources', () => {
    const fake = new FakeFile(costs)
    expect(fake.choose(file)).toEqual({ orders: mixed, news: [] })
    expect(fake.races).toBeGreaterThan(0)
    expect(fake.choose(file)).toEqual({ orders: mixed, news: [] })
    expect(fake.races).toBe(0)
  })

  it('is measured for 35 ms after its tests', () => {
    const fake = new FakeFile(Object.fromEntries(Object.keys(costs).map((name) => [name, 0])))
    let readings = 0
    const nowMs = () => readings++ / 10
    chooseOrders(fake.addon, { file, nowMs, random: randomBytes })
    expect(readings / 10).toBeGreaterThan(35)
    expect(readings / 10).toBeLessThan(36)
  })

  it('is not measured where there is only one', () => {
    const fake = new FakeFile({ 'native-avx2': 1 })
    expect(fake.choose(file)).toEqual({ orders: {}, news: [] })
    expect(fake.races).toBe(0)
  })

  it('is measured anew with a line on another processor, and both are remembered', () => {
    const [one, other] = [new FakeFile(costs), new FakeFile({ ...costs, 'native-avx512 steps': 0.7 }, 'two 00000002')]
    one.choose(file)
    const news = [`${file} is of another processor or version: the order of the native kernel is measured anew`]
    expect(other.choose(file)).toEqual({ orders: { 'native-avx512': 'steps' }, news })
    for (const fake of [one, other]) expect(fake.choose(file).news).toEqual([])
    expect(one.choose(file).orders).toEqual(mixed)
  })

  it.each([
    ['no JSON', '{"native'],
    ['an array', '[]'],
    ['an order that the file of kernels lacks', null],
  ])('is measured anew with a line if the file is damaged: %s', (_, text) => {
    const fake = new FakeFile(costs)
    fake.choose(file)
    writeFileSync(file, text ?? readFileSync(file, 'utf8').replace('"mixed"', '"fastest"'))
    const news = [`${file} is damaged: the order of the native kernel is measured anew`]
    expect(fake.choose(file)).toEqual({ orders: mixed, news })
    expect(fake.choose(file)).toEqual({ orders: mixed, news: [] })
  })

  it('is measured at each start with a line if the file cannot be written', () => {
    writeFileSync(join(folder, 'taken'), '')
    const unwritable = join(folder, 'taken', 'kernel-tuning.json')
    const news = [expect.stringMatching(/^the order of the native kernel is measured at each start: .+/)]
    for (let start = 0; start < 2; start++) {
      expect(new FakeFile(costs).choose(unwritable)).toEqual({ orders: mixed, news })
    }
  })

  it('is never one that disagrees with halves, and a line says so', () => {
    const fake = new FakeFile(costs)
    const exported = { ...fake.addon.exported, 'native-avx512 mixed': (_: Uint32Array, from: number) => from }
    const addon = { ...fake.addon, exported }
    const { orders, news } = chooseOrders(addon, { file, nowMs: () => fake.ms, random: randomBytes })
    expect(orders).toEqual({ 'native-avx512': 'steps' })
    expect(news).toEqual([expect.stringMatching(/^the order mixed of kernel native-avx512 is not used: nonces \d/)])
  })

  itWith(noKernel, 'is halves in a search thread if the chosen one fails its self-test', () => {
    const exported = { ...native.exported, [`${widest} steps`]: () => 0 }
    const addon: NativeAddon = { ...native, exported, orders: { [widest]: 'steps' } }
    const { kernel, refused } = chooseKernel(286, widest, randomBytes, new Set(), () => addon)
    expect(kernel?.name).toBe(widest)
    expect(refused).toEqual([expect.stringMatching(`^order steps of kernel ${widest} failed its self-test: nonces `)])
  })

  itWith(noKernel, 'is used by a search thread', () => {
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
  const compare = (kernel: Kernel) => agreementTest(kernel, judge, layout, randomBytes)

  it('passes equal ones', () => {
    expect(compare(createJsKernel(layout))).toBeNull()
  })

  it('finds one that misses candidates only in the last chunk of a sweep', () => {
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
  const orders = ordersIn(native, name).filter((order) => order !== 'halves')
  const lack = orders.length > 0 ? null : `${name} has only one order on this processor`
  itWith(lack, 'find the same chunks in sweeps of all lengths, with rare and frequent candidates', () => {
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
  })
})

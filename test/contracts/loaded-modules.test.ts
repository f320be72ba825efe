/** Look-ups of modules by a program, and their prices. */
import { expect, it } from 'vitest'
import { NOWHERE } from '../../src/language/contracts/errors.ts'
import { Module, type ModuleImage } from '../../src/language/contracts/machine/ast.ts'
import { LoadedModuleSet } from '../../src/language/contracts/machine/loaded-modules.ts'

const MERGE = 10
const READ = 10

/** A module with constants of these names, and dependencies with these keys. */
function moduleOf(name: string, members: readonly string[], dependencies: readonly string[] = []): Module {
  const about = { namespace: null, isInterface: false, code: '', hash: 'h', txHash: '', place: NOWHERE }
  const module = new Module({ ...about, name })
  const image = {
    measures: new Map(members.map((member) => [member, {}])),
    bytes: 0,
    networkBytes: 0,
    stored: 0,
    surplus: 0,
  }
  module.image = { ...image, dependencies: new Map(dependencies.map((key) => [key, {}])) } as unknown as ModuleImage
  return module
}

const A = moduleOf('a', ['x', 'y', 'z'])
const B = moduleOf('b', ['x'], ['a.x.{h}', 'c.x.{h}'])
const C = moduleOf('c', ['x', 'y'])

/** Milligas of each look-up, and the number of definitions after it. */
function looked(modules: readonly Module[]): (readonly [milligas: number, size: number])[] {
  const loaded = new LoadedModuleSet()
  return modules.map((module) => {
    let paid = 0
    const charge = (milligas: number) => {
      paid += milligas
    }
    loaded.noteLookup(module, 'name', { charge })
    return [paid, loaded.size] as const
  })
}

it('a merge of modules is charged for all earlier definitions, and counts shared ones once', () => {
  const expected = [
    [READ, 3],
    [READ + MERGE * 3 * 3, 5],
    [READ + MERGE * 5 * 2, 6],
  ]
  expect(looked([A, B, C])).toEqual(expected)
  // No program changes the definitions that another one starts with.
  expect(looked([A, B, C])).toEqual(expected)
})

it('a module is charged once, also if it was read from the disk again', () => {
  expect(looked([A, A, moduleOf('a', ['x', 'y', 'z'])])).toEqual([
    [READ, 3],
    [0, 3],
    [0, 3],
  ])
})

it('code that runs pays for the read alone, and its module counts for later merges', () => {
  const loaded = new LoadedModuleSet()
  const paid: number[] = []
  const charge = (milligas: number) => {
    paid.push(milligas)
  }
  loaded.noteLookup(A, 'running', { charge })
  loaded.noteLookup(C, 'name', { charge })
  expect(paid).toEqual([READ, READ, MERGE * 3 * 2])
})

it('a fork begins with the same modules, and neither sees what the other adds', () => {
  for (const before of [[], [A], [A, B]]) {
    const loaded = new LoadedModuleSet()
    for (const module of before) loaded.add(module)
    const { size } = loaded
    const fork = loaded.fork()
    expect(fork.size).toBe(size)
    loaded.add(C)
    expect(fork.size).toBe(size)
    fork.add(moduleOf('d', ['x', 'y', 'z', 'w']))
    expect([loaded.size, fork.size]).toEqual([size + (before.includes(B) ? 1 : 2), size + 4])
  }
})

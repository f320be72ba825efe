/**
 * Finds all definitions of other modules that a module depends on, directly or through others. The network stores them
 * with the module, so that upgrades of those modules do not change it.
 */

import { compareText } from '../../../values/compare.ts'
import type { DefinitionMeasure, Dependency, MemberTarget, Module } from '../../ast.ts'
import { moduleNameOf } from './terms.ts'

/** Milligas for each term of a definition (PROTOCOL.md E.5). */
const TERM_COST = 5
/** Milligas for each comparison of two names in a sorted set. */
const COMPARISON_COST = 200

/** Definitions by `targetKey`. */
export type Dependencies = ReadonlyMap<string, Dependency>

/** @returns the same for the same definition, even if its module was instantiated twice */
export function targetKey({ module, name }: MemberTarget): string {
  return `${module.name}.${name}.{${module.hash}}`
}

/**
 * Follows the references in the definitions of a module.
 * @param own the definitions of the module itself
 * @param measureOf finds the definition that a reference points to
 * @param charge takes milligas
 * @returns the definitions of other modules, or of other versions of this one
 */
export function dependenciesOf(
  own: readonly Dependency[],
  measureOf: (target: MemberTarget) => DefinitionMeasure | undefined,
  charge: (milligas: number) => void,
): Dependencies {
  const known = new Set(own.map(targetKey))
  const found = new Map<string, Dependency>()
  const waiting = new SortedQueue()
  for (const each of own) waiting.add(each)
  for (let next = waiting.take(); next !== null; next = waiting.take()) {
    charge(TERM_COST * next.measure.terms)
    for (const target of next.measure.targets) {
      const key = targetKey(target)
      charge(searchCost(known.size))
      if (known.has(key)) continue
      charge(searchCost(known.size) + searchCost(waiting.size))
      known.add(key)
      const measure = measureOf(target)
      if (measure === undefined) continue
      const dependency = { ...target, measure }
      found.set(key, dependency)
      waiting.add(dependency)
    }
  }
  return found
}

/** Milligas of picking `wanted` names out of all `loaded` ones. */
export function pickCost(loaded: number, wanted: number): number {
  return loaded === 0 || wanted === 0 ? 0 : Math.ceil(wanted * Math.log(loaded / wanted + 1)) * COMPARISON_COST
}

function searchCost(size: number): number {
  return size === 0 ? 0 : Math.ceil(Math.log(size)) * COMPARISON_COST
}

/** Priority queue by module, name and hash, as a binary heap. */
class SortedQueue {
  readonly #heap: Dependency[] = []

  get size(): number {
    return this.#heap.length
  }

  add(dependency: Dependency): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(dependency)
    while (at > 0) {
      const above = (at - 1) >> 1
      if (compare(heap[above], dependency) <= 0) break
      heap[at] = heap[above]
      at = above
    }
    heap[at] = dependency
  }

  /** Takes the first one, or returns null if there is none. */
  take(): Dependency | null {
    const heap = this.#heap
    const [first] = heap
    const last = heap.pop()
    if (last === undefined) return null
    if (heap.length === 0) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && compare(heap[below + 1], heap[below]) < 0) below++
      if (compare(last, heap[below]) <= 0) break
      heap[at] = heap[below]
      at = below
    }
    heap[at] = last
    return first
  }
}

function compare(one: MemberTarget, other: MemberTarget): number {
  const byModule = one.module === other.module ? 0 : compareModules(one.module, other.module)
  return byModule || compareText(one.name, other.name) || compareText(one.module.hash, other.module.hash)
}

function compareModules(one: Module, other: Module): number {
  const [a, b] = [moduleNameOf(one.name), moduleNameOf(other.name)]
  return compareText(a.name, b.name) || compareText(a.namespace ?? '', b.namespace ?? '')
}

/** Makes a program smaller while it still differs: delta debugging on its tree. */
import { compareProgram, type Difference } from './compare.ts'
import type { Program } from './program/tree.ts'

type Path = readonly (string | number)[]
type Tree = Record<string | number, unknown>

const MAX_TRIES = 3000

/** The part that has to stay the same: the kind, and the reasons of a failure. */
function signatureOf({ kind, evaluator, model }: Difference): string {
  if (kind !== 'outcome') return kind
  return [kind, evaluator, model].map((text) => text.replace(/[\d:].*$/, '')).join()
}

/** The smallest program found that differs in the same way. */
export function shrinkProgram(program: Program, first: Difference): { program: Program; difference: Difference } {
  const differs = (candidate: Program): Difference | null => {
    try {
      const { difference } = compareProgram(candidate)
      return difference !== null && signatureOf(difference) === signatureOf(first) ? difference : null
    } catch {
      return null
    }
  }
  let best = structuredClone(program)
  let found = differs(best) as Difference
  let tries = 0
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const change of changesOf(best)) {
      if (tries++ > MAX_TRIES) return { program: best, difference: found }
      const candidate = structuredClone(best)
      if (!change(candidate as unknown as Tree)) continue
      const difference = differs(candidate)
      if (difference === null) continue
      best = candidate
      found = difference
      isSmaller = true
      break
    }
  }
  return { program: best, difference: found }
}

type Change = (tree: Tree) => boolean

/** Removals of items, larger runs first, then simpler expressions. */
function changesOf(program: Program): Change[] {
  const removals: { readonly size: number; readonly change: Change }[] = []
  const simpler: Change[] = []
  walk(program, [], (value, path) => {
    if (Array.isArray(value)) {
      for (let length = value.length; length >= 1; length = Math.floor(length / 2)) {
        for (let from = 0; from + length <= value.length; from += length) {
          const change: Change = (tree) => {
            const list = at(tree, path) as unknown[]
            list.splice(from, length)
            return true
          }
          removals.push({ size: JSON.stringify(value, asText).length * (length / value.length) - path.length, change })
        }
      }
    } else if (isExpr(value)) {
      const parts = partsOf(value)
      for (const part of parts) simpler.push((tree) => replace(tree, path, structuredClone(part)))
      if (parts.length > 0 || value.e === 'string')
        simpler.push((tree) => replace(tree, path, { e: 'integer', value: 0n }))
    }
  })
  removals.sort((a, b) => b.size - a.size)
  return [...removals.map(({ change }) => change), ...simpler]
}

function asText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

function walk(value: unknown, path: Path, visit: (value: unknown, path: Path) => void): void {
  if (typeof value !== 'object' || value === null) return
  visit(value, path)
  for (const [key, part] of Object.entries(value))
    walk(part, [...path, Array.isArray(value) ? Number(key) : key], visit)
}

function isExpr(value: unknown): value is { readonly e: string } {
  return typeof value === 'object' && value !== null && 'e' in value
}

/** The expressions within an expression, one level down. */
function partsOf(value: unknown): unknown[] {
  const parts: unknown[] = []
  for (const part of Object.values(value as object)) {
    if (isExpr(part)) {
      if (part.e !== 'binding') parts.push(part)
    } else if (typeof part === 'object' && part !== null) parts.push(...partsOf(part))
  }
  return parts
}

function at(tree: Tree, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (value as Tree)[key], tree)
}

function replace(tree: Tree, path: Path, by: unknown): boolean {
  const parent = at(tree, path.slice(0, -1)) as Tree
  parent[path.at(-1) as string | number] = by
  return true
}

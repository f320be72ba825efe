/** Loads modules and shows the bytes that are hashed for them. */
import { evalError } from '../../../src/language/contracts/errors.ts'
import type { Module } from '../../../src/language/contracts/machine/ast.ts'
import { encodeModule } from '../../../src/language/contracts/machine/load/module-hash/encode.ts'
import { resolveModule } from '../../../src/language/contracts/machine/load/module-hash/resolve.ts'
import {
  nameOfDefinition,
  type ResolvedModule,
} from '../../../src/language/contracts/machine/load/module-hash/terms.ts'
import { annotationsOf } from '../../../src/language/contracts/syntax/annotations.ts'
import type { CallForm } from '../../../src/language/contracts/syntax/form.ts'
import { read } from '../../../src/language/contracts/syntax/reader.ts'
import type { Value } from '../../../src/language/contracts/values/value.ts'
import { evaluatorOn, freeGas, Layer, runOn } from '../evaluator.ts'
import { cborText } from './cbor-text.ts'

export interface Loaded {
  readonly module: Module
  readonly resolved: ResolvedModule
  /** The encoding as text. */
  readonly text: string
  /** Names of the definitions in their order. */
  readonly order: readonly string[]
}

/** Loads the texts on one state, each in a transaction of its own, and returns the module `name` of the last text. */
export function loaded(name: string, texts: readonly string[], data: ReadonlyMap<string, Value> = new Map()): Loaded {
  const state = new Layer()
  for (const text of texts) runOn(evaluatorOn(state, freeGas(), { data }), text)
  const module = state.get<Module>('modules', name)
  if (module === undefined) throw evalError(`Cannot find module: ${name}`)
  const evaluator = evaluatorOn(state)
  evaluator.program.namespace = module.namespace
  const [form] = read(module.code)
  const members = annotationsOf((form as CallForm).items.slice(module.isInterface ? 2 : 3)).rest
  const resolved = resolveModule(evaluator, module, form as CallForm, { members, order: null })
  const find = (other: string) => state.get<Module>('modules', other)
  return {
    module,
    resolved,
    text: cborText(encodeModule(resolved, find)),
    order: resolved.definitions.map(nameOfDefinition),
  }
}

/** Stands for the hash of the module itself, in hex. */
export const OWN = `x${Buffer.from('#placeholder').toString('hex')}`

/** The hash of a loaded module, in hex. */
export function hexOf({ hash }: Module): string {
  return `x${Buffer.from(hash, 'base64url').toString('hex')}`
}

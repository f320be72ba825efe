/** Measures the definitions of a resolved module: their sizes, their terms and what they refer to. */

import { textSize } from '../../../values/charged-size.ts'
import type { DefinitionMeasure, MemberTarget, Module } from '../../ast.ts'
import {
  fieldsSize,
  HASH,
  hashSize,
  INT,
  keysetNameSize,
  LIST,
  listSize,
  literalSize,
  maybeSize,
  moduleNameSize,
  ONE,
  SEVERAL,
  schemaSize,
  typeSize,
  valueSize,
  WORD64,
} from './sizes.ts'
import {
  type Arg,
  type CapabilityMeta,
  moduleNameOf,
  type ResolvedDefinition,
  type ResolvedModule,
  type ResolvedTerm,
} from './terms.ts'

/** A measure that is still counted. */
class MeasureCounts implements DefinitionMeasure {
  bytes = 0
  places = 0
  natives = 0
  ownHashes = 0
  terms = 0
  stored = 0
  readonly targets: MemberTarget[] = []
}

/** Size of a source place and of a native. */
export interface SizeWeights {
  readonly place: number
  readonly native: number
}

/** On the network a place is a line. */
export const NETWORK: SizeWeights = { place: INT, native: 2 }
/** In test files it is two lines and two columns, and natives of the language are a variant of all natives. */
export const TEST_FILES: SizeWeights = { place: ONE + 4 * INT, native: 4 }

/** Size of a measured part. @param ownHash size of the hash of the module itself */
export function sizeOfMeasure(measure: DefinitionMeasure, weights: SizeWeights, ownHash: number): number {
  return measure.bytes + measure.places * weights.place + measure.natives * weights.native + measure.ownHashes * ownHash
}

/** Measures everything of a module but its definitions. Its hash and its transaction's are part of it. */
export function measureFrame({ module, name, imports, implemented, blessed }: ResolvedModule): DefinitionMeasure {
  const measure = new MeasureCounts()
  measure.bytes = ONE + moduleNameSize(name) + LIST + hashSize(module.txHash)
  measure.bytes += listSize(imports, (each) => {
    const hash = maybeSize(each.hash, (bytes) => bytes.length + textSize(''))
    return ONE + moduleNameSize(each.module) + hash + maybeSize(each.names, (names) => listSize(names, textSize))
  })
  measure.ownHashes = 1
  measure.places = 1
  if (module.isInterface) return measure
  measure.bytes += listSize(blessed, (hash) => hash.length + textSize('')) + listSize(implemented, moduleNameSize)
  measure.bytes += SEVERAL
  const { governance } = module
  if ('keyset' in governance) measure.bytes += keysetNameSize(governance.keyset)
  else {
    measure.bytes += SEVERAL + ONE + moduleNameSize(name) + textSize(governance.capability)
    measure.ownHashes++
  }
  return measure
}

/** @param withValues constants are evaluated; otherwise they are terms */
export function measureDefinition(
  { module }: ResolvedModule,
  definition: ResolvedDefinition,
  withValues: boolean,
): DefinitionMeasure {
  const measuring = new DefinitionMeter(module)
  measuring.addDefinition(definition, withValues)
  return measuring.measure
}

class DefinitionMeter {
  readonly measure = new MeasureCounts()
  readonly #module: Module

  constructor(module: Module) {
    this.#module = module
  }

  addDefinition(definition: ResolvedDefinition, withValues: boolean): void {
    const { measure } = this
    measure.places++
    measure.bytes += SEVERAL + ONE
    switch (definition.kind) {
      case 'defschema':
        measure.bytes += textSize(definition.name) + fieldsSize(definition.fields)
        return
      case 'deftable': {
        const { name, schema } = definition
        const known = schema?.type === 'object' || schema?.type === 'table' ? schema.schema : null
        measure.bytes += textSize(name) + SEVERAL + (known === null ? 0 : schemaSize(known))
        return
      }
      case 'defconst':
        this.#addArg(definition.spec)
        measure.bytes += SEVERAL
        if (!withValues) this.#addTerm(definition.term)
        else measure.bytes += valueSize(definition.value(), (module) => this.#addHash(module === this.#module.name))
        return
      default:
        this.#addFunction(definition)
    }
  }

  #addFunction(definition: Extract<ResolvedDefinition, { readonly args: unknown }>): void {
    const { measure } = this
    this.#addArg(definition.spec)
    this.#addArgs(definition.args)
    if (definition.kind === 'defpact') {
      if (definition.steps === null) return
      measure.bytes += LIST
      for (const { run, rollback } of definition.steps) {
        measure.bytes += SEVERAL
        this.#addTerm(run)
        if (rollback !== null) this.#addTerm(rollback)
      }
      return
    }
    if (definition.kind === 'defcap') this.#addMeta(definition.meta)
    if (definition.body !== null) this.#addTerm(definition.body)
  }

  #addMeta(meta: CapabilityMeta): void {
    const { measure } = this
    measure.bytes += SEVERAL
    if (meta.meta === 'once') measure.bytes += SEVERAL
    if (meta.meta !== 'managed') return
    const { name, module } = meta.manager
    measure.bytes += SEVERAL + ONE + INT + textSize(meta.arg) + textSize(name)
    if (module === null) return
    measure.bytes += SEVERAL + ONE + moduleNameSize(moduleNameOf(module.name))
    this.#addHash(module === this.#module)
    this.#refer(module, name)
  }

  /** The network gives all members under the name of the module its new hash, also those of the version before. */
  #refer(module: Module, name: string): void {
    this.measure.targets.push({ module: module.name === this.#module.name ? this.#module : module, name })
  }

  #addHash(isOwn: boolean): void {
    if (isOwn) this.measure.ownHashes++
    else this.measure.bytes += HASH
  }

  #addArgs(args: readonly Arg[]): void {
    this.measure.bytes += LIST
    for (const arg of args) this.#addArg(arg)
  }

  #addArg({ name, type }: Arg): void {
    this.measure.places++
    this.measure.bytes += ONE + textSize(name) + maybeSize(type, typeSize)
  }

  /** Loops over the last part of a term, because sequences, lets and conditions can be thousands of terms deep. */
  #addTerm(whole: ResolvedTerm): void {
    const { measure } = this
    for (let next: ResolvedTerm | null = whole; next !== null; ) {
      const term: ResolvedTerm = next
      next = null
      measure.terms++
      measure.places++
      measure.bytes += SEVERAL
      switch (term.term) {
        case 'let':
          this.#addArg(term.arg)
          this.#addTerm(term.value)
          next = term.body
          break
        case 'sequence':
          this.#addTerm(term.first)
          next = term.rest
          break
        case 'form':
          measure.bytes += SEVERAL
          for (const part of term.parts.slice(0, -1)) this.#addTerm(part)
          next = term.parts[term.parts.length - 1]
          break
        default:
          this.#addSimpleTerm(term)
      }
    }
  }

  #addSimpleTerm(term: Exclude<ResolvedTerm, { readonly term: 'let' | 'sequence' | 'form' }>): void {
    const { measure } = this
    switch (term.term) {
      case 'variable':
        this.#addVariable(term)
        break
      case 'lambda':
        this.#addArgs(term.args)
        this.#addTerm(term.body)
        break
      case 'call':
        measure.bytes += LIST
        this.#addTerm(term.fn)
        for (const arg of term.args) this.#addTerm(arg)
        break
      case 'nullary':
        this.#addTerm(term.body)
        break
      case 'native':
        measure.natives++
        break
      case 'literal':
        measure.bytes += literalSize(term.value)
        break
      case 'list':
        measure.bytes += LIST
        for (const item of term.items) this.#addTerm(item)
        break
      case 'object':
        measure.bytes += LIST
        for (const [name, value] of term.fields) {
          measure.bytes += ONE + textSize(name)
          this.#addTerm(value)
        }
    }
  }

  #addVariable({ name, to }: Extract<ResolvedTerm, { readonly term: 'variable' }>): void {
    const { measure } = this
    measure.bytes += ONE + textSize(name) + SEVERAL
    switch (to.ref) {
      case 'bound':
        measure.bytes += WORD64
        break
      case 'dynamic':
        measure.bytes += ONE + textSize(to.member) + WORD64
        break
      case 'module':
        measure.bytes += moduleNameSize(to.module) + listSize(to.interfaces, moduleNameSize)
        break
      case 'member':
        measure.bytes += moduleNameSize(moduleNameOf(to.module.name))
        this.#addHash(to.module === this.#module)
        this.#refer(to.module, name)
    }
  }
}

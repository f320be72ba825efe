/** Encodes resolved modules as the bytes that the network hashes. Source places count as nothing. */
import type { Module } from '../../ast.ts'
import { CborWriter } from './cbor.ts'
import { ValueEncoder } from './encode-values.ts'
import { bytesOfHash, PLACEHOLDERS } from './hash-text.ts'
import {
  type Arg,
  type CapabilityMeta,
  FORMS,
  moduleNameOf,
  type Reference,
  type ResolvedDefinition,
  type ResolvedImport,
  type ResolvedModule,
  type ResolvedStep,
  type ResolvedTerm,
} from './terms.ts'

const NO_BYTES = new Uint8Array()
const DEFINITIONS: readonly ResolvedDefinition['kind'][] = [
  'defun',
  'defconst',
  'defcap',
  'defschema',
  'deftable',
  'defpact',
]
/** Interfaces have no tables. */
const OF_INTERFACES = DEFINITIONS.filter((kind) => kind !== 'deftable')

/** @param findModule finds the current version of another module, for tokens of its capabilities in constants */
export function encodeModule(
  resolved: ResolvedModule,
  findModule: (name: string) => Pick<Module, 'hash'> | undefined,
): Uint8Array {
  return new ModuleEncoder(resolved, findModule).encode()
}

class ModuleEncoder {
  readonly #resolved: ResolvedModule
  readonly #writer = new CborWriter()
  readonly #values: ValueEncoder

  constructor(resolved: ResolvedModule, findModule: (name: string) => Pick<Module, 'hash'> | undefined) {
    const { module } = resolved
    this.#resolved = resolved
    this.#values = new ValueEncoder(this.#writer, (name) => {
      return name === module.name ? this.#ownHash : bytesOfHash(findModule(name)?.hash ?? '')
    })
  }

  /** Hash of the module itself within its own encoding. */
  get #ownHash(): Uint8Array {
    return bytesOfHash(this.#resolved.module.isInterface ? PLACEHOLDERS.interface : PLACEHOLDERS.module)
  }

  encode(): Uint8Array {
    const { module, name, definitions, imports, blessed, implemented } = this.#resolved
    const { isInterface } = module
    const writer = this.#writer.array(isInterface ? 6 : 9)
    this.#values.encodeModuleName(name)
    if (!isInterface) this.#encodeGovernance()
    writer.list(definitions, (definition) => this.#encodeDefinition(definition))
    if (!isInterface) writer.vector([...blessed].sort(compareBytes), (hash) => writer.byteString(hash))
    writer.list(imports, (each) => this.#encodeImport(each))
    if (!isInterface) writer.list(implemented, (each) => this.#values.encodeModuleName(each))
    // Hash of the module and of its transaction, and its place.
    return writer.byteString(NO_BYTES).byteString(NO_BYTES).null().bytes
  }

  #encodeGovernance(): void {
    const { module, name } = this.#resolved
    const { governance } = module
    this.#writer.array(2)
    if ('keyset' in governance) {
      this.#writer.uint(0)
      this.#values.encodeKeysetName(governance.keyset)
      return
    }
    this.#writer.uint(1).array(3)
    this.#values.encodeModuleName(name)
    this.#writer.text(governance.capability).byteString(this.#ownHash)
  }

  #encodeImport({ module, hash, names }: ResolvedImport): void {
    const writer = this.#writer.array(3)
    this.#values.encodeModuleName(module)
    writer.maybe(hash, (bytes) => writer.byteString(bytes))
    writer.maybe(names, (list) => writer.list(list, (name) => writer.text(name)))
  }

  #encodeDefinition(definition: ResolvedDefinition): void {
    const writer = this.#writer.array(2)
    const { isInterface } = this.#resolved.module
    writer.uint((isInterface ? OF_INTERFACES : DEFINITIONS).indexOf(definition.kind))
    switch (definition.kind) {
      case 'defconst':
        writer.array(3)
        this.#encodeArg(definition.spec)
        writer.array(2).uint(1)
        this.#values.encodeValue(definition.value())
        break
      case 'defschema':
        writer.array(3).text(definition.name)
        this.#values.encodeFields(definition.fields)
        break
      case 'deftable':
        writer.array(3).text(definition.name)
        this.#values.encodeSchemaOf(definition.schema)
        break
      default:
        this.#encodeFunction(definition)
    }
    writer.null()
  }

  #encodeFunction(definition: Extract<ResolvedDefinition, { readonly args: unknown }>): void {
    const writer = this.#writer
    const code = definition.kind === 'defpact' ? definition.steps : definition.body
    writer.array((code === null ? 3 : 4) + (definition.kind === 'defcap' ? 1 : 0))
    this.#encodeArg(definition.spec)
    this.#encodeArgs(definition.args)
    if (definition.kind === 'defpact') {
      if (definition.steps !== null) writer.list(definition.steps, (step) => this.#encodeStep(step))
      return
    }
    if (definition.body !== null) this.#encodeTerm(definition.body)
    if (definition.kind === 'defcap') this.#encodeMeta(definition.meta)
  }

  #encodeArgs(args: readonly Arg[]): void {
    this.#writer.list(args, (arg) => this.#encodeArg(arg))
  }

  #encodeArg({ name, type }: Arg): void {
    this.#writer
      .array(3)
      .text(name)
      .maybe(type, (given) => this.#values.encodeType(given))
      .null()
  }

  #encodeMeta(meta: CapabilityMeta): void {
    const writer = this.#writer
    if (meta.meta !== 'managed') {
      if (meta.meta === 'once') writer.array(2).uint(1).array(1).uint(1)
      else writer.array(1).uint(meta.meta === 'event' ? 0 : 2)
    } else {
      const { name, module } = meta.manager
      writer.array(2).uint(1).array(3).uint(0).array(2).uint(meta.index).text(meta.arg)
      if (module === null) writer.text(name)
      else {
        writer.array(3)
        this.#values.encodeModuleName(moduleNameOf(module.name))
        writer.text(name).byteString(this.#bytesOfHash(module))
      }
    }
  }

  #bytesOfHash(module: Module): Uint8Array {
    return module === this.#resolved.module ? this.#ownHash : bytesOfHash(module.hash)
  }

  #encodeStep({ run, rollback }: ResolvedStep): void {
    this.#writer.array(rollback === null ? 2 : 3).uint(rollback === null ? 0 : 1)
    this.#encodeTerm(run)
    if (rollback !== null) this.#encodeTerm(rollback)
  }

  /** Loops over the last part of a term, because sequences, lets and conditions can be thousands of terms deep. */
  #encodeTerm(whole: ResolvedTerm): void {
    const writer = this.#writer
    let open = 0
    let next: ResolvedTerm | null = whole
    while (next !== null) {
      const term: ResolvedTerm = next
      next = null
      open++
      switch (term.term) {
        case 'let':
          writer.array(5).uint(2)
          this.#encodeArg(term.arg)
          this.#encodeTerm(term.value)
          next = term.body
          break
        case 'sequence':
          writer.array(4).uint(4)
          this.#encodeTerm(term.first)
          next = term.rest
          break
        case 'form': {
          writer.array(3).uint(6)
          writer.array(term.parts.length + 1).uint(FORMS.indexOf(term.form))
          for (const part of term.parts.slice(0, -1)) this.#encodeTerm(part)
          next = term.parts[term.parts.length - 1]
          break
        }
        default:
          this.#encodeSimpleTerm(term)
      }
    }
    for (; open > 0; open--) writer.null()
  }

  #encodeSimpleTerm(term: Exclude<ResolvedTerm, { readonly term: 'let' | 'sequence' | 'form' }>): void {
    const writer = this.#writer
    switch (term.term) {
      case 'variable':
        writer.array(3).uint(0).array(2).text(term.name)
        this.#encodeReference(term.to)
        break
      case 'lambda':
        writer.array(4).uint(1)
        this.#encodeArgs(term.args)
        this.#encodeTerm(term.body)
        break
      case 'call':
        writer.array(4).uint(3)
        this.#encodeTerm(term.fn)
        writer.list(term.args, (arg) => this.#encodeTerm(arg))
        break
      case 'nullary':
        writer.array(3).uint(5)
        this.#encodeTerm(term.body)
        break
      case 'native':
        writer.array(3).uint(7).uint(term.number)
        break
      case 'literal':
        writer.array(3).uint(8)
        this.#values.encodeLiteral(term.value)
        break
      case 'list':
        writer.array(3).uint(9)
        writer.list(term.items, (item) => this.#encodeTerm(item))
        break
      case 'object':
        writer.array(3).uint(10)
        writer.list(term.fields, ([name, value]) => {
          writer.array(2).text(name)
          this.#encodeTerm(value)
        })
    }
  }

  #encodeReference(to: Reference): void {
    const writer = this.#writer
    switch (to.ref) {
      case 'bound':
        writer.array(2).uint(0).uint(to.index)
        break
      case 'member':
        writer.array(3).uint(1)
        this.#values.encodeModuleName(moduleNameOf(to.module.name))
        writer.byteString(this.#bytesOfHash(to.module))
        break
      case 'module':
        writer.array(3).uint(2)
        this.#values.encodeModuleName(to.module)
        writer.list(to.interfaces, (each) => this.#values.encodeModuleName(each))
        break
      case 'dynamic':
        writer.array(2).uint(3).array(2).text(to.member).uint(to.index)
    }
  }
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] - b[i]
  return a.length - b.length
}

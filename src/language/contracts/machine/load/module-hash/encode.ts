/** Encodes resolved modules as the bytes that the network hashes. Source places count as nothing. */
import type { Module } from '../../ast.ts'
import { CborWriter } from './cbor.ts'
import { ValueEncoder } from './encode-values.ts'
import { bytesOfHash, PLACEHOLDERS } from './hash-text.ts'
import {
  type Arg,
  FORMS,
  type Import,
  type Meta,
  moduleNameOf,
  type Reference,
  type ResolvedDefinition,
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
    this.#values.moduleName(name)
    if (!isInterface) this.#governance()
    writer.list(definitions, (definition) => this.#definition(definition))
    if (!isInterface) writer.vector([...blessed].sort(compareBytes), (hash) => writer.byteString(hash))
    writer.list(imports, (each) => this.#import(each))
    if (!isInterface) writer.list(implemented, (each) => this.#values.moduleName(each))
    // Hash of the module and of its transaction, and its place.
    return writer.byteString(NO_BYTES).byteString(NO_BYTES).null().bytes
  }

  #governance(): void {
    const { module, name } = this.#resolved
    const { governance } = module
    this.#writer.array(2)
    if ('keyset' in governance) {
      this.#writer.unsigned(0)
      this.#values.keysetName(governance.keyset)
      return
    }
    this.#writer.unsigned(1).array(3)
    this.#values.moduleName(name)
    this.#writer.text(governance.capability).byteString(this.#ownHash)
  }

  #import({ module, hash, names }: Import): void {
    const writer = this.#writer.array(3)
    this.#values.moduleName(module)
    writer.maybe(hash, (bytes) => writer.byteString(bytes))
    writer.maybe(names, (list) => writer.list(list, (name) => writer.text(name)))
  }

  #definition(definition: ResolvedDefinition): void {
    const writer = this.#writer.array(2)
    const { isInterface } = this.#resolved.module
    writer.unsigned((isInterface ? OF_INTERFACES : DEFINITIONS).indexOf(definition.kind))
    switch (definition.kind) {
      case 'defconst':
        writer.array(3)
        this.#arg(definition.spec)
        writer.array(2).unsigned(1)
        this.#values.value(definition.value())
        break
      case 'defschema':
        writer.array(3).text(definition.name)
        this.#values.fields(definition.fields)
        break
      case 'deftable':
        writer.array(3).text(definition.name)
        this.#values.schemaOf(definition.schema)
        break
      default:
        this.#function(definition)
    }
    writer.null()
  }

  #function(definition: Extract<ResolvedDefinition, { readonly args: unknown }>): void {
    const writer = this.#writer
    const code = definition.kind === 'defpact' ? definition.steps : definition.body
    writer.array((code === null ? 3 : 4) + (definition.kind === 'defcap' ? 1 : 0))
    this.#arg(definition.spec)
    this.#args(definition.args)
    if (definition.kind === 'defpact') {
      if (definition.steps !== null) writer.list(definition.steps, (step) => this.#step(step))
      return
    }
    if (definition.body !== null) this.#term(definition.body)
    if (definition.kind === 'defcap') this.#meta(definition.meta)
  }

  #args(args: readonly Arg[]): void {
    this.#writer.list(args, (arg) => this.#arg(arg))
  }

  #arg({ name, type }: Arg): void {
    this.#writer
      .array(3)
      .text(name)
      .maybe(type, (given) => this.#values.type(given))
      .null()
  }

  #meta(meta: Meta): void {
    const writer = this.#writer
    if (meta.meta !== 'managed') {
      if (meta.meta === 'once') writer.array(2).unsigned(1).array(1).unsigned(1)
      else writer.array(1).unsigned(meta.meta === 'event' ? 0 : 2)
    } else {
      const { name, module } = meta.manager
      writer.array(2).unsigned(1).array(3).unsigned(0).array(2).unsigned(meta.index).text(meta.arg)
      if (module === null) writer.text(name)
      else {
        writer.array(3)
        this.#values.moduleName(moduleNameOf(module.name))
        writer.text(name).byteString(this.#bytesOfHash(module))
      }
    }
  }

  #bytesOfHash(module: Module): Uint8Array {
    return module === this.#resolved.module ? this.#ownHash : bytesOfHash(module.hash)
  }

  #step({ run, rollback }: ResolvedStep): void {
    this.#writer.array(rollback === null ? 2 : 3).unsigned(rollback === null ? 0 : 1)
    this.#term(run)
    if (rollback !== null) this.#term(rollback)
  }

  /** Loops over the last part of a term, because sequences, lets and conditions can be thousands of terms deep. */
  #term(whole: ResolvedTerm): void {
    const writer = this.#writer
    let open = 0
    let next: ResolvedTerm | null = whole
    while (next !== null) {
      const term: ResolvedTerm = next
      next = null
      open++
      switch (term.term) {
        case 'let':
          writer.array(5).unsigned(2)
          this.#arg(term.arg)
          this.#term(term.value)
          next = term.body
          break
        case 'sequence':
          writer.array(4).unsigned(4)
          this.#term(term.first)
          next = term.rest
          break
        case 'form': {
          writer.array(3).unsigned(6)
          writer.array(term.parts.length + 1).unsigned(FORMS.indexOf(term.form))
          for (const part of term.parts.slice(0, -1)) this.#term(part)
          next = term.parts[term.parts.length - 1]
          break
        }
        default:
          this.#simple(term)
      }
    }
    for (; open > 0; open--) writer.null()
  }

  #simple(term: Exclude<ResolvedTerm, { readonly term: 'let' | 'sequence' | 'form' }>): void {
    const writer = this.#writer
    switch (term.term) {
      case 'variable':
        writer.array(3).unsigned(0).array(2).text(term.name)
        this.#reference(term.to)
        break
      case 'lambda':
        writer.array(4).unsigned(1)
        this.#args(term.args)
        this.#term(term.body)
        break
      case 'call':
        writer.array(4).unsigned(3)
        this.#term(term.fn)
        writer.list(term.args, (arg) => this.#term(arg))
        break
      case 'nullary':
        writer.array(3).unsigned(5)
        this.#term(term.body)
        break
      case 'native':
        writer.array(3).unsigned(7).unsigned(term.number)
        break
      case 'literal':
        writer.array(3).unsigned(8)
        this.#values.literal(term.value)
        break
      case 'list':
        writer.array(3).unsigned(9)
        writer.list(term.items, (item) => this.#term(item))
        break
      case 'object':
        writer.array(3).unsigned(10)
        writer.list(term.fields, ([name, value]) => {
          writer.array(2).text(name)
          this.#term(value)
        })
    }
  }

  #reference(to: Reference): void {
    const writer = this.#writer
    switch (to.ref) {
      case 'bound':
        writer.array(2).unsigned(0).unsigned(to.index)
        break
      case 'member':
        writer.array(3).unsigned(1)
        this.#values.moduleName(moduleNameOf(to.module.name))
        writer.byteString(this.#bytesOfHash(to.module))
        break
      case 'module':
        writer.array(3).unsigned(2)
        this.#values.moduleName(to.module)
        writer.list(to.interfaces, (each) => this.#values.moduleName(each))
        break
      case 'dynamic':
        writer.array(2).unsigned(3).array(2).text(to.member).unsigned(to.index)
    }
  }
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] - b[i]
  return a.length - b.length
}

/**
 * Encodes resolved modules as the network does: for their hashes, where source places count as nothing, and for its database.
 */
import type { Module } from '../../ast.ts'
import { CborWriter } from './cbor.ts'
import { ValueEncoder } from './encode-values.ts'
import { bytesOfHash, PLACEHOLDERS } from './hash-text.ts'
import { hashSize } from './sizes.ts'
import {
  type Arg,
  type CapabilityMeta,
  FORMS,
  moduleNameOf,
  nameOfDefinition,
  type Reference,
  type ResolvedDefinition,
  type ResolvedImport,
  type ResolvedModule,
  type ResolvedStep,
  type ResolvedTerm,
  type SourceSpan,
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

/** Finds the current version of another module, for tokens of its capabilities in constants. */
type FindModule = (name: string) => Pick<Module, 'hash'> | undefined

/** Bytes whose hash is that of the module. */
export function encodeModule(resolved: ResolvedModule, findModule: FindModule): Uint8Array {
  const { isInterface } = resolved.module
  const ownHash = bytesOfHash(isInterface ? PLACEHOLDERS.interface : PLACEHOLDERS.module)
  return new ModuleEncoder(resolved, findModule, { ownHash, hash: NO_BYTES, txHash: NO_BYTES, place: null }).encode()
}

/** Writes a place into an encoding. */
export type PlaceEncoder = (writer: CborWriter, at: SourceSpan) => void

/** Bytes of an encoding: all of them, and those of each definition. */
interface EncodedSizes {
  readonly all: number
  readonly definitions: ReadonlyMap<string, number>
}

/** Measures a module that has its hash, as a network stores it without what it depends on. */
export function measureEncoding(resolved: ResolvedModule, findModule: FindModule, place: PlaceEncoder): EncodedSizes {
  const { hash: text, txHash } = resolved.module
  const hash = bytesOfHash(text)
  const parts = { ownHash: hash, hash, txHash: new Uint8Array(hashSize(txHash) - hashSize('')), place }
  const encoder = new ModuleEncoder(resolved, findModule, parts)
  return { all: encoder.encode().length, definitions: encoder.sizes }
}

/** Parts that differ between the encodings of a module. */
interface EncodingParts {
  /** Hash of the module within its definitions. */
  readonly ownHash: Uint8Array
  readonly hash: Uint8Array
  readonly txHash: Uint8Array
  /** Null writes nothing for a place. */
  readonly place: PlaceEncoder | null
}

class ModuleEncoder {
  readonly #resolved: ResolvedModule
  readonly #parts: EncodingParts
  readonly #writer = new CborWriter()
  readonly #values: ValueEncoder
  /** Bytes of each definition, once it is encoded. */
  readonly sizes = new Map<string, number>()

  constructor(resolved: ResolvedModule, findModule: FindModule, parts: EncodingParts) {
    const { module } = resolved
    this.#resolved = resolved
    this.#parts = parts
    this.#values = new ValueEncoder(this.#writer, (name) => {
      return name === module.name ? parts.ownHash : bytesOfHash(findModule(name)?.hash ?? '')
    })
  }

  #encodePlace(at: SourceSpan): void {
    const { place } = this.#parts
    if (place === null) this.#writer.null()
    else place(this.#writer, at)
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
    const { hash, txHash } = this.#parts
    writer.byteString(hash).byteString(txHash)
    this.#encodePlace(this.#resolved.at)
    return writer.bytes
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
    this.#writer.text(governance.capability).byteString(this.#parts.ownHash)
  }

  #encodeImport({ module, hash, names }: ResolvedImport): void {
    const writer = this.#writer.array(3)
    this.#values.encodeModuleName(module)
    writer.maybe(hash, (bytes) => writer.byteString(bytes))
    writer.maybe(names, (list) => writer.list(list, (name) => writer.text(name)))
  }

  #encodeDefinition(definition: ResolvedDefinition): void {
    const before = this.#writer.length
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
    this.#encodePlace(definition.at)
    this.sizes.set(nameOfDefinition(definition), writer.length - before)
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

  #encodeArg({ name, type, at }: Arg): void {
    this.#writer
      .array(3)
      .text(name)
      .maybe(type, (given) => this.#values.encodeType(given))
    this.#encodePlace(at)
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
    return module === this.#resolved.module ? this.#parts.ownHash : bytesOfHash(module.hash)
  }

  #encodeStep({ run, rollback }: ResolvedStep): void {
    this.#writer.array(rollback === null ? 2 : 3).uint(rollback === null ? 0 : 1)
    this.#encodeTerm(run)
    if (rollback !== null) this.#encodeTerm(rollback)
  }

  /** Loops over the last part of a term, because sequences, lets and conditions can be thousands of terms deep. */
  #encodeTerm(whole: ResolvedTerm): void {
    const writer = this.#writer
    const open: SourceSpan[] = []
    let next: ResolvedTerm | null = whole
    while (next !== null) {
      const term: ResolvedTerm = next
      next = null
      open.push(term.at)
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
    for (const at of open.reverse()) this.#encodePlace(at)
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

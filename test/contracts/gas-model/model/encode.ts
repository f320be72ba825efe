/**
 * Modules as bytes: what is hashed, and what the database holds and a look-up reads
 * (LANGUAGE.md "Module hashes"; Pact/Core/Serialise/CBOR_V1.hs, Serialise.hs and IR/ModuleHashing.hs).
 */
import { blake2b256 } from '../../../../src/ground/chain/blake2b.ts'
import { Cbor } from './cbor.ts'
import { ValueEncoder } from './encode-values.ts'
import { NATIVE_NUMBERS } from './natives.ts'
import type { Arg, Core, Def, Face, FaceDef, FaceMeta, ManagedMeta, Module, ModuleData, Name, Ty } from './terms.ts'

/** The hash of a text, as in code: base64url without padding. */
export function hashOfBytes(bytes: Uint8Array): string {
  return Buffer.from(blake2b256(bytes)).toString('base64url')
}

/** Hash of a module: of its bytes without places, and without the hash itself. */
export function hashOfModule(module: Module | Face): string {
  const encoder = new Encoder('none')
  encoder.module({ ...module, hash: '', txHash: '' })
  return hashOfBytes(encoder.bytes())
}

/** Number of bytes in the database: a version, and a byte string with the module and its dependencies. */
export function storedBytesOf(data: ModuleData): number {
  const encoder = new Encoder('line')
  encoder.moduleData(data)
  const { length } = encoder.bytes()
  const head = new Cbor()
  head.head(2, length)
  return 1 + head.bytes.length + length
}

const TERMS = ['var', 'lam', 'let', 'app', 'seq', 'nullary', 'special', 'native', 'constant', 'list', 'object']
const SPECIALS = [
  'and',
  'or',
  'if',
  'enforce-one',
  'enforce',
  'with-capability',
  'try',
  'create-user-guard',
  'error',
  'pure',
]
const DEFS = ['defun', 'defconst', 'defcap', 'defschema', 'deftable', 'defpact']
const FACE_DEFS = ['face-defun', 'defconst', 'face-defcap', 'defschema', 'face-defpact']

class Encoder {
  readonly #out = new Cbor()
  readonly #values = new ValueEncoder(this.#out)
  readonly #places: 'none' | 'line'

  constructor(places: 'none' | 'line') {
    this.#places = places
  }

  bytes(): Uint8Array {
    return this.#out.bytes
  }

  moduleData({ module, deps }: ModuleData): void {
    this.#out.variant(module.is === 'module' ? 0 : 1, 1)
    this.module(module)
    this.#out.head(5, deps.size)
    const sorted = [...deps.values()]
    for (const { fqn, def } of sorted) {
      this.#values.fqn(fqn)
      this.#def(def)
    }
  }

  module(module: Module | Face): void {
    const { is, name, imports, hash, txHash, i } = module
    this.#out.array(is === 'module' ? 9 : 6)
    this.#values.moduleName(name)
    if (module.is === 'module') {
      const { governance } = module
      this.#out.variant('keyset' in governance ? 0 : 1, 1)
      if ('keyset' in governance) this.#values.moduleName(governance.keyset)
      else this.#values.fqn(governance.capability)
      this.#out.list(module.defs, (def) => this.#def(def))
      this.#out.array(0)
    } else this.#out.list(module.defs, (def) => this.#faceDef(def))
    this.#out.list(imports, (each) => {
      this.#out.array(3)
      this.#values.moduleName(each.module)
      this.#out.array(0)
      this.#out.maybe(each.names, (names) => this.#out.list(names, (n) => this.#out.text(n)))
    })
    if (module.is === 'module') this.#out.list(module.faces, (face) => this.#values.moduleName(face))
    this.#out.hash(hash)
    this.#out.hash(txHash)
    this.#place(i)
  }

  #def(def: Def): void {
    this.#out.variant(DEFS.indexOf(def.d), 1)
    switch (def.d) {
      case 'defun':
        this.#out.array(4)
        this.#signature(def)
        this.#term(def.term)
        break
      case 'defcap':
        this.#out.array(5)
        this.#signature(def)
        this.#term(def.term)
        this.#meta(def.meta)
        break
      case 'defpact':
        this.#out.array(4)
        this.#signature(def)
        this.#out.list(def.steps, ({ run, rollback }) => {
          this.#out.variant(rollback === null ? 0 : 1, rollback === null ? 1 : 2)
          this.#term(run)
          if (rollback !== null) this.#term(rollback)
        })
        break
      default:
        this.#plainDef(def)
    }
    this.#place(def.i)
  }

  #plainDef(def: Extract<Def, { readonly d: 'defconst' | 'defschema' | 'deftable' }>): void {
    this.#out.array(3)
    switch (def.d) {
      case 'defconst':
        this.#arg(def.spec)
        this.#out.variant('term' in def.value ? 0 : 1, 1)
        if ('term' in def.value) this.#term(def.value.term)
        else this.#values.value(def.value.value)
        break
      case 'defschema':
        this.#out.text(def.name)
        this.#out.fields(def.fields, (ty) => this.#values.type(ty))
        break
      case 'deftable':
        this.#out.text(def.name)
        this.#values.schema(def.schema)
    }
  }

  #faceDef(def: FaceDef): void {
    this.#out.variant(FACE_DEFS.indexOf(def.d), 1)
    if (def.d === 'defconst' || def.d === 'defschema') this.#plainDef(def)
    else {
      this.#out.array(def.d === 'face-defcap' ? 4 : 3)
      this.#signature(def)
      if (def.d === 'face-defcap') this.#meta(def.meta)
    }
    this.#place(def.i)
  }

  #signature({ spec, args }: { readonly spec: Arg<Ty>; readonly args: readonly Arg<Ty>[] }): void {
    this.#arg(spec)
    this.#out.list(args, (arg) => this.#arg(arg))
  }

  #arg({ n, ty, i }: Arg<Ty>): void {
    this.#out.array(3)
    this.#out.text(n)
    this.#out.maybe(ty, (each) => this.#values.type(each))
    this.#place(i)
  }

  #meta(meta: ManagedMeta | FaceMeta): void {
    if (meta.meta === 'event') {
      this.#out.variant(0, 0)
      return
    }
    if (meta.meta === 'none') {
      this.#out.variant(2, 0)
      return
    }
    this.#out.variant(1, 1)
    if (!('index' in meta)) {
      this.#out.variant(1, 0)
      return
    }
    this.#out.variant(0, 2)
    this.#out.array(2)
    this.#out.integer(BigInt(meta.index))
    this.#out.text(meta.param)
    if (typeof meta.manager === 'string') this.#out.text(meta.manager)
    else this.#values.fqn(meta.manager)
  }

  #term(term: Core): void {
    const number = TERMS.indexOf(term.k)
    switch (term.k) {
      case 'var':
        this.#out.variant(number, 2)
        this.#name(term.name)
        break
      case 'lam':
        this.#out.variant(number, 3)
        this.#out.list(term.args, (arg) => this.#arg(arg))
        this.#term(term.body)
        break
      case 'let':
        this.#out.variant(number, 4)
        this.#arg(term.arg)
        this.#term(term.e1)
        this.#term(term.e2)
        break
      case 'app':
        this.#out.variant(number, 3)
        this.#term(term.fn)
        this.#out.list(term.args, (arg) => this.#term(arg))
        break
      case 'seq':
        this.#out.variant(number, 3)
        this.#term(term.e1)
        this.#term(term.e2)
        break
      case 'nullary':
        this.#out.variant(number, 2)
        this.#term(term.body)
        break
      case 'special':
        this.#out.variant(number, 2)
        this.#out.variant(SPECIALS.indexOf(term.form), term.terms.length)
        for (const each of term.terms) this.#term(each)
        break
      case 'native':
        this.#out.variant(number, 2)
        this.#out.integer(BigInt(NATIVE_NUMBERS.get(term.native) ?? -1))
        break
      case 'constant':
        this.#out.variant(number, 2)
        this.#values.literal(term.value)
        break
      case 'list':
        this.#out.variant(number, 2)
        this.#out.list(term.items, (item) => this.#term(item))
        break
      case 'object':
        this.#out.variant(number, 2)
        this.#out.list(term.fields, ([field, value]) => {
          this.#out.array(2)
          this.#out.text(field)
          this.#term(value)
        })
    }
    this.#place(term.i)
  }

  #name({ n, kind }: Name): void {
    this.#out.array(2)
    this.#out.text(n)
    switch (kind.k) {
      case 'bound':
        this.#out.variant(0, 1)
        this.#out.integer(BigInt(kind.index))
        break
      case 'top':
        this.#out.variant(1, 2)
        this.#values.moduleName(kind.m)
        this.#out.hash(kind.h)
        break
      case 'modref':
        this.#out.variant(2, 2)
        this.#values.moduleName(kind.m)
        this.#out.list(kind.faces, (face) => this.#values.moduleName(face))
        break
      case 'dynamic':
        this.#out.variant(3, 1)
        this.#out.array(2)
        this.#out.text(kind.member)
        this.#out.integer(BigInt(kind.index))
    }
  }

  #place(line: number): void {
    if (this.#places === 'none') this.#out.byte(0xf6)
    else this.#out.head(0, line)
  }
}

/** The state of a run of the model: database, loaded modules, capabilities, stack, and the gas so far. */
import { storedBytesOf } from './encode.ts'
import {
  type Def,
  type Fqn,
  keyOf,
  type Loaded,
  type Module,
  type ModuleData,
  type Namespace,
  nameOfDef,
  type PactExec,
  qualifiedOf,
  type Value,
  visibleDefs,
} from './terms.ts'

/** An error that `try` and `enforce-one` catch (Errors.hs, UserRecoverableError). */
export class Recoverable extends Error {}
/** Any other error: the transaction fails. */
export class Fatal extends Error {}

export type Row = ReadonlyMap<string, Value>

/** Effects of the transactions so far. */
export class Database {
  readonly modules = new Map<string, ModuleData>()
  readonly keysets = new Map<string, { readonly keys: readonly string[]; readonly pred: string }>()
  readonly namespaces = new Map<string, Namespace>()
  readonly pacts = new Map<string, PactExec | null>()
  /** By qualified name of the table. */
  readonly tables = new Map<string, Map<string, Row>>()
  /** Bytes of modules, which are counted once. */
  readonly #sizes = new WeakMap<ModuleData, number>()

  copy(): Database {
    const copy = new Database()
    for (const [name, data] of this.modules) copy.modules.set(name, data)
    for (const [name, keyset] of this.keysets) copy.keysets.set(name, keyset)
    for (const [name, namespace] of this.namespaces) copy.namespaces.set(name, namespace)
    for (const [id, pact] of this.pacts) copy.pacts.set(id, pact)
    for (const [name, rows] of this.tables) copy.tables.set(name, new Map(rows))
    return copy
  }

  bytesOf(data: ModuleData): number {
    let size = this.#sizes.get(data)
    if (size === undefined) {
      size = storedBytesOf(data)
      this.#sizes.set(data, size)
    }
    return size
  }
}

/** A capability as the language compares them: qualified name and arguments. */
export interface Token {
  readonly name: string
  readonly args: readonly Value[]
}

export interface Slot {
  readonly token: Token
  readonly composed: readonly Token[]
}

export interface Managed {
  /** Without the managed parameter. */
  readonly token: Token
  readonly original: Token
  readonly by: { readonly used: boolean } | { readonly manager: Fqn; readonly left: Value; readonly index: number }
}

export interface Frame {
  readonly fqn: Fqn
  readonly kind: 'defun' | 'defcap' | 'defpact'
}

/** Parts that `try` restores (Runtime/Utils.hs, restoreFromErrorState). */
export interface Restorable {
  slots: readonly Slot[]
  managed: readonly Managed[]
  admin: ReadonlySet<string>
  autonomous: readonly Token[]
  evaluated: readonly Token[]
  /** The innermost frame is first. */
  stack: readonly Frame[]
  /** Qualified names of the functions of each frame and those around it. */
  called: readonly ReadonlySet<string>[]
}

/** Names that a program can use, without the hash (`_esLoaded`). */
export interface LoadedNames {
  modules: ReadonlyMap<string, ModuleData>
  all: ReadonlyMap<string, Loaded>
  toplevel: ReadonlyMap<string, Loaded>
  namespace: Namespace | null
}

export interface Signer {
  readonly key: string
  readonly capabilities: readonly Token[]
}

export interface Message {
  readonly hash: string
  readonly signers: readonly Signer[]
  readonly data: ReadonlyMap<string, Value>
}

/** Kinds of look-ups of modules, for coverage. */
export type LookupKind = 'by-name' | 'module-only'

export class State implements Restorable, LoadedNames {
  readonly db: Database
  readonly message: Message
  /** Whether results of functions are checked against their types. */
  readonly areResultsChecked: boolean
  /** Milligas. */
  gas = 0
  slots: readonly Slot[] = []
  managed: readonly Managed[] = []
  admin: ReadonlySet<string> = new Set()
  autonomous: readonly Token[] = []
  evaluated: readonly Token[] = []
  stack: readonly Frame[] = []
  called: readonly ReadonlySet<string>[] = [new Set()]
  modules: ReadonlyMap<string, ModuleData> = new Map()
  all: ReadonlyMap<string, Loaded> = new Map()
  toplevel: ReadonlyMap<string, Loaded> = new Map()
  namespace: Namespace | null = null
  pact: PactExec | null = null
  /** Called for each native, form and look-up that runs. */
  readonly note: (what: string) => void

  constructor(db: Database, message: Message, areResultsChecked: boolean, note: (what: string) => void) {
    this.db = db
    this.message = message
    this.areResultsChecked = areResultsChecked
    this.note = note
  }

  charge(milligas: number): void {
    this.gas += milligas
  }

  restorable(): Restorable {
    const { slots, managed, admin, autonomous, evaluated, stack, called } = this
    return { slots, managed, admin, autonomous, evaluated, stack, called }
  }

  names(): LoadedNames {
    const { modules, all, toplevel, namespace } = this
    return { modules, all, toplevel, namespace }
  }

  /**
   * Look-up by a name: reading and merging is charged (Persistence/Utils.hs, lookupModuleData; TableGasModel.hs,
   * MOpLoadModule and MOpMergeDeps).
   */
  lookupModuleData(name: string): ModuleData | null {
    const loaded = this.modules.get(name)
    if (loaded !== undefined) {
      this.note('look-up: by name, loaded before')
      return loaded
    }
    const read = this.#read(name)
    if (read === null) return null
    this.note(`look-up: by name, ${read.module.is} read`)
    const news = this.#definitionsOf(read)
    this.charge(this.all.size * (news.own.size + read.deps.size) * 10)
    this.#merge(name, read, news)
    return read
  }

  /** Look-up of a module alone: reading is charged, merging is not (Persistence/Utils.hs, lookupModule). */
  lookupModule(name: string, by: string): Module | null {
    const loaded = this.modules.get(name)
    if (loaded !== undefined) {
      this.note(`look-up: ${by}, loaded before`)
      return moduleOnly(loaded)
    }
    const read = this.#read(name)
    if (read === null) return null
    this.note(`look-up: ${by}, read`)
    const module = moduleOnly(read)
    this.#merge(name, read, this.#definitionsOf(read))
    return module
  }

  getModule(name: string, by: string): Module {
    const module = this.lookupModule(name, by)
    if (module === null) throw new Fatal(`no module ${name}`)
    return module
  }

  getModuleData(name: string): ModuleData {
    const data = this.lookupModuleData(name)
    if (data === null) throw new Fatal(`no module ${name}`)
    return data
  }

  /** A member of a module, and the hash of the module (getModuleMemberWithHash). */
  getMember(module: string, name: string, by: string): Loaded {
    const { defs, hash } = this.getModule(module, by)
    const def = defs.find((each) => nameOfDef(each) === name)
    if (def === undefined) throw new Fatal(`no member ${module}.${name}`)
    return { fqn: { m: module, n: name, h: hash }, def }
  }

  findDef(fqn: Fqn): Def {
    const loaded = this.all.get(keyOf(fqn))
    if (loaded === undefined) throw new Fatal(`unbound ${keyOf(fqn)}`)
    return loaded.def
  }

  /** The module of the innermost frame. */
  get caller(): string | null {
    return this.stack[0]?.fqn.m ?? null
  }

  isCalledBy(module: string): boolean {
    return this.stack.some(({ fqn }) => fqn.m === module)
  }

  /** The module calls itself, or the transaction is its administrator (guardForModuleCall). */
  guardForModuleCall(module: string): void {
    if (this.caller !== module && !this.admin.has(module)) throw new Fatal(`module admin of ${module}`)
  }

  /** Calls a function with a frame on the stack; it may not be on the stack already (pushStackFrame, StackPopC). */
  withFrame<T>(frame: Frame, run: () => T): T {
    const name = qualifiedOf(frame.fqn)
    const [current] = this.called
    if (current.has(name)) throw new Fatal(`recursion: ${name}`)
    this.called = [new Set([...current, name]), ...this.called]
    this.stack = [frame, ...this.stack]
    const result = run()
    this.stack = this.stack.slice(1)
    this.called = this.called.slice(1)
    return result
  }

  #read(name: string): ModuleData | null {
    const data = this.db.modules.get(name)
    if (data === undefined) return null
    this.charge(Math.floor(this.db.bytesOf(data) / 200) + 10)
    return data
  }

  #definitionsOf({ module, deps }: ModuleData): { own: Map<string, Loaded>; deps: ReadonlyMap<string, Loaded> } {
    return { own: loadedOf(module), deps }
  }

  #merge(
    name: string,
    data: ModuleData,
    { own, deps }: { own: Map<string, Loaded>; deps: ReadonlyMap<string, Loaded> },
  ): void {
    this.all = new Map([...this.all, ...deps, ...own])
    this.modules = new Map([...this.modules, [name, data]])
  }
}

/** The definitions of a module by their keys (toFqDep). */
export function loadedOf(module: ModuleData['module']): Map<string, Loaded> {
  return new Map(
    visibleDefs(module).map((def) => {
      const fqn = { m: module.name, n: nameOfDef(def), h: module.hash }
      return [keyOf(fqn), { fqn, def }]
    }),
  )
}

function moduleOnly({ module }: ModuleData): Module {
  if (module.is !== 'module') throw new Fatal(`expected module: ${module.name}`)
  return module
}

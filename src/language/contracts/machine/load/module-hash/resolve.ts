/** Resolves a module or interface: its definitions in the order of the network, as terms with resolved names. */
import { evalError, type TextPlace } from '../../../errors.ts'
import { type Annotations, annotationsOf } from '../../../syntax/annotations.ts'
import type { Atom, CallForm, Form } from '../../../syntax/form.ts'
import { syntaxError } from '../../../syntax/lexer.ts'
import { compareText } from '../../../values/compare.ts'
import { Const, type Module, ownerOf } from '../../ast.ts'
import { Expander, type ExpandingRun } from '../../expand/expander.ts'
import type { ResolvedBefore } from '../../expand/resolver.ts'
import { Desugarer } from './desugar.ts'
import { bytesOfHash } from './hash-text.ts'
import { NameResolver, type OwnMembers } from './names.ts'
import { componentsOf } from './order.ts'
import {
  type CapabilityMeta,
  type LookedUpModule,
  moduleNameOf,
  type ResolvedDefinition,
  type ResolvedImport,
  type ResolvedModule,
  type ResolvedStep,
} from './terms.ts'

/** Kinds of definitions. */
const DEFINITIONS: ReadonlySet<string> = new Set(['defun', 'defcap', 'defpact', 'defconst', 'defschema', 'deftable'])

/** Forms and order of the members of a module. */
export interface MembersInOrder {
  /** Forms of its members, after its governance and documentation. */
  readonly members: readonly Form[]
  /** Null if code may name every member with its module. */
  readonly order: ResolvedBefore | null
}

/**
 * Resolves the members of a loaded module.
 * @param form the whole form of the module
 * @throws ContractError if a name in them means nothing to the network
 */
export function resolveModule(
  run: ExpandingRun,
  module: Module,
  form: CallForm,
  { members, order }: MembersInOrder,
): ResolvedModule {
  const calls = members.filter((member): member is CallForm => member.form === 'call')
  const forms = new Map(calls.filter((call) => DEFINITIONS.has(kindOf(call))).map((call) => [nameOf(call).name, call]))
  const resolver = new DefinitionResolver(run, module, { own: new Set(forms.keys()), order })
  const imports = calls.filter((call) => kindOf(call) === 'use').map(importOf)
  const lookups = [...resolver.lookUpAll([...imports.map(({ written }) => written), ...module.interfaces])]
  const resolved = new Map<string, DefinitionResolution>()
  for (const [name, form] of forms) resolved.set(name, resolver.resolve(form))
  const uses = new Map([...resolved].map(([name, { used }]) => [name, used]))
  const ordered = componentsOf(uses).map(({ names, isCyclic }) => {
    if (isCyclic) throw cycle(module, names, forms)
    const { definition, looked } = resolved.get(names[0]) as DefinitionResolution
    lookups.push(...looked)
    return definition
  })
  return {
    module,
    at: form,
    from: form.from,
    name: moduleNameOf(module.name),
    imports,
    implemented: module.interfaces.map(moduleNameOf),
    blessed: [...module.blessed].map((hash) => bytesOfHash(hash)),
    definitions: ordered,
    referenced: resolver.referenced,
    lookups,
  }
}

function kindOf({ items: [head] }: CallForm): string {
  return head?.form === 'atom' ? head.name : ''
}

function nameOf({ items: [, name], place }: CallForm): Atom {
  if (name?.form !== 'atom') throw syntaxError('a definition has a name', place)
  return name
}

function cycle(module: Module, names: readonly string[], forms: ReadonlyMap<string, CallForm>): Error {
  return evalError(
    `Recursive cycle detected in module ${module.name} in the following functions: [${names.join(', ')}]`,
    forms.get(names[0])?.place,
  )
}

/** `(use module "hash" [names])` as written. */
function importOf({ items: [, target, ...rest] }: CallForm): ResolvedImport & { readonly written: string } {
  let hash: Uint8Array | null = null
  let names: readonly string[] | null = null
  for (const part of rest) {
    if (part.form === 'string') hash = bytesOfHash(part.value)
    if (part.form === 'list') names = part.items.map((item) => (item as Atom).name)
  }
  const written = (target as Atom).name
  return { module: moduleNameOf(written), hash, names, written }
}

interface DefinitionResolution {
  readonly definition: ResolvedDefinition
  /** Names of its module that it uses. */
  readonly used: ReadonlySet<string>
  /** Other modules that it names. */
  readonly looked: readonly LookedUpModule[]
}

/** Resolves one definition after the other. */
class DefinitionResolver {
  readonly #module: Module
  readonly #order: ResolvedBefore | null
  readonly #names: NameResolver
  readonly #desugarer: Desugarer

  constructor(run: ExpandingRun, module: Module, members: OwnMembers) {
    this.#module = module
    this.#order = members.order
    this.#names = new NameResolver(run, module, members)
    this.#desugarer = new Desugarer(new Expander(run, module), this.#names)
  }

  get referenced(): ReadonlySet<Module> {
    return this.#names.referenced
  }

  /** Looks modules up by their names. */
  lookUpAll(names: readonly string[]): readonly LookedUpModule[] {
    for (const name of names) this.#names.noteModuleName(name)
    return this.#names.lookups
  }

  resolve(form: CallForm): DefinitionResolution {
    const used = new Set<string>()
    const looked: LookedUpModule[] = []
    this.#names.uses = used
    this.#names.lookups = looked
    this.#order?.begin(nameOf(form).name, kindOf(form))
    return { definition: this.#definition(kindOf(form), form), used, looked }
  }

  #definition(kind: string, form: CallForm): ResolvedDefinition {
    switch (kind) {
      case 'defconst':
        return this.#constant(form)
      case 'defschema':
        return this.#schema(form)
      case 'deftable': {
        const atom = nameOf(form)
        return { kind: 'deftable', name: atom.name, schema: this.#desugarer.arg(atom).type, at: form }
      }
      default:
        return this.#function(kind as 'defun' | 'defcap' | 'defpact', form)
    }
  }

  #constant(form: CallForm): ResolvedDefinition {
    const name = nameOf(form)
    const value = () => {
      const definition = this.#module.get(name.name)
      if (definition instanceof Const && ownerOf(definition) === this.#module) return definition.value
      throw new Error(`${name.name} is not a constant of ${this.#module.name}`)
    }
    const spec = this.#desugarer.arg(name)
    return { kind: 'defconst', spec, term: this.#desugarer.term(form.items[2]), value, at: form }
  }

  #schema(form: CallForm): ResolvedDefinition {
    // The network resolves the types in the order of the names.
    const written = annotationsOf(form.items.slice(2)).rest as readonly Atom[]
    const sorted = written.toSorted((one, other) => compareText(one.name, other.name))
    const fields = sorted.map((field) => this.#desugarer.arg(field))
    const types = new Map(fields.map(({ name, type }) => [name, type]))
    return { kind: 'defschema', name: nameOf(form).name, fields: types, at: form }
  }

  #function(kind: 'defun' | 'defcap' | 'defpact', form: CallForm): ResolvedDefinition {
    const desugarer = this.#desugarer
    const params = (form.items[2] as CallForm).items
    const { rest, ...marks } = annotationsOf(form.items.slice(3))
    const isInterface = this.#module.isInterface
    const meta = kind === 'defcap' ? this.#meta(marks, params as readonly Atom[], form.place) : null
    const args = desugarer.args(params)
    const spec = desugarer.arg(nameOf(form))
    if (kind === 'defun') {
      return { kind, spec, args, body: isInterface ? null : desugarer.lambda(params, rest, form), at: form }
    }
    if (meta !== null) {
      const body = () => this.#names.withBound(args, false, () => desugarer.body(rest, form))
      return { kind: 'defcap', spec, args, meta, body: isInterface ? null : body(), at: form }
    }
    const steps = () => this.#names.withBound(args, false, () => rest.map((step) => this.#step(step)))
    return { kind: 'defpact', spec, args, steps: isInterface ? null : steps(), at: form }
  }

  #step(form: Form): ResolvedStep {
    if (form.form !== 'call') throw syntaxError('a defpact consists of steps', form.place)
    const [run, rollback] = form.items.slice(1)
    const hasRollback = kindOf(form) === 'step-with-rollback'
    return {
      run: this.#desugarer.term(run),
      rollback: hasRollback ? this.#desugarer.term(rollback) : null,
    }
  }

  #meta(
    { managed, isEvent }: Omit<Annotations, 'rest'>,
    args: readonly { readonly name: string }[],
    place: TextPlace,
  ): CapabilityMeta {
    if (managed === null) return { meta: isEvent ? 'event' : 'none' }
    const { param, manager } = managed
    if (param === null || manager === null) return { meta: 'once' }
    const index = args.findIndex(({ name }) => name === param)
    if (this.#module.isInterface) {
      this.#names.noteUse(manager)
      return { meta: 'managed', index, arg: param, manager: { name: manager, module: null } }
    }
    const { name, to } = this.#names.resolve(manager, place)
    if (to.ref !== 'member') throw evalError(`Invalid manager: ${manager} is not a function of a module`, place)
    return { meta: 'managed', index, arg: param, manager: { name, module: to.module } }
  }
}

/** Names of other definitions of the same module that a definition mentions (Pact/Core/IR/Desugar.hs, defSCC). */
import type { Def, Expr, FaceDef, Param, Type } from '../program/tree.ts'
import { desugar, type Parsed } from './desugar.ts'
import { compareTexts } from './terms.ts'

/** Sorted, each once. */
export function namesIn(module: string, defs: readonly (Def | FaceDef)[], def: Def | FaceDef): string[] {
  const mentions = new Mentions(module)
  mentions.def(def, new Set(defs.map(({ name }) => name)))
  return [...mentions.found].sort(compareTexts)
}

type Defined = ReadonlySet<string>

class Mentions {
  readonly found = new Set<string>()
  readonly #module: string

  constructor(module: string) {
    this.#module = module
  }

  def(def: Def | FaceDef, defined: Defined): void {
    switch (def.d) {
      case 'defschema':
        for (const [, type] of def.fields) this.#type(type, defined)
        return
      case 'deftable':
        this.#name(def.schema, defined)
        return
      case 'defconst':
        this.#expr(def.value, defined)
        this.#type(def.type, defined)
        return
      default:
        this.#type(def.result, defined)
        for (const param of def.params) this.#type(param.type, defined)
        if ('meta' in def && def.meta?.meta === 'managed-by') this.#name(def.meta.manager, defined)
        if ('steps' in def) {
          for (const { run, rollback } of def.steps) {
            this.#expr(run, defined)
            if (rollback !== null) this.#expr(rollback, defined)
          }
        }
        // A parameter hides a definition in the lambda of a function, not in the bodies of capabilities and pacts.
        if ('body' in def) {
          const inner = def.d === 'defun' ? without(defined, def.params) : defined
          for (const each of def.body) this.#expr(each, inner)
        }
    }
  }

  #expr(expr: Expr, defined: Defined): void {
    this.#term(desugar(expr), defined)
  }

  #term(term: Parsed, defined: Defined): void {
    switch (term.k) {
      case 'var':
        this.#name(term.name, defined)
        return
      case 'lam':
        for (const { ty } of term.args) this.#type(ty, defined)
        this.#term(
          term.body,
          without(
            defined,
            term.args.map(({ n }) => ({ name: n })),
          ),
        )
        return
      case 'let':
        this.#type(term.arg.ty, defined)
        this.#term(term.e1, defined)
        this.#term(term.e2, without(defined, [{ name: term.arg.n }]))
        return
      case 'app':
        this.#term(term.fn, defined)
        this.#all(term.args, defined)
        return
      case 'seq':
        this.#all([term.e1, term.e2], defined)
        return
      case 'nullary':
        this.#term(term.body, defined)
        return
      case 'special':
        this.#all(term.terms, defined)
        return
      case 'list':
        this.#all(term.items, defined)
        return
      case 'object':
        this.#all(
          term.fields.map(([, value]) => value),
          defined,
        )
        return
    }
  }

  #all(terms: readonly Parsed[], defined: Defined): void {
    for (const term of terms) this.#term(term, defined)
  }

  #name(name: string, defined: Defined): void {
    if (name.includes('::')) return
    const at = name.lastIndexOf('.')
    if (at >= 0 && name.slice(0, at) !== this.#module) return
    const member = name.slice(at + 1)
    if (defined.has(member)) this.found.add(member)
  }

  #type(type: Type | null, defined: Defined): void {
    if (type === null) return
    if (type.t === 'list-of') this.#type(type.of, defined)
    else if (type.t === 'object-of' || type.t === 'table-of') this.#name(type.schema, defined)
  }
}

function without(defined: Defined, params: readonly Pick<Param, 'name'>[]): Defined {
  const names = new Set(params.map(({ name }) => name))
  return new Set([...defined].filter((name) => !names.has(name)))
}

/**
 * The definitions of other modules that a module needs, and the price of finding them (PROTOCOL.md E.5;
 * Pact/Core/TransitiveDependencies.hs).
 */
import type { State } from './state.ts'
import { Fatal, loadedOf } from './state.ts'
import { type Core, compareFqns, type Def, type Fqn, keyOf, type Loaded, type Module } from './terms.ts'

const TICK = 5
const COMPARISON = 200

export function dependenciesOf(state: State, module: Module): ReadonlyMap<string, Loaded> {
  const search = new Search(state.all)
  const own = loadedOf(module)
  search.run([...own.values()].map(({ fqn }) => fqn))
  const n = state.all.size
  const m = search.found.size
  state.charge(search.cost + (n === 0 ? 0 : Math.ceil(m * Math.log(n / m + 1)) * COMPARISON))
  const others = [...search.found.values()].filter((fqn) => !own.has(keyOf(fqn))).sort(compareFqns)
  return new Map(others.map((fqn) => [keyOf(fqn), state.all.get(keyOf(fqn)) as Loaded]))
}

class Search {
  readonly found = new Map<string, Fqn>()
  cost = 0
  readonly #all: ReadonlyMap<string, Loaded>
  #waiting: Fqn[] = []

  constructor(all: ReadonlyMap<string, Loaded>) {
    this.#all = all
  }

  /** The smallest of the names that wait is next. */
  run(first: readonly Fqn[]): void {
    for (const fqn of first) this.found.set(keyOf(fqn), fqn)
    this.#waiting = [...first].sort(compareFqns)
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const loaded = this.#all.get(keyOf(next))
      if (loaded === undefined) throw new Fatal(`unbound ${keyOf(next)}`)
      this.#def(loaded.def)
    }
  }

  #def(def: Def): void {
    switch (def.d) {
      case 'defun':
        this.#term(def.term)
        return
      case 'defcap':
        if (def.meta.meta === 'by') this.#check(def.meta.manager)
        this.#term(def.term)
        return
      case 'defpact':
        for (const { run, rollback } of def.steps) {
          this.#term(run)
          if (rollback !== null) this.#term(rollback)
        }
    }
  }

  /** The parts of a term come before the term itself. */
  #term(term: Core): void {
    for (const part of partsOf(term)) this.#term(part)
    this.cost += TICK
    if (term.k !== 'var' || term.name.kind.k !== 'top') return
    this.#check({ m: term.name.kind.m, n: term.name.n, h: term.name.kind.h })
  }

  #check(fqn: Fqn): void {
    this.#chargeSearch(this.found.size)
    if (this.found.has(keyOf(fqn))) return
    this.#chargeSearch(this.found.size)
    this.#chargeSearch(this.#waiting.length)
    this.#waiting.push(fqn)
    this.#waiting.sort(compareFqns)
    this.found.set(keyOf(fqn), fqn)
  }

  #chargeSearch(size: number): void {
    if (size > 0) this.cost += Math.ceil(Math.log(size)) * COMPARISON
  }
}

function partsOf(term: Core): readonly Core[] {
  switch (term.k) {
    case 'lam':
    case 'nullary':
      return [term.body]
    case 'let':
    case 'seq':
      return [term.e1, term.e2]
    case 'app':
      return [term.fn, ...term.args]
    case 'special':
      return term.terms
    case 'list':
      return term.items
    case 'object':
      return term.fields.map(([, value]) => value)
    default:
      return []
  }
}

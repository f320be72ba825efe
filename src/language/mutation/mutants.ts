/** Mutants: a text with one fault planted in it. */
import type { TextPlace } from '../contracts/errors.ts'
import type { FileCounts } from '../contracts/repl/run-observer.ts'
import type { Form } from '../contracts/syntax/form.ts'
import { LineCounter } from '../contracts/syntax/reader.ts'
import { applyEdits, type Edit, type Fault, type Site } from './fault.ts'
import type { Member, ModuleFacts } from './module-facts.ts'
import { operators } from './operators.ts'
import { sitesOf } from './sites.ts'

export interface Mutant {
  readonly operator: string
  /** Qualified name of the function, capability, pact or constant. */
  readonly member: string
  /** Where its visible change begins. */
  readonly place: TextPlace
  readonly edits: readonly Edit[]
  /** A clause that follows "no test noticed that". */
  readonly what: string
  /** Places of forms, the innermost first. The first that tests can evaluate shows whether they reach the mutant. */
  readonly reachedBy: readonly TextPlace[]
  /** Place of the form that declares the module. */
  readonly module: TextPlace
}

/** All mutants of a module in the order of the text. Two operators may make the same text: it counts once. */
export function mutantsOf(module: ModuleFacts): Mutant[] {
  const found = module.members.flatMap((member) => [
    ...operators.flatMap(({ name, inMember }) =>
      (inMember?.(member, module) ?? []).map((fault) => mutantOf(name, fault, member, module, [member.form])),
    ),
    ...sitesOf(member, module).flatMap((site) =>
      operators.flatMap(({ name, atSite }) =>
        (atSite?.(site) ?? []).map((fault) => mutantOf(name, fault, member, module, formsAround(site))),
      ),
    ),
  ])
  const texts = new Set([module.text])
  const distinct = found.filter(({ edits }) => {
    const text = applyEdits(module.text, edits)
    return !texts.has(text) && texts.add(text)
  })
  const located = distinct.sort((one, other) => startOf(one.edits) - startOf(other.edits))
  const lines = new LineCounter(module.text, { line: 0, column: 0 })
  return located.map((mutant) => ({ ...mutant, place: lines.placeOf(startOf(mutant.edits)) }))
}

function mutantOf(operator: string, { edits, what }: Fault, member: Member, module: ModuleFacts, around: Form[]) {
  return {
    operator,
    member: `${module.outline.name}.${member.name}`,
    edits,
    what,
    reachedBy: around.map(({ place }) => place),
    module: module.form.place,
  }
}

function startOf(edits: readonly Edit[]): number {
  return Math.min(...edits.filter(({ isHelper }) => isHelper !== true).map(({ from }) => from))
}

function formsAround(site: Site): Form[] {
  const forms: Form[] = []
  for (let each: Site | null = site; each !== null; each = each.parent) forms.push(each.reachedBy ?? each.form)
  return [...forms, site.member.form]
}

/** Hits of a file by place, from 0. */
type FileReach = ReadonlyMap<string, number>

export function reachOf({ points, functions }: FileCounts): FileReach {
  // A form is counted as an expression, or as a whole member.
  return new Map([...functions, ...points].map(({ line, column, hits }) => [`${line - 1}:${column - 1}`, hits]))
}

/** Whether the tests evaluate the code of a mutant. */
export function isReached({ reachedBy }: Pick<Mutant, 'reachedBy'>, reach: FileReach): boolean {
  for (const { line, column } of reachedBy) {
    const hits = reach.get(`${line}:${column}`)
    if (hits !== undefined) return hits > 0
  }
  return false
}

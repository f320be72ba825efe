/** Collects contracts and the contracts that they depend on. */
import { operatingError } from '#ground/base/errors.ts'
import { printable } from '#ground/base/printable.ts'
import { ContractError } from '#language/contracts/errors.ts'
import { modulesMentioned, modulesNamed, type Outline, outlinesOf } from '#language/contracts/syntax/outline.ts'
import { declarationErrors } from './errors.ts'

/** Where the texts of modules come from. */
export interface ContractSource {
  readonly has: (name: string) => boolean
  /** Texts of existing modules, by name. */
  readonly texts: (names: readonly string[]) => Promise<ReadonlyMap<string, string>>
}

/**
 * Outlines of contracts and of their dependencies: interfaces, and modules that types, capabilities and imports name.
 * The code of the wanted contracts counts too: the modules that it calls may ask for capabilities of theirs.
 * @param own contracts that are read already
 * @param wanted names of further contracts, which `source` has
 * @returns the wanted ones first, then the dependencies by name
 * @throws NewcutError BAD_INPUT for a text outside the grammar
 */
export async function gather(
  own: readonly Outline[],
  wanted: readonly string[],
  source: ContractSource,
): Promise<Outline[]> {
  const found = new Map(own.map((outline) => [outline.name, outline]))
  const isWanted = new Set([...found.keys(), ...wanted])
  const exists = (name: string) => found.has(name) || source.has(name)
  const findNeeded = (outline: Outline) => dependenciesOf(outline, isWanted.has(outline.name), exists)
  let wave = [...new Set([...wanted, ...own.flatMap(findNeeded)])]
  for (;;) {
    const missing = wave.filter((name) => !found.has(name))
    if (missing.length === 0) break
    const texts = await source.texts(missing)
    for (const name of missing) found.set(name, outlineOf(name, texts.get(name) ?? ''))
    wave = [...new Set(missing.flatMap((name) => findNeeded(found.get(name) as Outline)))]
  }
  const names = [...found.keys()].filter((name) => !isWanted.has(name)).sort()
  return [...isWanted, ...names].map((name) => found.get(name) as Outline)
}

/** Names of the modules that an outline names, if they exist. */
function dependenciesOf(outline: Outline, isWanted: boolean, exists: (name: string) => boolean): string[] {
  const { namespace } = outline
  const code = [...outline.namedBySignatures, ...(isWanted ? outline.namedByBodies : [])]
  const candidates = [
    ...outline.implements.map((name) => modulesNamed(name, namespace)),
    ...outline.uses.map((name) => modulesNamed(name, namespace)),
    ...code.map((name) => modulesMentioned(name, namespace)),
  ]
  return candidates.flatMap((names) => names.find(exists) ?? [])
}

/** The outline of a deployed module: its text has no namespace, but its name has. */
function outlineOf(name: string, text: string): Outline {
  const dot = name.indexOf('.')
  const namespace = dot < 0 ? null : name.slice(0, dot)
  const [outline] = readContract(`module ${name}`, () => outlinesOf(text, namespace))
  if (outline?.name === name) return outline
  const found = outline === undefined ? 'no module' : `the module ${printable(outline.name)}`
  throw operatingError(declarationErrors.otherModule, { name, found })
}

/** Runs a reader. @throws NewcutError BAD_INPUT for text outside the grammar, with `what` and the place */
export function readContract<T>(what: string, reader: () => T): T {
  try {
    return reader()
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    const { place } = error
    const position = place === null ? '' : ` at line ${place.line + 1}, column ${place.column + 1}`
    throw operatingError(declarationErrors.unreadable, { what, place: position, why: printable(error.message) })
  }
}

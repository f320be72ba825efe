/** Members of an interface and of the modules that implement it: they have one name, and change it together. */
import { wordOf } from '../text/parsed-file.ts'
import { isModule, type ModuleSymbol, type NamedSymbol } from '../text/symbols.ts'

interface ModuleFinder {
  /** @returns `pending` while its text is fetched, null if there is none */
  foreign(full: string): ModuleSymbol | 'pending' | null
  knownModules(): ModuleSymbol[]
}

/** A symbol, with those that must have its name. */
export function namesakesOf(symbol: NamedSymbol, modules: ModuleFinder): readonly NamedSymbol[] {
  const { owner, name } = symbol
  if (owner === null || !isModule(owner) || symbol.params === null) return [symbol]
  const interfaces = (owner.kind === 'interface' ? [owner] : interfacesOf(owner, modules)).filter((face) =>
    face.members.has(name),
  )
  if (interfaces.length === 0) return [symbol]
  const full = new Set(interfaces.map((face) => face.full))
  const implementing = modules
    .knownModules()
    .filter((module) => interfacesOf(module, modules).some((face) => full.has(face.full)))
  const all = [...interfaces, ...implementing].flatMap(({ members }) => members.get(name) ?? [])
  return [symbol, ...all]
}

/** Interfaces that a module implements, as far as they are known. */
function interfacesOf({ full, name, parts }: ModuleSymbol, modules: ModuleFinder): ModuleSymbol[] {
  const namespace = full.slice(0, full.length - name.length)
  return parts.members.flatMap((form) => {
    if (form.form !== 'call' || wordOf(form) !== 'implements') return []
    const [, face] = form.items
    if (face?.form !== 'atom') return []
    const found = [face.name, namespace + face.name].map((each) => modules.foreign(each))
    return found.find((each): each is ModuleSymbol => each !== null && each !== 'pending') ?? []
  })
}

/** `(use module)`, `(use module "hash")`, `(use module [names])`: imports members under their own names. */
import { evalError, type TextPlace } from '../errors.ts'
import type { CallForm } from '../syntax/form.ts'
import type { Definition, Module } from './ast.ts'
import { type Expander, syntaxError } from './expander.ts'
import { isHash } from './module-hash/hash-text.ts'

/** Milligas for each imported member, beyond those that a program may import for free, as on the network. */
const MEMBER_COST = 10
const FREE_MEMBERS = 100_000

/** Only the current hash will do, even if the module blesses the other one. */
function expectHash({ name, hash }: Module, wanted: string, place: TextPlace): void {
  if (!isHash(wanted)) throw evalError(`Invalid blessed hash, incorrect format: ${wanted}`, place)
  if (wanted === hash) return
  throw evalError(
    `Import error for module ${name} , hash not blessed: ${hash}`,
    place,
    `Import error for module ${name} . The module hash has not been blessed: ${hash}`,
  )
}

/** Adds the imports of a `use` form to `scope`. */
export function importInto(scope: Map<string, Definition>, expander: Expander, form: CallForm): void {
  const [target, ...rest] = form.items.slice(1)
  if (target?.form !== 'atom') throw syntaxError('use takes the name of a module', form.place)
  const module = expander.moduleNamed(target.name, form.place)
  const { run } = expander
  const { size } = module.definitions
  run.program.loaded.imported += size
  if (run.program.loaded.imported > FREE_MEMBERS) run.charge(MEMBER_COST * size)
  let wanted: Set<string> | null = null
  for (const part of rest) {
    if (part.form === 'string') {
      expectHash(module, part.value, form.place)
    } else if (part.form === 'list') {
      wanted = new Set(
        part.items.map((item) => {
          if (item.form !== 'atom') throw syntaxError('use takes a list of names', item.place)
          return item.name
        }),
      )
    } else throw syntaxError('use takes a module, a hash and a list of names', part.place)
  }
  const missing = [...(wanted ?? [])].filter((name) => !module.definitions.has(name))
  if (missing.length > 0) {
    throw evalError(
      `Invalid imports. Module or interface ${module.name} does not implement the following members: ${missing.join(', ')}`,
      form.place,
    )
  }
  for (const [name, definition] of module.definitions) {
    if (wanted === null || wanted.has(name)) scope.set(name, definition)
  }
}

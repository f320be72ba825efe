/** `(use module)`, `(use module "hash")`, `(use module [names])`: imports members under their own names. */
import { evalError } from '../errors.ts'
import type { CallForm } from '../syntax/form.ts'
import type { Definition } from './ast.ts'
import { type Expander, syntaxError } from './expander.ts'

/** Milligas for each member of the module. */
const MEMBER_COST = 10

/** Adds the imports of a `use` form to `scope`. */
export function importInto(scope: Map<string, Definition>, expander: Expander, form: CallForm): void {
  const [target, ...rest] = form.items.slice(1)
  if (target?.form !== 'atom') throw syntaxError('use takes the name of a module', form.place)
  const module = expander.moduleNamed(target.name, form.place)
  expander.run.charge(MEMBER_COST * module.definitions.size)
  let wanted: Set<string> | null = null
  for (const part of rest) {
    if (part.form === 'string') {
      if (part.value !== module.hash && !module.blessed.has(part.value)) {
        throw evalError(
          `Import error for module ${module.name} . The module hash has not been blessed: ${part.value}`,
          form.place,
        )
      }
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

/**
 * Finds names that code gives to something of its own although a native has them. The network accepts such code, and the
 * name then means the native everywhere. Test files refuse it.
 */
import type { TextPlace } from '../errors.ts'
import type { CallForm, Form } from '../syntax/form.ts'
import { shadowsNative } from './load-errors.ts'

/** Forms whose second part is a name. */
const NAMED: ReadonlySet<string> = new Set([
  ...['module', 'interface', 'defun', 'defcap', 'defpact', 'defconst', 'defschema', 'deftable'],
])
/** Forms with parameters, and the index of these. */
const PARAMETERS: ReadonlyMap<string, number> = new Map([
  ['defun', 2],
  ['defcap', 2],
  ['defpact', 2],
  ['lambda', 1],
])
/** Forms whose parts are checked when they run: a refusal is what they may expect. */
const EXPECTATIONS: ReadonlySet<string> = new Set(['expect', 'expect-failure', 'expect-that'])

/**
 * Refuses modules, members, parameters and variables of `let` with the name of a native. Fields of schemas are no
 * variables. Bindings are accepted, as on the network.
 * @param reserved names of natives
 * @throws EvalError for the first one
 */
export function refuseShadows(forms: readonly Form[], reserved: ReadonlySet<string>): void {
  const refuse = (name: string, place: TextPlace) => {
    if (reserved.has(name)) throw shadowsNative(name, place)
  }
  const visit = (form: Form): void => {
    switch (form.form) {
      case 'list':
        form.items.forEach(visit)
        return
      case 'object':
        for (const [, value] of form.fields) visit(value)
        return
      case 'call':
        for (const { name, place } of namesOf(form)) refuse(name, place)
        for (const item of form.items) if (!isLater(form, item)) visit(item)
    }
  }
  forms.forEach(visit)
}

/** Names that a form gives to something. */
function namesOf({ items }: CallForm): Pick<CallForm & { name: string }, 'name' | 'place'>[] {
  const [head, second] = items
  if (head?.form !== 'atom') return []
  const named = NAMED.has(head.name) ? [second] : []
  const params = items[PARAMETERS.get(head.name) ?? -1]
  const bindings = head.name === 'let' || head.name === 'let*' ? second : undefined
  const variables = bindings?.form === 'call' ? bindings.items.map((each) => each.form === 'call' && each.items[0]) : []
  return [...named, ...(params?.form === 'call' ? params.items : []), ...variables].filter(
    (form) => typeof form === 'object' && form.form === 'atom',
  )
}

function isLater({ items: [head] }: CallForm, part: Form): boolean {
  if (head?.form !== 'atom' || !EXPECTATIONS.has(head.name)) return false
  const own = part.form === 'call' ? part.items[0] : undefined
  return own?.form === 'atom' && NAMED.has(own.name)
}

/**
 * Finds names that code gives to something of its own although a native has them. The network accepts such code, and the
 * name then means the native everywhere. The network's test runner refuses the file.
 */
import type { TextPlace } from '../../errors.ts'
import type { Atom, CallForm, Form } from '../../syntax/form.ts'
import { shadowsNative } from './load-errors.ts'

/** Forms whose second part is a name. */
const NAMING_FORMS: ReadonlySet<string> = new Set([
  'module',
  'interface',
  'defun',
  'defcap',
  'defpact',
  'defconst',
  'defschema',
  'deftable',
])
/** Forms with parameters, and the index of these. */
const PARAMETERS: ReadonlyMap<string, number> = new Map([
  ['defun', 2],
  ['defcap', 2],
  ['defpact', 2],
  ['lambda', 1],
])
const EXPRESSIONS: ReadonlySet<string> = new Set(['lambda', 'let', 'let*'])
/** Forms whose parts are checked when they run: a refusal is what they may expect. */
const EXPECTATIONS: ReadonlySet<string> = new Set(['expect', 'expect-failure', 'expect-that'])

/** Each form that gives a name to something has one of these in its text. */
const NAMING_TEXT = /\b(?:module|interface|def[a-z]+|lambda|let)\b|:=/

/** A name of a native that code gives to something of its own. */
export interface NativeShadow {
  readonly name: string
  readonly place: TextPlace
  /** True in a binding such as that of `bind`, which the public network's test runner accepts too. */
  readonly isBound: boolean
}

/**
 * Finds modules, members, parameters and variables with the name of a native. Fields of schemas are not variables.
 * @param reserved names of natives
 * @param text the source of the forms, for a quick look before a walk; null walks
 */
export function shadowsIn(
  forms: readonly Form[],
  reserved: ReadonlySet<string>,
  text: string | null = null,
): readonly NativeShadow[] {
  const found: NativeShadow[] = []
  const note = ({ name, place }: Pick<Atom, 'name' | 'place'>, isBound: boolean) => {
    if (reserved.has(name)) found.push({ name, place, isBound })
  }
  const visit = (form: Form): void => {
    switch (form.form) {
      case 'list':
        form.items.forEach(visit)
        return
      case 'object':
        for (const [, value] of form.fields) visit(value)
        return
      case 'binding':
        for (const [, variable] of form.fields) note(variable, true)
        return
      case 'call': {
        const names = namesOf(form)
        const isOutside = !isExpression(form)
        if (isOutside) for (const atom of names) note(atom, false)
        for (const item of form.items) if (!isLater(form, item)) visit(item)
        if (!isOutside) for (const atom of names) note(atom, false)
      }
    }
  }
  for (const form of forms) if (text === null || NAMING_TEXT.test(text.slice(form.from, form.to))) visit(form)
  return found
}

/** @throws EvalError for the first name of a native, except in bindings */
export function refuseShadows(form: Form, reserved: ReadonlySet<string>): void {
  const first = shadowsIn([form], reserved).find(({ isBound }) => !isBound)
  if (first !== undefined) throw shadowsNative(first.name, first.place)
}

/** Names that a form gives to something. */
function namesOf({ items }: CallForm): Atom[] {
  const [head, second] = items
  if (head?.form !== 'atom') return []
  const named = NAMING_FORMS.has(head.name) ? [second] : []
  const params = items[PARAMETERS.get(head.name) ?? -1]
  const bindings = head.name === 'let' || head.name === 'let*' ? second : undefined
  const variables = bindings?.form === 'call' ? bindings.items.map((each) => each.form === 'call' && each.items[0]) : []
  return [...named, ...(params?.form === 'call' ? params.items : []), ...variables].filter(
    (form): form is Atom => typeof form === 'object' && form.form === 'atom',
  )
}

/** True for forms within expressions. As in the network's test runner, their parts come first. */
function isExpression({ items: [head] }: CallForm): boolean {
  return head?.form === 'atom' && EXPRESSIONS.has(head.name)
}

function isLater({ items: [head] }: CallForm, part: Form): boolean {
  if (head?.form !== 'atom' || !EXPECTATIONS.has(head.name)) return false
  const own = part.form === 'call' ? part.items[0] : undefined
  return own?.form === 'atom' && NAMING_FORMS.has(own.name)
}

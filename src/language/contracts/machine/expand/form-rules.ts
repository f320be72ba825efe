/** Number and kind of the parts of special forms. Names are resolved after these checks. */
import type { CallForm, Form } from '../../syntax/form.ts'
import { wrongForm } from './load-errors.ts'

interface FormRule {
  readonly isMet: (parts: readonly Form[]) => boolean
  readonly text: string
}

const exactly = (count: number) => (parts: readonly Form[]) => parts.length === count
const atLeast = (count: number) => (parts: readonly Form[]) => parts.length >= count
/** A call of something, not `lambda` or `let`, which bind variables. */
const isApplication = (form: Form) =>
  form.form === 'call' && form.items.length > 0 && !(form.items[0].form === 'atom' && BINDERS.has(form.items[0].name))
const BINDERS: ReadonlySet<string> = new Set(['lambda', 'let', 'let*'])

const RULES: ReadonlyMap<string, readonly FormRule[]> = new Map<string, readonly FormRule[]>([
  ['if', [{ isMet: exactly(3), text: 'if must take three arguments' }]],
  ['do', [{ isMet: atLeast(1), text: 'do form must have at least 1 expression' }]],
  ['with-capability', [{ isMet: atLeast(2), text: 'with-capability must take at least 2 expressions' }]],
  ['suspend', [{ isMet: exactly(1), text: 'suspend must take only 1 argument' }]],
  ['enforce-one', [{ isMet: exactly(2), text: 'enforce-one must take two arguments' }]],
  ['try', [{ isMet: exactly(2), text: 'try must take two arguments' }]],
  ['error', [{ isMet: exactly(1), text: 'error must take only 1 argument' }]],
  ['pure', [{ isMet: exactly(1), text: 'pure must take only 1 argument' }]],
  [
    'create-user-guard',
    [
      {
        isMet: (parts) => parts.length === 1 && isApplication(parts[0]),
        text: 'create-user-guard must take one argument, which must be an application',
      },
    ],
  ],
  [
    'cond',
    [
      { isMet: atLeast(1), text: 'cond: expected list of conditions with a default case' },
      {
        isMet: (parts) =>
          parts.slice(0, -1).every((each) => each.form === 'call' && each.items.length === 2 && isApplication(each)),
        text: 'cond: expected application of conditions',
      },
    ],
  ],
])

/** @throws EvalError if the parts of a special form are not as its rules say */
export function checkForm(name: string, call: CallForm): void {
  const parts = call.items.slice(1)
  const broken = RULES.get(name)?.find(({ isMet: isKept }) => !isKept(parts))
  if (broken !== undefined) throw wrongForm(broken.text, call.place)
}

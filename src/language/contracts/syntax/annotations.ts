/** Parses the docstring and annotations (`@managed`, `@event`, ...) in front of the body of a definition. */
import type { Form } from './form.ts'
import { isIdentifier } from './names.ts'

const MARKS: ReadonlySet<string> = new Set(['@doc', '@model', '@event', '@managed'])

export interface Annotations {
  readonly rest: readonly Form[]
  /** Null if not managed; a null `param` means that the capability can be used once. */
  readonly managed: { readonly param: string | null; readonly manager: string | null } | null
  readonly isEvent: boolean
}

export function annotationsOf(forms: readonly Form[]): Annotations {
  let at = 0
  let managed: Annotations['managed'] = null
  let isEvent = false
  // A single string is the body, not a docstring.
  if (forms[0]?.form === 'string' && forms.length > 1) at = 1
  for (;;) {
    const form = forms[at]
    if (form?.form !== 'atom' || !MARKS.has(form.name)) break
    const [next, afterNext] = [forms[at + 1], forms[at + 2]]
    switch (form.name) {
      case '@event':
        isEvent = true
        at++
        break
      case '@managed': {
        const hasManager = isIdentifier(next) && afterNext?.form === 'atom'
        managed = {
          param: hasManager ? next.name : null,
          manager: hasManager ? afterNext.name : null,
        }
        at += hasManager ? 3 : 1
        break
      }
      default:
        // @doc and @model take one argument.
        at += 2
    }
  }
  return { rest: forms.slice(at), managed, isEvent }
}

/** Parses the docstring and annotations (`@managed`, `@event`, ...) in front of the body of a definition. */
import type { Form } from '../syntax/form.ts'

export interface Marks {
  readonly rest: readonly Form[]
  /** Null if not managed; a null `param` means that the capability can be used once. */
  readonly managed: { readonly param: string | null; readonly manager: string | null } | null
  readonly isEvent: boolean
}

export function docAndMarks(forms: readonly Form[]): Marks {
  let at = 0
  let managed: Marks['managed'] = null
  let isEvent = false
  // A single string is the body, not a docstring.
  if (forms[0]?.form === 'string' && forms.length > 1) at = 1
  for (;;) {
    const form = forms[at]
    if (form?.form !== 'atom' || !form.name.startsWith('@')) break
    const [next, afterNext] = [forms[at + 1], forms[at + 2]]
    switch (form.name) {
      case '@event':
        isEvent = true
        at++
        break
      case '@managed': {
        const isName = (part: Form | undefined) => part?.form === 'atom' && !part.name.startsWith('@')
        const hasManager = isName(next) && isName(afterNext)
        managed = {
          param: hasManager && next?.form === 'atom' ? next.name : null,
          manager: hasManager && afterNext?.form === 'atom' ? afterNext.name : null,
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

/** Fields of a form by their ids, and their faults. */
import { element } from '../../kit/dom.ts'
import { FieldFault, FormFault } from './field-fault.ts'

export const input = (id: string) => element<HTMLInputElement>(id)
export const select = (id: string) => element<HTMLSelectElement>(id)
export const textarea = (id: string) => element<HTMLTextAreaElement>(id)

/**
 * Reads the account that pays for gas.
 * @throws FieldFault
 */
export function readPayer(id: string): string {
  const text = input(id).value.trim()
  if (text !== '') return text
  throw faultIn(id, 'paid by: expected the name of an account, such as sender00')
}

/** Builds the fault of a field, which is its cause. */
export const faultIn = (id: string, text: string) => new FieldFault(text, { cause: element(id) })

/** Marks the wrong fields, and moves to the first. */
export function markFields(fault: FieldFault): void {
  const faults = fault instanceof FormFault ? fault.faults : [fault]
  const fields = faults.map(({ cause }) => cause).filter((cause) => cause instanceof HTMLElement)
  for (const field of fields) field.setAttribute('aria-invalid', 'true')
  fields[0]?.focus()
}

/** Takes the mark of a field away with its next change. */
export function unmarkOnInput(form: HTMLElement): void {
  form.addEventListener('input', ({ target }) => {
    if (target instanceof Element) target.removeAttribute('aria-invalid')
  })
}

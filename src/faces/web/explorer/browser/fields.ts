/** Fields of a form by their ids, and their faults. */
import { element } from '../../kit/dom.ts'
import { FieldFault } from './field-fault.ts'

export const input = (id: string) => element<HTMLInputElement>(id)
export const select = (id: string) => element<HTMLSelectElement>(id)
export const textarea = (id: string) => element<HTMLTextAreaElement>(id)

/** Builds the fault of a field, which is its cause. */
export const faultIn = (id: string, text: string) => new FieldFault(text, { cause: element(id) })

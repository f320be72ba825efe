/** Runs a text: its forms one after the other, in the transaction of one machine. */
import { evalError } from '../errors.ts'
import type { Form } from '../syntax/form.ts'
import { read } from '../syntax/reader.ts'
import { UNIT } from '../values/value.ts'
import { Expander, type SpecialForms } from './expander.ts'
import { importInto } from './imports.ts'
import type { Machine } from './machine.ts'
import { loadModule } from './modules.ts'
import type { Term } from './term.ts'

/** Runs all forms. Returns the value of the last one. Throws ContractError. */
export function runText(machine: Machine, forms: SpecialForms, text: string): Term {
  return runForms(machine, forms, read(text), text)
}

/** As runText, for a text that was read before. `forms`: what the language knows; `program`: what was read. */
export function runForms(machine: Machine, forms: SpecialForms, program: readonly Form[], text: string): Term {
  let result: Term = UNIT
  for (const form of program) result = runForm(machine, forms, form, text)
  return result
}

/** `text`: what the form was read from. */
export function runForm(machine: Machine, forms: SpecialForms, form: Form, text: string): Term {
  try {
    return evaluateForm(machine, forms, form, text)
  } catch (error) {
    throw machine.located(error)
  }
}

function evaluateForm(machine: Machine, forms: SpecialForms, form: Form, text: string): Term {
  const head = form.form === 'call' ? form.items[0] : undefined
  if (form.form === 'call' && head?.form === 'atom') {
    switch (head.name) {
      case 'module':
      case 'interface': {
        const { name, hash } = loadModule(machine, forms, form, text.slice(form.from, form.to))
        return `Loaded ${head.name} ${name}, hash ${hash}`
      }
      case 'use': {
        importInto(machine.imports, new Expander(machine, forms, null), form)
        const target = form.items[1]
        return `Imported ${target?.form === 'atom' ? target.name : ''}`
      }
    }
    if (MEMBERS.has(head.name) && !forms.has(head.name))
      throw evalError(`${head.name} is allowed in modules only`, form.place)
  }
  return machine.evaluate(new Expander(machine, forms, null).expand(form, null), null)
}

const MEMBERS = new Set(['defun', 'defconst', 'defschema', 'deftable', 'defcap', 'defpact', 'bless', 'implements'])

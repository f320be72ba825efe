/** Runs a text: its forms one after the other, in the transaction of one machine. */
import { evalError } from '../errors.ts'
import type { Form } from '../syntax/form.ts'
import { read } from '../syntax/reader.ts'
import { UNIT } from '../values/value.ts'
import type { Evaluator } from './evaluator.ts'
import { Expander, type SpecialForms } from './expander.ts'
import { importInto } from './imports.ts'
import { loadModule } from './modules.ts'
import type { Term } from './term.ts'

/** Runs all forms. Returns the value of the last one. Throws ContractError. */
export function runText(machine: Evaluator, forms: SpecialForms, text: string): Term {
  let result: Term = UNIT
  for (const form of read(text)) result = runForm(machine, forms, form, text)
  return result
}

/** `text`: what the form was read from. */
export function runForm(machine: Evaluator, forms: SpecialForms, form: Form, text: string): Term {
  try {
    return evaluateForm(machine, forms, form, text)
  } catch (error) {
    throw machine.located(error)
  }
}

function evaluateForm(machine: Evaluator, forms: SpecialForms, form: Form, text: string): Term {
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

/** Runs a program: its top-level forms in order, in one transaction. */
import { evalError } from '../errors.ts'
import type { Form } from '../syntax/form.ts'
import { read } from '../syntax/reader.ts'
import { UNIT } from '../values/value.ts'
import { Expander, type ExpandingRun } from './expander.ts'
import { importInto } from './imports.ts'
import { loadModule } from './modules.ts'
import { located } from './scopes.ts'
import { Callable, type Term } from './term.ts'

/**
 * Parses and runs a program.
 * @returns the result of the last form
 * @throws ContractError
 */
export function runText(run: ExpandingRun, text: string): Term {
  return runForms(run, read(text), text)
}

/**
 * As `runText`, for a program that was parsed before.
 * @param text source of `program`
 */
export function runForms(run: ExpandingRun, program: readonly Form[], text: string): Term {
  let result: Term = UNIT
  for (const form of program) result = runForm(run, form, text)
  return result
}

/** @param text source text that contains the form */
export function runForm(run: ExpandingRun, form: Form, text: string): Term {
  try {
    return evaluateForm(run, form, text)
  } catch (error) {
    throw located(run.call, error)
  }
}

function evaluateForm(run: ExpandingRun, form: Form, text: string): Term {
  const head = form.form === 'call' ? form.items[0] : undefined
  if (form.form === 'call' && head?.form === 'atom') {
    switch (head.name) {
      case 'module':
      case 'interface': {
        const { name, hash } = loadModule(run, form, text.slice(form.from, form.to))
        return `Loaded ${head.name} ${name}, hash ${hash}`
      }
      case 'use': {
        importInto(run.program.imports, new Expander(run, null), form)
        const target = form.items[1]
        return `Loaded imports from ${target?.form === 'atom' ? target.name : ''}`
      }
    }
    if (MEMBERS.has(head.name) && !run.forms.has(head.name))
      throw evalError(`${head.name} is allowed in modules only`, form.place)
  }
  const result = run.evaluate(new Expander(run, null).expand(form, null), null)
  if (result instanceof Callable) throw evalError('Evaluation did not reduce to a value', form.place)
  return result
}

const MEMBERS = new Set(['defun', 'defconst', 'defschema', 'deftable', 'defcap', 'defpact', 'bless', 'implements'])

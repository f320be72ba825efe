/** Runs a program: its top-level forms in order, in one transaction. */
import { evalError } from '../../errors.ts'
import type { CallForm, Form } from '../../syntax/form.ts'
import { syntaxError } from '../../syntax/lexer.ts'
import { readProgram } from '../../syntax/program.ts'
import { UNIT } from '../../values/value.ts'
import type { Module } from '../ast.ts'
import { Expander, type ExpandingRun } from '../expand/expander.ts'
import { addLocation } from '../scopes.ts'
import { Callable, type Term } from '../term.ts'
import { runAsStep, type TraceStep } from '../tracer.ts'
import { importsOf } from './imports.ts'
import { loadModule } from './modules.ts'

/**
 * Parses and runs a program.
 * @returns the result of the last form
 * @throws ContractError
 */
export function runText(run: ExpandingRun, text: string): Term {
  return runForms(run, readProgram(text), text)
}

/**
 * As `runText`, for a program that was parsed before.
 * @param text source of `program`
 * @throws ContractError
 */
export function runForms(run: ExpandingRun, program: readonly Form[], text: string): Term {
  let result: Term = UNIT
  for (const form of program) result = runForm(run, form, text)
  return result
}

/**
 * @param text source text that contains the form
 * @throws ContractError
 */
export function runForm(run: ExpandingRun, form: Form, text: string): Term {
  try {
    return evaluateForm(run, form, text)
  } catch (error) {
    throw addLocation(run.call, error)
  }
}

function evaluateForm(run: ExpandingRun, form: Form, text: string): Term {
  const head = form.form === 'call' ? form.items[0] : undefined
  if (form.form === 'call' && head?.form === 'atom') {
    switch (head.name) {
      case 'module':
      case 'interface': {
        const code = text.slice(form.from, form.to)
        if (run.tracer === null) return loadedText(head.name, loadModule(run, form, code))
        let loaded: Module | null = null
        const size = () => {
          const { networkBytes: stored = 0, surplus = 0 } = loaded?.image ?? {}
          return { source: Buffer.byteLength(code), stored, surplus }
        }
        return runAsStep(run.tracer, { ...deployStep(run, form, head.name), size }, () => {
          loaded = loadModule(run, form, code)
          return loadedText(head.name, loaded)
        })
      }
      case 'use': {
        for (const [name, definition] of importsOf(new Expander(run, null), form)) {
          run.program.imports.set(name, definition)
        }
        const target = form.items[1]
        return `Loaded imports from ${target?.form === 'atom' ? target.name : ''}`
      }
    }
    if (MEMBERS.has(head.name) && !run.forms.has(head.name))
      throw syntaxError(`Expected: [expression; ${head.name} is allowed in modules only]`, form.place)
  }
  const result = run.evaluate(new Expander(run, null).expand(form, null), null)
  if (result instanceof Callable) throw evalError('Evaluation did not reduce to a value', form.place)
  return result
}

function loadedText(kind: string, { name, hash }: Module): string {
  return `Loaded ${kind} ${name}, hash ${hash}`
}

function deployStep(run: ExpandingRun, { items: [, name], place }: CallForm, by: string): TraceStep {
  const bare = name?.form === 'atom' ? name.name : ''
  const { namespace } = run.program
  const full = namespace === null ? bare : `${namespace}.${bare}`
  return { kind: 'deploy', name: full, args: [], by, module: null, place }
}

const MEMBERS = new Set(['defun', 'defconst', 'defschema', 'deftable', 'defcap', 'defpact', 'bless', 'implements'])

/** Runs texts of the language in memory, on an empty chain. */

import { dirname, resolve } from 'node:path'
import { operatingError } from '#ground/base/errors.ts'
import { ContractError } from '../contracts/errors.ts'
import { typeFormSource } from '../contracts/machine/types.ts'
import { languagesOf, type TestFiles, TestRun } from '../contracts/repl/run.ts'
import { type Outline, outlinesOf, type TypedField } from '../contracts/syntax/outline.ts'
import { showValue } from '../contracts/values/print.ts'
import { testingErrors } from './errors.ts'
import { codeIn } from './files.ts'

/** How to run a text. */
export interface TextOptions {
  /**
   * Name of the text in errors. A text whose name ends with `.repl` has the commands of test files, such as `expect`,
   * `load` and `env-data`. Default: `code.pact`.
   */
  readonly name?: string
  /** Folder of the files that the text loads. Default: the working directory. */
  readonly folder?: string
  /** Text of a test file that runs before, such as one that loads other contracts and defines keysets. */
  readonly setup?: string
}

/** The result of an expectation. */
export interface TextTest {
  readonly name: string
  /** `name:line:column` of the expectation; lines and columns count from 1. */
  readonly at: string
  /** Expected and actual result of a failure, as a sentence; null if the expectation holds. */
  readonly failure: string | null
}

/** The result of a text. */
export interface TextRun {
  /** Value of the last form at the top level, in source form; null if the text ended early. */
  readonly value: string | null
  /** Lines that the text printed, and warnings. */
  readonly output: readonly string[]
  /** Expectations in the order of their evaluation. */
  readonly tests: readonly TextTest[]
  /** Gas of the text, with at most three decimal places. It is what the code costs on the public network. */
  readonly gas: number
  /** Place and reason of an early end, as `name:line:column: reason`; null if the text ran to its end. */
  readonly error: string | null
}

/** A parameter of a function, or a field of a schema. */
export interface ModuleField {
  readonly name: string
  /** Type in source form, such as `[string]` or `object{account}`; null if the text declares none. */
  readonly type: string | null
}

/** A member of a module or an interface. */
export interface ModuleMember {
  readonly kind: 'function' | 'pact' | 'capability' | 'schema' | 'table' | 'constant'
  readonly name: string
  readonly doc: string | null
  /** Parameters of functions, pacts and capabilities, fields of schemas; empty for others. */
  readonly fields: readonly ModuleField[]
  /** Type of the result or of the constant, or the schema of the table; null if the text declares none. */
  readonly type: string | null
}

/** A module or an interface that a text has loaded. */
export interface LoadedModule {
  /** `module` or `namespace.module`. */
  readonly name: string
  readonly isInterface: boolean
  readonly doc: string | null
  readonly members: readonly ModuleMember[]
}

const NAME = 'code.pact'
const SETUP = 'setup.repl'

/** Runs a text. Errors of the text are in the result. @throws NewcutError BAD_INPUT if `setup` fails */
export function runCode(text: string, options: TextOptions = {}): TextRun {
  const { run, file, name } = startRun(text, options)
  const [charged, printed] = [run.milligas, run.output.length]
  const place = ({ file: at, place: { line, column } }: TestRun['cases'][number]) =>
    `${at === file ? name : at}:${line + 1}:${column + 1}`
  let [value, error]: [string | null, string | null] = [null, null]
  try {
    value = showValue(run.runFile(file))
  } catch (failure) {
    const { place: at, message } = failurePlace(failure, file, name)
    error = `${at}: ${message}`
  }
  return {
    value,
    output: run.output.slice(printed),
    tests: run.cases
      .filter((each) => each.file !== SETUP)
      .map((each) => ({ name: each.name, at: place(each), failure: each.what })),
    gas: (run.milligas - charged) / 1000,
    error,
  }
}

/**
 * Loads the modules and interfaces of a text, as a node does: their types, names and constants are checked.
 * @returns the modules and interfaces in the order of the text
 * @throws NewcutError BAD_INPUT with `name:line:column: reason` if the text or `setup` fails
 */
export function loadModules(text: string, options: TextOptions = {}): LoadedModule[] {
  const { run, file, name } = startRun(text, options)
  try {
    run.runFile(file)
    return outlinesOf(text, null).map(loadedModule)
  } catch (failure) {
    throw operatingError(testingErrors.failedText, failurePlace(failure, file, name))
  }
}

/** A run in which the setup has run. */
function startRun(text: string, { name = NAME, folder = '.', setup }: TextOptions) {
  const file = resolve(folder, name)
  const setupFile = resolve(folder, SETUP)
  const texts = new Map([[file, text]])
  if (setup !== undefined) texts.set(setupFile, setup)
  const files: TestFiles = {
    resolve: (from, path) => resolve(dirname(from), path),
    read: (path) => texts.get(path) ?? codeIn(path),
    displayName: (path) => {
      if (path === file) return name
      return path === setupFile ? SETUP : path
    },
  }
  const run = new TestRun(files, file, (test) => languagesOf(test))
  if (setup !== undefined) {
    try {
      run.runFile(setupFile)
    } catch (failure) {
      throw operatingError(testingErrors.failedText, failurePlace(failure, setupFile, SETUP))
    }
    const failed = run.failures[0]
    if (failed !== undefined) {
      throw operatingError(testingErrors.failedSetup, { setup: SETUP, test: failed.name, what: failed.what })
    }
    run.cases.length = 0
  }
  return { run, file, name }
}

/** @throws any failure that is not of the language */
function failurePlace(failure: unknown, file: string, name: string): { place: string; message: string } {
  if (!(failure instanceof ContractError)) throw failure
  const at = failure.file === null || failure.file === file ? name : failure.file
  const { place, message } = failure
  return { place: place === null ? at : `${at}:${place.line + 1}:${place.column + 1}`, message }
}

function loadedModule({ name, isInterface, doc, ...parts }: Outline): LoadedModule {
  const callables = (kind: ModuleMember['kind'], list: Outline['functions']) =>
    list.map(({ params, result, ...each }) => ({
      ...base(kind, each),
      fields: params.map(fieldOf),
      type: typeOf(result),
    }))
  const base = (kind: ModuleMember['kind'], each: { readonly name: string; readonly doc: string | null }) => {
    return { kind, name: each.name, doc: each.doc, fields: [], type: null } satisfies ModuleMember
  }
  const members: ModuleMember[] = [
    ...callables('function', parts.functions),
    ...callables('pact', parts.pacts),
    ...callables('capability', parts.capabilities),
    ...parts.schemas.map(({ fields, ...each }) => ({ ...base('schema', each), fields: fields.map(fieldOf) })),
    ...parts.tables.map(({ schema, ...each }) => ({ ...base('table', each), type: schema })),
    ...parts.constants.map(({ type, ...each }) => ({ ...base('constant', each), type: typeOf(type) })),
  ]
  return { name, isInterface, doc, members }
}

const fieldOf = ({ name, type }: TypedField): ModuleField => ({ name, type: typeOf(type) })
const typeOf = (type: TypedField['type']) => (type === null ? null : typeFormSource(type))

/** A module rebuilt from its text equals the module that loading created. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { language } from '../../src/language/contracts/language.ts'
import { Const, type Definition, FunctionDefinition, Module, Schema } from '../../src/language/contracts/machine/ast.ts'
import { emptyEnvironment } from '../../src/language/contracts/machine/environment.ts'
import { typeSource } from '../../src/language/contracts/machine/types.ts'
import { languagesOf, runTests } from '../../src/language/contracts/repl/run.ts'
import { moduleSource, reloadModule } from '../../src/language/contracts/stored-modules.ts'
import { systemContracts } from '../../src/language/contracts/system/system.ts'
import type { RowSchema, Type, Value } from '../../src/language/contracts/values/value.ts'
import { rotating } from '../rotation.ts'
import { until } from '../wait.ts'
import { evaluatorOn, freeGas, Layer, outcome, runOn } from './evaluator.ts'
import { Ledger } from './ledger.ts'

const FOLDERS = ['suites', 'system'].map((name) => join(import.meta.dirname, name))
const suites = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.repl'))
    .map((name) => join(folder, name)),
)
const files = {
  resolve: (from: string, path: string) => resolve(dirname(from), path),
  read: (file: string) => readFileSync(file, 'utf8'),
}

function again(module: Module, of = language, areSizesOfRunner = false): Module {
  return reloadModule(moduleSource(module), { ...emptyEnvironment.block.rules, areSizesOfRunner }, of)
}

function nameOf(type: Type | null): string {
  return type === null ? '' : typeSource(type)
}

function fieldsOf(schema: RowSchema | null): string[] {
  return [...(schema?.fields ?? [])].map(([name, type]) => `${name}:${nameOf(type)}`)
}

/** Everything about a definition that other code can observe. */
function shape(definition: Definition) {
  if (definition instanceof Const) return { constant: definition.value }
  if (definition instanceof Schema) return { fields: fieldsOf(definition) }
  if (!(definition instanceof FunctionDefinition))
    return { table: definition.name, fields: fieldsOf(definition.schema) }
  const { kind, params, result, managed, isEvent, body, steps } = definition
  return {
    managed: managed?.by == null ? managed : { ...managed.by, manager: managed.by.manager?.qualified },
    ...{ kind, isEvent, steps: steps.length, result: nameOf(result) },
    params: params.map(({ name, type }) => `${name}:${nameOf(type)}`),
    body: body.map(({ place }) => place),
  }
}

function shapeOf(module: Module) {
  const { name, namespace, isInterface, hash, code, txHash, place, interfaces, blessed, governance } = module
  return {
    ...{ name, namespace, isInterface, hash, code, txHash, place, interfaces, blessed, governance },
    members: [...module.definitions].map(([member, definition]) => [member, shape(definition)]),
    imports: [...module.imports.keys()],
    dependencies: [...module.dependencies].map(([member, { hash: version }]) => [member, version]),
    outside: [...module.outside].map(([member, owner]) => [member, owner.name]),
  }
}

/** The state of an evaluator after it has run a text. */
function loaded(text: string, state = new Layer()): Layer {
  const result = outcome(evaluatorOn(state), text)
  if ('error' in result) throw result.error
  return state
}

function moduleIn(state: Layer, name: string): Module {
  return state.get<Module>('modules', name) as Module
}

afterEach(() => {
  vi.restoreAllMocks()
})

/**
 * Makes all states store the rebuilt copy of each module. Returns a function that counts these copies.
 * @param languageOf language of the modules, which can be that of test files
 */
function reloadingAll(languageOf = () => language, areSizesOfRunner = false): () => number {
  let count = 0
  const put = Layer.prototype.put
  vi.spyOn(Layer.prototype, 'put').mockImplementation(function (this: Layer, domain, key, value) {
    if (!(value instanceof Module)) return put.call(this, domain, key, value)
    const made = again(value, languageOf(), areSizesOfRunner)
    expect(shapeOf(made)).toEqual(shapeOf(value))
    count++
    return put.call(this, domain, key, made)
  })
  return () => count
}

/** Every form of the language whose expansion leaves traces in the module. */
const ALL_FORMS = `(module forms G
  (defcap G () true) (defcap C (x:integer) @managed x less true) (defun less (a b) a)
  (defschema row v:integer) (deftable rows:{row}) (defconst ONE (+ 1 0))
  (defun values (x) [x ONE {"a": x} 'b 1.5 true forms])
  (defun branches (x) (if (and x (or x true)) (cond (x 1) 2) (do 1 2)))
  (defun locals (x) (let* ((y:integer x) (f (lambda (a b) (+ a (+ b y))))) (map (f 1) [1])))
  (defun refusals (x) (enforce x "no") (enforce-one "none" [(enforce x "no")]) (try 1 (enforce x "no")))
  (defun rights (x) (with-capability (C x) 1) (create-user-guard (locals x)))
  (defun objects (x) (with-read rows "k" {"v" := v} v) (with-default-read rows "k" {"v": 1} {"v" := v} v)
    (bind {"v": x} {"v" := v:integer} v) (bind {"v": x} (at "v")) (pure x))
  (defun through (m:module{face}) (m::one))
  (defpact steps (x) (step-with-rollback (yield {"v": x}) 1) (step (resume {"v" := v} v)))
  (defpact around (x) (step (continue (steps x)))))`

describe('a loaded module', () => {
  it('a loaded module does not retain the evaluator that loaded it', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const below = new Layer()
    const load = () => {
      const evaluator = evaluatorOn(new Layer(below))
      runOn(
        evaluator,
        `(interface face (defun one () @doc "One.")) ${systemContracts.map(({ text }) => text).join('')}`,
      )
      runOn(evaluator, ALL_FORMS)
      const { state } = evaluator.transaction
      const modules = state.keys('modules').map((name) => moduleIn(state, name))
      return { modules, evaluator: new WeakRef(evaluator) }
    }
    const { modules, evaluator } = load()
    const made = modules.map((module) => again(module))
    // A WeakRef keeps its object alive until the turn that created or read it has ended.
    await until(
      () => {
        collect()
        return evaluator.deref() === undefined
      },
      () => 'the evaluator is still there',
    )
    expect([...modules, ...made]).toHaveLength(2 * (systemContracts.length + 2))
  })
})

describe('a rebuilt module', () => {
  it.each(rotating(suites, suites.length / 3))('a rebuilt module behaves as before: %s', (suite) => {
    const before = runTests(suite, files)
    let all = language
    const count = reloadingAll(() => all, true)
    const report = runTests(suite, files, (test) => {
      const languages = languagesOf(test)
      all = languages.all
      return languages
    })
    expect(report).toEqual(before)
    if (!suite.endsWith('load-system.repl')) expect(count()).toBeGreaterThan(0)
  })

  it('a rebuilt module equals the original for all system contracts', () => {
    const count = reloadingAll()
    const { state } = new Ledger('0').begin()
    expect(count()).toBeGreaterThanOrEqual(systemContracts.length)
    expect(state.keys('modules')).toEqual(systemContracts.map(({ name }) => name).sort())
  })

  it('a rebuilt module keeps the values of its constants without evaluating them again', () => {
    const data = new Map<string, Value>([['x', 'first']])
    const state = new Layer()
    runOn(
      evaluatorOn(state, freeGas(), { data }),
      '(module m G (defcap G () true) (defconst X (read-string "x")) (defun f () X))',
    )
    state.put('modules', 'm', again(moduleIn(state, 'm')))
    expect(runOn(evaluatorOn(state), '(m.f)')).toBe('first')
  })

  it('a rebuilt module is refused if the value of a constant is missing', () => {
    const state = loaded('(module m G (defcap G () true) (defconst X 1))')
    const source = { ...moduleSource(moduleIn(state, 'm')), constants: new Map() }
    expect(() => reloadModule(source)).toThrow('the constant X was not kept')
  })

  it('a rebuilt module keeps everything that was in scope when it was loaded', () => {
    const state = loaded(
      '(module a G (defcap G () true) (defun one () 1)) (module b G (defcap G () true) (use a) (defun g () (one)))' +
        '(module c G (defcap G () true) (defun two () (+ (one) (g))))',
    )
    const before = moduleIn(state, 'c')
    expect([...moduleSource(before).scope.keys()]).toEqual(['one', 'g'])
    const made = again(before)
    state.put('modules', 'c', made)
    expect(runOn(evaluatorOn(state), '(c.two)')).toBe(2n)
    expect(() => {
      reloadModule({ ...moduleSource(before), scope: new Map() })
    }).toThrow('Cannot find module:  one')
  })

  it('a rebuilt module keeps the versions of modules that it was loaded with', () => {
    const dependency = (n: number) => `(module a G (defcap G () true) (defun one () ${n}))`
    const state = loaded(`${dependency(1)} (module b G (defcap G () true) (defun f () (a.one)))`)
    loaded(dependency(2), state)
    state.put('modules', 'b', again(moduleIn(state, 'b')))
    expect(runOn(evaluatorOn(state), '[(b.f) (a.one)]')).toEqual([1n, 2n])
  })

  it('a rebuilt module needs no evaluator with gas or state', () => {
    const state = new Layer()
    const data = new Map<string, Value>([['k', []]])
    runOn(evaluatorOn(state, freeGas(), { data }), '(define-keyset "k") (module m "k" (defun f () 1))')
    const made = reloadModule(moduleSource(moduleIn(state, 'm')))
    expect(made.governance).toEqual({ keyset: 'k' })
  })

  it('a rebuilt module reports errors at the original places', () => {
    const state = loaded('1\n\n  (module m G (defcap G () true)\n (defun f () (at 5 [])))')
    const place = () => {
      const result = outcome(evaluatorOn(state), '(m.f)')
      return 'error' in result ? [result.error.place, result.error.within] : null
    }
    const before = place()
    expect(before?.[0]).toEqual({ line: 3, column: 13 })
    state.put('modules', 'm', again(moduleIn(state, 'm')))
    expect(place()).toEqual(before)
  })

  it('a rebuilt module may call a copy of itself without being its administrator', () => {
    const state = loaded(
      '(module a G (defcap G () (enforce false "never")) (defcap C () true) (defun f () (with-capability (C) 1)))' +
        '(module b G (defcap G () true) (defun g () (a.f)))',
    )
    state.put('modules', 'a', again(moduleIn(state, 'a')))
    expect(runOn(evaluatorOn(state), '(b.g)')).toBe(1n)
  })
})

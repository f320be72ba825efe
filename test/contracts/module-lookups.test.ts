/**
 * Gas of look-ups of modules, by what needs the module. Reading a module costs gas in each program. Adding its definitions
 * to those that are loaded costs gas only where code names it (LANGUAGE.md, Look-ups of modules).
 */
import { expect, it, vi } from 'vitest'
import { language } from '../../src/language/contracts/language.ts'
import type { LanguageRules } from '../../src/language/contracts/machine/environment.ts'
import { Evaluator } from '../../src/language/contracts/machine/evaluate/evaluator.ts'
import { continuePact } from '../../src/language/contracts/machine/evaluate/pacts.ts'
import { LoadedModuleSet } from '../../src/language/contracts/machine/loaded-modules.ts'
import { newTransaction } from '../../src/language/contracts/machine/scopes.ts'
import type { Value } from '../../src/language/contracts/values/value.ts'
import { environment, evaluatorOn, freeGas, Layer, runOn } from './evaluator.ts'

/** Each program runs in a transaction of its own. */
const MODULES = [
  '(interface face (defconst ONE 1) (defschema row v:integer) (defun ask:integer ()))',
  `(module target G
    (defcap G () (enforce true ""))
    (implements face)
    (defschema own v:integer)
    (deftable rows:{own})
    (defun ask:integer () 1)
    (defun predicate:bool (count:integer matched:integer) true)
    (defun guard () (create-user-guard (ask)))
    (defun module-guard () (create-module-guard "g"))
    (defun read-row () (at "v" (read rows "k")))
    (defcap EVENT () @event true)
    (defun event () (with-capability (EVENT) 1))
    (defun emitted () (emit-event (EVENT)))
    (defpact steps () (step (yield {"a": 1} "1")) (step (ask)) (step (ask))))
  (create-table rows) (write rows "k" {"v": 1})`,
  `(module near G (defcap G () true)
    (defun calls () (target.ask))
    (defun reads () (target.read-row))
    (defun starts () (target.steps))
    (defun events () (target.event))
    (defun emits () (target.emitted))
    (defun asks:integer (m:module{face}) (m::ask)))`,
  `(module store G (defcap G () true)
    (defschema refs m:module{face}) (deftable held:{refs})
    (defschema guards g:guard) (deftable kept:{guards})
    (defun hold (m:module{face}) (write held "m" {"m": m}))
    (defun keep (name:string g:guard) (write kept name {"g": g}))
    (defun ask () (with-read held "m" {"m" := m:module{face}} (m::ask)))
    (defun enforces (name:string) (with-read kept name {"g" := g:guard} (enforce-guard g))))
  (create-table held) (create-table kept)
  (hold target)
  (keep "user" (target.guard)) (keep "module" (target.module-guard)) (keep "keyset" (read-keyset "keys"))`,
  '(module governed G (defcap G () (near.calls)) (defun f () 1))',
  '(module keyed "k" (defun f () 1))',
  '(define-namespace "ns" (read-keyset "none") (read-keyset "none")) (namespace "ns") (module inner G (defcap G () true))',
]

const keyset = (keys: readonly string[], pred: string) =>
  new Map<string, Value>([
    ['keys', keys],
    ['pred', pred],
  ])
const data = new Map<string, Value>([
  ['keys', keyset(['a'.repeat(64)], 'target.predicate')],
  ['none', keyset([], 'keys-all')],
])

function world(): Layer {
  const state = new Layer()
  runOn(evaluatorOn(state, freeGas(), { data }), '(define-keyset "k" (read-keyset "none"))')
  for (const each of MODULES) runOn(evaluatorOn(state, freeGas(), { data }), each)
  return state
}

const state = world()

/**
 * Look-ups of modules that are not loaded yet, in their order: the name, the milligas of reading it, and those of adding
 * its definitions.
 */
function lookups(run: (evaluator: Evaluator) => void, rules: Partial<LanguageRules> = {}): string {
  const found: string[] = []
  const original = LoadedModuleSet.prototype.noteLookup
  const spy = vi.spyOn(LoadedModuleSet.prototype, 'noteLookup').mockImplementation(function (
    this: LoadedModuleSet,
    module,
    by,
    payer,
  ) {
    const paid: number[] = []
    const charge = (milligas: number) => {
      paid.push(milligas)
      payer.charge(milligas)
    }
    original.call(this, module, by, { charge })
    if (paid.length > 0) found.push(`${module.name} ${paid.join(' + ')}`)
  })
  const gas = { used: 0, limit: 1e12 }
  const { block, message } = environment
  const transaction = newTransaction({ ...message, data }, new Layer(state), gas)
  const evaluator = new Evaluator(language, { ...block, rules: { ...block.rules, ...rules } }, transaction)
  try {
    run(evaluator)
  } finally {
    spy.mockRestore()
  }
  return found.join(', ')
}

const looked = (program: string, rules: Partial<LanguageRules> = {}) =>
  lookups((evaluator) => runOn(evaluator, program), rules)

/** Milligas beside the name: of reading the module, then of adding its definitions to those before. */
it.each<readonly [by: string, program: string, expected: string]>([
  ['a function by its name', '(target.ask)', 'target 14 + 0'],
  ['a module by its name, as a value', 'target', 'target 14 + 0'],
  ['a second module by its name', 'store (target.ask)', 'store 14 + 0, target 14 + 1080'],
  ['a use', '(use store) (use target)', 'store 14 + 0, target 14 + 1080'],
  ['an interface in a type', 'near (let ((f (lambda (m:module{face}) 1))) 1)', 'near 17 + 0, face 10 + 280'],
  [
    'a body of a lambda before its types',
    'near (let ((f (lambda (m:module{face}) (target.ask)))) 1)',
    'near 17 + 0, target 14 + 1680, face 10 + 380',
  ],
  ['a schema in a type', 'near (let ((a:object{target.own} {"v": 1})) 1)', 'near 17 + 0, target 14 + 1680'],
  ['describe-module', 'near (describe-module "target")', 'near 17 + 0, target 14 + 1680'],
  ['static-redeploy', 'near (static-redeploy "target")', 'near 17 + 0, target 14 + 1680'],
  ['a module of a namespace', 'near ns.inner', 'near 17 + 0, ns.inner 10'],
  ['a reference kept in a row', '(store.ask)', 'store 14 + 0, target 14'],
  ['a reference as an argument', '(near.asks target)', 'near 17 + 0, target 14 + 1680'],
  ['a user guard', '(store.enforces "user")', 'store 14 + 0, target 14'],
  ['a module guard', '(store.enforces "module")', 'store 14 + 0, target 14'],
  ['a predicate of a keyset', '(store.enforces "keyset")', 'store 14 + 0, target 14'],
  ['acquire-module-admin', 'near (acquire-module-admin target)', 'near 17 + 0, target 14 + 1680'],
  ['a table of another module', '(near.reads)', 'near 17 + 0, target 14'],
  ['a pact that another module starts', '(near.starts)', 'near 17 + 0, target 14'],
  ['code of a dependency', '(near.calls)', 'near 17 + 0'],
  ['an event of a dependency', '(near.events) (near.emits)', 'near 17 + 0'],
  [
    'a replaced module',
    '(module governed G (defcap G () true) (defun f () (target.ask)))',
    'governed 12, target 14 + 0',
  ],
  ['a module replaced by its keyset', '(module keyed "k" (defun f () (target.ask)))', 'keyed 10, target 14 + 0'],
  [
    'an import before an interface',
    '(module m G (defcap G () true) (implements face) (use store) (defun ask:integer () 1))',
    'store 14 + 0, face 10 + 180',
  ],
  [
    'names in the order of definitions',
    '(module m G (defcap G () true) (defun b () (near.calls)) (defun c (a:object{target.own}) (store.ask)))',
    'target 14 + 0, store 14 + 1080, near 17 + 2940',
  ],
])('a look-up costs what it costs on the network: %s', (_, program, expected) => {
  expect(looked(program)).toBe(expected)
})

it('a look-up costs what it costs on the network: a step of a pact, and a yield to another chain', () => {
  const started = lookups((evaluator) => runOn(evaluator, '(near.starts) (target.ask)'))
  expect(started).toBe('near 17 + 0, target 14')
  const layer = new Layer(state)
  runOn(evaluatorOn(layer, freeGas(), { hash: 'p' }), '(target.steps)')
  const continued = lookups((evaluator) => {
    evaluator.transaction.state = layer
    continuePact(evaluator, { id: 'p', step: 1, isRollback: false })
  })
  expect(continued).toBe('target 14')
})

it('a look-up costs what it costs on the network: the version that events name, where that is the current one', () => {
  expect(looked('(near.events) (near.emits)')).toBe('near 17 + 0')
  expect(looked('(near.events) (near.emits)', { areEventHashesCurrent: true })).toBe('near 17 + 0, target 14')
})

it('a pact runs the current version of its module, also for code that was loaded with an earlier one', () => {
  const layer = new Layer()
  const run = (text: string) => runOn(evaluatorOn(layer), text)
  const deploy = (result: number) => run(`(module p G (defcap G () true) (defpact go () (step ${result})))`)
  deploy(1)
  run('(module q G (defcap G () true) (defun start () (p.go)))')
  deploy(2)
  expect(run('(q.start)')).toBe(2n)
})

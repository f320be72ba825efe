/**
 * Natives whose declared work is flat, with the largest arguments that a command can make: their time must not depend on
 * them. Calls that fail at once are there too, as they cost the least.
 */
import { again, type HostileCase, listOf, long } from './case.ts'

const FIELDS = 60_000
const KEYS = 1000
const NAMESPACE = '(define-namespace "big" (read-keyset "k") (read-keyset "k"))'

/** Large values under short names: a list, a text, an object, numbers. */
const VALUES =
  '(l (make-list 400000 1)) (s (read-msg "s")) (o (read-msg "o")) (n (shift 1 499999)) (h (- n)) ' +
  '(t (time "2020-01-01T00:00:00Z")) (no (lambda (x) (enforce false ""))) (yes (lambda (x) true)) (deep (read-msg "deep"))'

const data = () =>
  JSON.stringify({
    s: long(700_000, '\u00e9'),
    o: Object.fromEntries(listOf(FIELDS, (i) => [`f${i}`, i])),
    deep: JSON.parse(`${long(240, '[')}${long(240, ']')}`),
  })

/** Native -> calls of it. */
export const FLAT_CALLS: Readonly<Record<string, readonly string[]>> = {
  not: ['(not true)'],
  'not?': ['(not? yes l)', '(not? yes n)', '(not? yes o)'],
  'and?': ['(and? yes yes l)', '(and? yes yes n)'],
  'or?': ['(or? yes yes l)', '(or? yes yes s)'],
  and: ['(try 0 (fold and false [true]))'],
  or: ['(try 0 (fold or false [true]))'],
  at: ['(at 399999 l)', '(at "f59999" o)', '(try 0 (at 400000 l))', '(try 0 (at "f" o))', '(try 0 (at s o))'],
  map: ['(map yes [1])', '(try 0 (map no l))', '(map identity [l o s n])'],
  filter: ['(filter yes [l o s n])', '(try 0 (filter no l))'],
  fold: ['(fold (lambda (a i) l) l [1])', '(try 0 (fold (lambda (a i) (enforce false "")) 0 l))'],
  zip: ['(zip (lambda (a b) a) [l o] [s n])', '(try 0 (zip (lambda (a b) (enforce false "")) l l))', '(zip + l [])'],
  compose: ['(compose identity identity l)', '(compose identity identity n)'],
  identity: ['(identity l)', '(identity n)', '(identity h)', '(identity s)', '(identity o)', '(identity deep)'],
  dec: ['(dec n)', '(dec h)'],
  'diff-time': ['(diff-time t t)'],
  'read-msg': ['(read-msg "s")', '(read-msg "o")', '(read-msg "deep")', '(read-msg)', '(try 0 (read-msg "none"))'],
  'tx-hash': ['(tx-hash)'],
  'pact-id': ['(pact-id)'],
  'chain-data': ['(chain-data)'],
  continue: ['(continue l)', '(continue o)', '(continue n)'],
  'create-module-guard': ['(create-module-guard s)'],
  'create-pact-guard': ['(create-pact-guard s)'],
  'create-table': ['(create-table m.tab)'],
  'describe-table': ['(describe-table m.tab)'],
  'describe-keyset': ['(describe-keyset "big")'],
  namespace: ['(namespace "big")'],
  'describe-namespace': ['(describe-namespace "big")'],
  'describe-module': ['(describe-module "m")'],
}

/** Where a native may be called: in a step of a pact, or at the top level. Others are called in a function. */
const IN_STEP = new Set(['pact-id', 'create-pact-guard'])
const AT_TOP = new Set([
  'create-table',
  'describe-table',
  'describe-keyset',
  'namespace',
  'describe-namespace',
  'describe-module',
])
/** Its second call fails, which ends the command. */
const ONCE = 'create-table'

function flatCase(name: string, call: string, index: number): HostileCase {
  const isAtTop = AT_TOP.has(name)
  const loop = name === ONCE ? `(acquire-module-admin m) ${call}` : again(isAtTop ? '' : VALUES, call)
  const body = IN_STEP.has(name) ? `(defpact go () (step ${loop}))` : `(defun go () ${isAtTop ? '1' : loop})`
  const before = [
    `(module m G (defcap G () true) (defschema s ${listOf(KEYS, (i) => `f${i}`).join(' ')}) (deftable tab:{s})
      (defun text () "${long(100_000)}") ${body})
    ${name === ONCE ? '' : '(create-table m.tab)'} (define-keyset "big" (read-keyset "k")) ${NAMESPACE}`,
  ]
  return { name: `flat ${name} ${index}`, as: 'local', data, before, code: isAtTop ? loop : '(m.go)' }
}

export const flatCases: readonly HostileCase[] = Object.entries(FLAT_CALLS).flatMap(([name, calls]) =>
  calls.map((call, index) => flatCase(name, call, index + 1)),
)

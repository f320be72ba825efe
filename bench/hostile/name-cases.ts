/** Commands with long names: keys, guards, module references, tokens, fields. */
import { again, dataOf, type HostileCase, listOf, long, moduleOf, onData } from './case.ts'

const LONG = 60_000
const moduleName = (name: string) => ({ namespace: null, name })
const reference = (name: string, interfaces: readonly string[] = []) => ({
  refName: moduleName(name),
  refSpec: interfaces.map(moduleName),
})
const key = (index: number) => index.toString(16).padStart(64, '0')
const keyset = (count: number) => ({ keys: listOf(count, key), pred: 'keys-all' })

/** Values whose names are long. */
const NAMED: Readonly<Record<string, unknown>> = {
  'module-ref-long': reference(long(LONG)),
  'module-ref-many': reference(
    'm',
    listOf(2000, (i) => `interface-with-a-long-name-${i}`),
  ),
  'keysetref-long': { keysetref: { ns: 'n', ksn: long(LONG) } },
  'module-guard-long': { moduleName: moduleName(long(LONG)), name: long(LONG) },
  'pact-guard-long': { pactId: long(LONG), name: long(LONG) },
  'guard-long-key': { keys: [long(LONG)], pred: 'keys-all' },
  'guard-long-predicate': { keys: [], pred: `a.${long(LONG)}` },
  'user-guard': { fun: `a.${long(LONG)}`, args: [] },
  'capability-guard': { cgName: `a.${long(LONG)}`, cgArgs: [], cgPactId: long(LONG) },
  'token-long': { '#ctName': `a.${long(LONG)}`, '#ctArgs': [] },
  'keyset-many': keyset(1500),
  'field-long': { [long(LONG)]: 1 },
}

/** Operations that walk a whole value. */
const WALKS: readonly (readonly [name: string, expression: string])[] = [
  ['hash', '(hash v)'],
  ['show', '(show v)'],
  ['equal', '(= v w)'],
  ['distinct', '(distinct [v w])'],
  ['sort', '(sort [v w])'],
  ['typeof', '(typeof v)'],
  ['list', '[v]'],
]

const walks: readonly HostileCase[] = Object.entries(NAMED).flatMap(([kind, value]) =>
  WALKS.map(
    ([walk, expression]): HostileCase => ({
      name: `${walk}-${kind}`,
      as: 'local',
      data: () => JSON.stringify({ v: value, w: value }),
      code: again('(v (read-msg "v")) (w (read-msg "w"))', expression),
    }),
  ),
)

const EVENTS = '(defcap E (v) @event true)'
const emitting = (count: number) => moduleOf('m', `${EVENTS} (defun go (v) ${again('', '(emit-event (E v))', count)})`)

export const nameCases: readonly HostileCase[] = [
  ...walks,
  {
    name: 'distinct-module-refs',
    data: () => JSON.stringify({ l: listOf(100, (i) => reference(`${long(1000)}${i}`)) }),
    as: 'local',
    code: again('(l (read-msg "l"))', '(distinct l)'),
  },
  {
    name: 'events-module-ref-long',
    before: [emitting(20)],
    data: dataOf('v', reference(long(8000))),
    code: '(m.go (read-msg "v"))',
  },
  {
    name: 'events-module-ref-longer',
    as: 'local',
    before: [emitting(20)],
    data: dataOf('v', reference(long(LONG))),
    code: '(m.go (read-msg "v"))',
  },
  {
    name: 'events-long-module-name',
    before: [moduleOf(long(8000, 'm'), `${EVENTS} (defun go () ${again('', '(emit-event (E 1))')})`)],
    code: `(${long(8000, 'm')}.go)`,
  },
  withLongKey('read-long-key', 'local', '(with-default-read t k {"a": 1} {"a" := x} x)'),
  withLongKey('write-long-key', 'block', '(write t (format "{}{}" [k i]) {"a": 1})'),
  listOfObjects('result-list-of-long-names', 50, (i) => `${long(300)}${i}`),
  listOfObjects('result-list-of-many-names', 200, (i) => `f${i}`),
  {
    name: 'with-long-name',
    before: [moduleOf(long(2000, 'm'), `(defun f () 1) (defun go () ${again('', '(f)')})`)],
    code: `(${long(2000, 'm')}.go)`,
  },
  {
    name: 'long-qualified-calls',
    before: [moduleOf(long(2000, 'm'), '(defun f () 1)')],
    code: listOf(90, () => `(${long(2000, 'm')}.f)`).join(' '),
    as: 'local',
  },
  {
    name: 'read-keyset-many',
    as: 'local',
    data: dataOf('k', { keys: listOf(20_000, key), pred: 'keys-all' }),
    code: again('', '(read-keyset "k")'),
  },
  {
    name: 'read-keyset-prefixes',
    as: 'local',
    data: dataOf('k', { keys: listOf(300, (i) => `${long(5000, '0')}${i}`), pred: 'keys-all' }),
    code: again('', '(read-keyset "k")'),
  },
  {
    name: 'equal-guards',
    as: 'local',
    data: () => JSON.stringify({ v: keyset(10_000), w: keyset(10_000) }),
    code: again('(v (read-msg "v")) (w (read-msg "w"))', '(= v w)'),
  },
  {
    name: 'enforce-keyset-many',
    as: 'local',
    data: dataOf('k', keyset(10_000)),
    code: again('(v (read-msg "k"))', '(try 1 (enforce-guard v))'),
  },
  {
    name: 'same-names-in-data',
    as: 'local',
    data: () => `{${listOf(40_000, () => `"${long(30)}":1`).join(',')}}`,
    code: '(read-msg)',
  },
  {
    name: 'names-that-hash-alike',
    as: 'local',
    data: () => JSON.stringify(Object.fromEntries(listOf(60_000, (i) => [`a${i}`.padEnd(12, 'b'), i]))),
    code: again('(o (read-msg))', '(contains "a1" o)'),
  },
  onData('principal-of-long-key', 'g', NAMED['guard-long-key'], '(create-principal g)'),
  onData('principal-of-long-module', 'g', NAMED['module-guard-long'], '(create-principal g)'),
  onData('is-principal-long', 'g', `k:${long(500_000, 'a')}`, '(is-principal g)'),
]

/** Uses a row under a long key `k` again and again. */
function withLongKey(name: string, as: 'local' | 'block', use: string): HostileCase {
  const go = `(defun go (k) (map (lambda (i) ${use}) (enumerate 1 100000)))`
  return {
    name,
    as,
    data: dataOf('k', long(60_000)),
    code: '(m.go (read-msg "k"))',
    before: [`${moduleOf('m', table(go))} (create-table m.t)`],
  }
}

/** A result with the same names of fields again and again. */
function listOfObjects(name: string, fields: number, field: (index: number) => string): HostileCase {
  const object = Object.fromEntries(listOf(fields, (i) => [field(i), 1]))
  return { name, as: 'local', data: dataOf('o', object), code: '(make-list 300 (read-msg "o"))' }
}

function table(more: string): string {
  return `(defschema s a:integer) (deftable t:{s}) ${more}`
}

/** How modules name schemas, what they refuse, and tables outside of the language: on the wire and in storage. */
import { describe, expect, it } from 'vitest'
import { decodeStoredValue, encodeStoredValue } from '../../src/language/contracts/values/keep.ts'
import { showValue } from '../../src/language/contracts/values/print.ts'
import { sizeOf } from '../../src/language/contracts/values/size.ts'
import { TextWriter } from '../../src/language/contracts/values/text-writer.ts'
import { type RowSchema, TableRef, type Type, type Value } from '../../src/language/contracts/values/value.ts'
import { valueToJson, writeValue } from '../../src/language/contracts/values/wire.ts'
import { evaluatorOn, Layer, outcome } from './evaluator.ts'

const LIB = `(module lib G (defcap G () true) (defschema point x:integer) (defun f () 1))
(interface face (defschema shape at:integer) (defun g ()))`

function ran(text: string) {
  return outcome(evaluatorOn(new Layer()), text)
}

/** The value of a text, printed. */
function printed(text: string): string {
  const result = ran(text)
  if ('error' in result) throw result.error
  return showValue(result.value as Value)
}

function errorOf(text: string) {
  const result = ran(text)
  if ('value' in result) throw new Error(`a value: ${showValue(result.value as Value)}`)
  return result.error
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]))
}

describe('the order of definitions', () => {
  const MEMBERS = [
    '(defschema a x:object{b})',
    '(defschema b y:string z:[object{c}])',
    '(defschema c n:integer)',
    '(deftable t:{a})',
    '(defun f:string (v:object{a}) (at "y" (at "x" v)))',
  ]

  it.each(permutations(MEMBERS).map((members) => members.join('\n')))(
    'the order of definitions has no effect: %s',
    (members) => {
      const load = `(module m G ${members} (defcap G () true))`
      expect(printed(`${load} (m.f {"x": {"y": "ok", "z": [{"n": 1}]}})`)).toBe('"ok"')
      const { message } = errorOf(`${load} (m.f {"x": {"y": "ok", "z": [{"n": "1"}]}})`)
      expect(message).toBe('Runtime typecheck failure, argument is object , but expected type object{m.a}')
    },
  )
})

describe('a cycle', () => {
  const CYCLE = 'Recursive cycle detected in module'
  it.each([
    ['a schema of itself', '(defschema a x:object{a})', 'a'],
    ['by its qualified name', '(defschema a x:object{m.a})', 'a'],
    ['in a list', '(defschema a x:[[object{a}]])', 'a'],
    ['in a table', '(defschema a x:table{a})', 'a'],
    ['two schemas', '(defschema a x:object{b}) (defschema b x:object{a})', 'a, b'],
    ['three', '(defschema a x:object{b}) (defschema b x:object{c}) (defschema c x:[object{a}])', 'a, b, c'],
    ['after a function', '(defun f (x:object{a}) 1) (defschema a x:object{b}) (defschema b x:object{b})', 'b'],
  ])('a cycle of schemas is refused: %s', (_, members, names) => {
    const { wireMessage: message } = errorOf(`(module m G (defcap G () true) ${members})`)
    expect(message).toBe(`${CYCLE} m in the following functions: ${names}`)
  })

  it('a cycle of schemas in an interface is refused', () => {
    const { wireMessage: message, place } = errorOf(
      '(interface i\n  (defschema a x:object{b})\n  (defschema b x:object{a}))',
    )
    expect(message).toBe(`${CYCLE} i in the following functions: a, b`)
    expect(place).toEqual({ line: 1, column: 2 })
  })

  it('a schema that a function takes twice is not a cycle', () => {
    const members =
      '(defschema d x:integer) (defschema a x:object{d} y:object{d}) (defun f (v:object{a} w:object{d}) 1)'
    expect(printed(`(module m G (defcap G () true) ${members}) (m.f {"x": {"x": 1}, "y": {"x": 2}} {"x": 1})`)).toBe(
      '1',
    )
  })
})

describe('a name of no schema', () => {
  const invalid = (name: string) => `Invalid def in defschema position: ${name} is not a valid schema`
  const unbound = (name: string) => `Unbound type variable ${name}`
  it.each([
    ['unknown', 'none', 'Cannot find module:  none (no variable, member, import or module has this name)'],
    ['a module', 'lib', unbound('lib')],
    ['a function', 'f', invalid('f')],
    ['a table', 't', invalid('t')],
    ['a function of another module', 'lib.f', invalid('f')],
    ['no member', 'lib.none', 'Module lib has no such member: none'],
    ['a member of no module', 'no.point', 'Module no has no such member: point'],
    ['a member of no interface', 'face.none', 'Module face has no such member: none'],
    ['a function of an interface', 'face.g', 'Module face has no such member: g'],
  ])('a name that is not a schema is refused everywhere, with its place: %s', (_, name, message) => {
    const own = '(defun f () 1) (defschema s x:integer) (deftable t:{s})'
    const heads = [
      [`(defschema a\n x:object{${name}})`, 1],
      [`(defschema a\n x:[table{${name}}])`, 1],
      [`(defun h (\n x:object{${name}}) 1)`, 1],
      [`(defun h () (let ((\n x:object{${name}} 1)) x))`, 1],
      [`(defun h () (map (lambda (\n x:object{${name}}) 1) []))`, 1],
      [`(defun h () (bind {"a": 1} {"a" :=\n x:object{${name}}} 1))`, 1],
    ] as const
    for (const [member] of heads) {
      const error = errorOf(`${LIB} (module m G (defcap G () true) ${own} ${member})`)
      expect(error.message, member).toBe(message)
      expect(error.place, member).toEqual({ line: 2, column: 1 })
    }
    for (const member of [
      `(deftable d:{${name}})`,
      `(defun h:object{${name}} () 1)`,
      `(defconst K:object{${name}} 1)`,
    ]) {
      const error = errorOf(`${LIB} (module m G (defcap G () true) ${own}\n  ${member})`)
      expect(error.message, member).toBe(message)
      expect(error.place, member).toEqual({ line: 2, column: 2 })
    }
  })

  it('a name that is not a schema has another text on the wire', () => {
    const { wireMessage } = errorOf('(module m G (defcap G () true) (defun f () 1) (defun g (x:object{f}) 1))')
    expect(wireMessage).toBe('definition in defschema position: f is not a valid schema.')
  })

  it('an unknown interface as a type is refused with its place', () => {
    const error = errorOf('(module m G (defcap G () true)\n (defun f (x:module{nope}) 1))')
    expect(error.wireMessage).toBe('Cannot find module:  nope')
    expect(error.place).toEqual({ line: 1, column: 11 })
  })
})

describe('an interface', () => {
  const FACE = '(interface i (defschema s a:integer) (defun f (x:object{s} g:guard)))'
  it.each([
    ['the schema in scope', '(defun f (x:object{s} g:guard) 1)', true],
    ['by its qualified name', '(defun f (x:object{i.s} g:guard) 1)', true],
    ['a keyset for a guard', '(defun f (x:object{s} g:keyset) 1)', true],
    ['any object', '(defun f (x:object g:guard) 1)', false],
    ['no type', '(defun f (x g:guard) 1)', false],
    ['a list', '(defun f (x:[object{s}] g:guard) 1)', false],
    ['a table', '(defun f (x:table{s} g:guard) 1)', false],
    ['an own schema of that name', '(defschema s a:integer) (defun f (x:object{s} g:guard) 1)', false],
  ])('an interface is implemented with %s: %s %s', (_, members, holds) => {
    const text = `${FACE} (module m G (defcap G () true) (implements i) ${members}) 1`
    const wrong = 'Module m does not correctly implement the function f from the interface: i'
    if (holds) expect(printed(text)).toBe('1')
    else expect(errorOf(text).wireMessage).toBe(wrong)
  })

  it('an interface gives no members to the module', () => {
    const faces = '(interface i (defconst K 1) (defschema s a:integer))'
    const load = (members: string) => `${faces} (module m G (implements i) (defcap G () true) ${members})`
    expect(printed(`${load('(defconst K 3)')} [m.K i.K]`)).toBe('[3, 1]')
    expect(errorOf(`${load('')} m.K`).message).toBe('Module m has no such member: K')
  })

  it('an interface names modules in any order', () => {
    const faces = '(interface a (defun x ())) (interface b (defun y ())) (interface i (defun f (m:module{a, b})))'
    expect(printed(`${faces} (module m G (defcap G () true) (implements i) (defun f (m:module{b, a}) 1)) 1`)).toBe('1')
  })
})

describe('a type of tables', () => {
  const pairs: [one: string, other: string, holds: boolean][] = [
    ['', '', true],
    [':guard', ':keyset', true],
    [':list', ':list', true],
    [':list', ':[integer]', false],
    [':[integer]', ':[integer]', true],
    [':[integer]', ':[decimal]', false],
    [':[integer]', ':integer', false],
    [':object', ':object', true],
    [':object', ':object{one}', false],
    [':object{one}', ':object', false],
    [':object{one}', ':object{two}', true],
    [':object{one}', ':table{one}', false],
    [':table{one}', ':table{two}', true],
    [':object{one}', ':object{three}', false],
    [':module{a, b}', ':module{b, a}', true],
    [':module{a, b}', ':module{a}', false],
    [':module{a, a}', ':module{a}', true],
    ['', ':integer', false],
    [':integer', ':decimal', false],
  ]
  it.each(pairs)('types of tables compare fields: x%s with x%s: %s', (one, other, holds) => {
    const text = `(interface a (defun x ())) (interface b (defun y ()))
      (module m G (defcap G () true) (defschema one p:integer) (defschema two p:integer) (defschema three q:integer)
      (defschema s x${one}) (defschema u x${other}) (deftable t:{s}) (defun f (v:table{u}) 1)) (m.f m.t)`
    if (holds) expect(printed(text)).toBe('1')
    else
      expect(errorOf(text).wireMessage).toBe(
        'Type check failed. The argument is  table but the expected type is  table',
      )
  })

  it('comparing types of tables costs gas for each field', () => {
    const used = (fields: number, type: string) => {
      const names = (schema: string) =>
        `(defschema ${schema} ${Array.from({ length: fields }, (_, i) => `f${i}`).join(' ')})`
      const gas = { used: 0, limit: Number.POSITIVE_INFINITY }
      const evaluator = evaluatorOn(new Layer(), gas)
      const load = `(module m G (defcap G () true) ${names('s')} ${names('u')} (deftable t:{s}) (defun f (v${type}) 1))`
      expect(outcome(evaluator, load)).toHaveProperty('value')
      const before = gas.used
      expect(outcome(evaluator, '(m.f m.t)')).toHaveProperty('value')
      return gas.used - before
    }
    expect(used(1, ':table{u}') - used(1, '')).toBe(25)
    expect(used(20, ':table{u}') - used(20, '')).toBe(500)
  })

  it('comparing types of tables stops at the gas limit where nested schemas have very many fields', () => {
    const tower = (name: string) =>
      Array.from({ length: 60 }, (_, i) => `(defschema ${name}${i + 1} a:object{${name}${i}} b:object{${name}${i}})`)
    const schemas = [...tower('s'), ...tower('u'), '(defschema s0 x)', '(defschema u0 x)'].join(' ')
    const evaluator = evaluatorOn(new Layer(), { used: 0, limit: 150_000_000 })
    const text = `(module m G (defcap G () true) ${schemas} (deftable t:{s60}) (defun f (v:table{u60}) 1)) (m.f m.t)`
    expect(outcome(evaluator, text)).toMatchObject({ error: { message: expect.stringContaining('Gas limit') } })
  })
})

const INNER: RowSchema = { name: 's', qualified: 'ns.m.s', fields: new Map([['a', { type: 'integer' }]]) }
const OUTER: RowSchema = {
  name: 'outer',
  qualified: 'm.outer',
  fields: new Map<string, Type | null>([
    ['a', { type: 'integer' }],
    ['b', { type: 'keyset' }],
    ['c', { type: 'any' }],
    ['d', { type: 'list', item: null }],
    ['e', { type: 'list', item: { type: 'string' } }],
    ['f', { type: 'object', schema: null }],
    ['g', { type: 'object', schema: INNER }],
    ['h', { type: 'table', schema: INNER }],
    ['i', { type: 'module', interfaces: ['ns.other', 'face', 'face'] }],
    ['j', null],
  ]),
}

describe('a table as a value', () => {
  const MODULE =
    '(module m G (defcap G () true) (defschema s a:integer) (deftable t:{s}) (defschema any x) (deftable none:{any}))'
  it('a table as a value has a text on the wire', () => {
    const result = ran(`${MODULE} [m.t m.none]`)
    const [{ hash }] = (result as { value: TableRef[] }).value
    expect(valueToJson((result as { value: Value }).value)).toBe(
      `[{":tableName":"m:t",":moduleHash":"${hash}",":schema":{"sc_name":"m.s","sc_fields":{"a":"integer"}}},` +
        `{":tableName":"m:none",":moduleHash":"${hash}",":schema":{"sc_name":"m.any","sc_fields":{"x":"*"}}}]`,
    )
    expect(hash).toHaveLength(43)
  })

  it('a table as a value names its namespace', () => {
    const table = new TableRef('ns.m', 't', { hash: 'h' }, INNER)
    expect(showValue([table])).toBe('[ns.m_t]')
    expect(valueToJson(table)).toBe(
      '{":tableName":"ns.m:t",":moduleHash":"h",":schema":{"sc_name":"ns.m.s","sc_fields":{"a":"integer"}}}',
    )
    expect(sizeOf(table)).toEqual({ weight: 23, depth: 0 })
  })

  it('a table as a value is stored with its names, the hash of its module and all schemas', () => {
    const tables = [null, INNER, OUTER].map((schema) => new TableRef('ns.m', 't', { hash: 'h' }, schema))
    expect(decodeStoredValue(JSON.parse(JSON.stringify(encodeStoredValue(tables))))).toEqual(tables)
  })

  it('a stored table is small, even if the fields of its schemas share schemas many times', () => {
    let schema: RowSchema = INNER
    for (let level = 0; level < 60; level++) {
      const type = { type: 'object', schema } as const
      const fields = new Map([...'ab'].map((field) => [field, type]))
      schema = { name: `s${level}`, qualified: `m.s${level}`, fields }
    }
    const kept = JSON.stringify(encodeStoredValue(new TableRef('m', 't', { hash: 'h' }, schema)))
    expect(kept.length).toBeLessThan(10_000)
    const limited = new TextWriter(100_000)
    expect(() => writeValue(limited, decodeStoredValue(JSON.parse(kept)))).toThrow('Result too large')
  })

  it('a stored table has every kind of type as the network writes it', () => {
    const expected = { a: 'integer', b: 'guard', c: '*', d: 'list', e: { tylist: 'string' }, f: 'object' }
    const parts = {
      g: { tyobject: { sc_name: 'ns.m.s', sc_fields: { a: 'integer' } } },
      h: { tytable: { sc_name: 'ns.m.s', sc_fields: { a: 'integer' } } },
      i: {
        tymodref: [
          { namespace: null, name: 'face' },
          { namespace: 'ns', name: 'other' },
        ],
      },
      j: '*',
    }
    const json = JSON.parse(valueToJson(new TableRef('m', 't', { hash: 'h' }, OUTER)))
    expect(json[':schema']).toEqual({ sc_name: 'm.outer', sc_fields: { ...expected, ...parts } })
  })

  it('a table as a value equals only the same table of the same version', async () => {
    const { equalValues } = await import('../../src/language/contracts/values/compare.ts')
    const table = (name: string, hash: string) => new TableRef('m', name, { hash }, null)
    expect(equalValues(table('t', 'h'), table('t', 'h'))).toBe(true)
    expect(equalValues(table('t', 'h'), table('u', 'h'))).toBe(false)
    expect(equalValues(table('t', 'h'), table('t', 'i'))).toBe(false)
    expect(equalValues(table('t', 'h'), [])).toBe(false)
  })

  it('a table as a value can stand in an event', () => {
    const evaluator = evaluatorOn(new Layer())
    const members = '(defcap C (x:table{s}) @event true) (defun fire (x) (emit-event (C x)))'
    expect(outcome(evaluator, `${MODULE.slice(0, -1)} ${members}) (m.fire m.t)`)).toEqual({ value: true })
    expect(showValue(evaluator.transaction.events[0].params)).toBe('[m_t]')
  })
})

/** Parts of modules: tables, capabilities, guards, module references, pacts. */
import { type Expr, make, type Param, type Step, type Type } from '../program/tree.ts'
import { EMPTY, type Expressions, type Fun, freshName, type Sort } from './expressions.ts'
import type { Draft } from './module.ts'

const { v, int, dec, str, bool, list, obj, lam, call, binding, p } = make

const KEYS = ['alice', 'bob']
const INTEGER: Type = { t: 'integer' }
const STRING: Type = { t: 'string' }
const GUARD: Type = { t: 'guard' }

export const keyOf = (x: Expressions): Expr => str(x.dice.pick(KEYS))
const ints = (x: Expressions): Expr => list(Array.from({ length: x.dice.below(4) }, (_, i) => int(i)))

function row(x: Expressions): Expr {
  return obj(
    x.dice.shuffle([
      ['n', x.of('int', EMPTY, 1)] as const,
      ['tags', ints(x)] as const,
      ['note', x.literal('str')] as const,
    ]),
  )
}

/** Functions that write and read rows, with fields of several types. */
export function addTables(draft: Draft): void {
  const { dice, defs } = draft
  const fields: [string, Type | null][] = [
    ['n', INTEGER],
    ['tags', { t: 'list-of', of: INTEGER }],
    ['note', dice.chance(0.3) ? null : STRING],
  ]
  defs.push({ d: 'defschema', name: 'row', fields }, { d: 'deftable', name: 'rows', schema: 'row' })
  draft.tables.push('rows')
  const key = (): Param => p('k', STRING)
  draft.defun('put', [key(), p('o', { t: 'object-of', schema: 'row' })], [call('write', v('rows'), v('k'), v('o'))])
  draft.defun('add', [key(), p('o')], [call('insert', v('rows'), v('k'), v('o'))])
  draft.defun('change', [key(), p('n')], [call('update', v('rows'), v('k'), obj([['n', v('n')]]))])
  draft.defun('get', [key()], [call('read', v('rows'), v('k'))])
  draft.defun('get-some', [key()], [call('read', v('rows'), v('k'), list([str('n'), str('note')]))])
  const sum = call('+', v('n1'), call('length', v('t1')))
  const bound = (): (readonly [string, Param])[] => [
    ['n', p('n1', INTEGER)],
    ['tags', p('t1')],
  ]
  draft.defun('with', [key()], [call('with-read', v('rows'), v('k'), binding(bound(), [sum]))])
  const otherwise = obj([
    ['n', int(0)],
    ['tags', list([])],
  ])
  const total = call('+', v('n1'), call('length', v('t1')))
  draft.defun(
    'with-default',
    [key()],
    [call('with-default-read', v('rows'), v('k'), otherwise, binding(bound(), [total]))],
  )
  draft.defun(
    'peek',
    [p('t', { t: 'table-of', schema: 'row' }), p('k')],
    [call('at', str('n'), call('read', v('t'), v('k')))],
  )
  draft.defun('peek-rows', [p('k')], [call('peek', v('rows'), v('k'))])
  draft.defun('count', [], [call('length', call('keys', v('rows')))])
  draft.defun('chosen', [p('n')], [call('select', v('rows'), call('where', str('n'), call('<', v('n'))))])
  draft.defun(
    'fields',
    [p('n')],
    [call('select', v('rows'), list([str('note')]), call('where', str('n'), call('!=', v('n'))))],
  )
  draft.defun(
    'folded',
    [],
    [
      call(
        'fold-db',
        v('rows'),
        lam([p('k'), p('o')], [bool(true)]),
        lam([p('k'), p('o')], [call('at', str('n'), v('o'))]),
      ),
    ],
  )
  // Code of other modules calls these, and so reads the tables of a module that it has not looked up.
  draft.funs.push({ name: 'with-default', params: ['str'], result: 'int' })
  const name = (member: string): string => draft.outside(member)
  draft.keep(
    'write',
    (x) => call(name('put'), keyOf(x), row(x)),
    (x) => call(name('peek-rows'), keyOf(x)),
  )
  draft.keep(
    'write',
    (x) => call(name('put'), keyOf(x), row(x)),
    (x) => call(name('get'), keyOf(x)),
  )
  draft.action('insert', (x) => call(name('add'), keyOf(x), row(x)), true)
  draft.action('update', (x) => call(name('change'), keyOf(x), x.literal('int')), true)
  draft.action('read', (x) => call(name('get'), keyOf(x)))
  draft.action('read some', (x) => call('try', str('none'), call(name('get-some'), keyOf(x))))
  draft.action('with-read', (x) => call('try', int(0), call(name('with'), keyOf(x))))
  draft.action('with-default-read', (x) => call(name('with-default'), keyOf(x)))
  draft.action('keys', () => call(name('count')))
  draft.action('select', (x) => call(name('chosen'), x.literal('int')))
  draft.action('select fields', (x) => call(name('fields'), x.literal('int')))
  draft.action('fold-db', () => call(name('folded')))
  draft.action('read at the top level', (x) => call('read', v(name('rows')), keyOf(x)))
  draft.action('describe-table', () => call('at', str('name'), call('describe-table', v(name('rows')))))
}

export function addCapabilities(draft: Draft): void {
  const { dice, defs, x } = draft
  const signature = { result: null, params: [p('n', INTEGER)] }
  const test = (): Expr => call('enforce', call('>', v('n'), int(-1_000_000)), str('too small'))
  defs.push(
    { d: 'defcap', name: 'PLAIN', ...signature, meta: null, body: [test()] },
    {
      d: 'defcap',
      name: 'EVENT',
      result: null,
      params: [p('n', INTEGER), p('s')],
      meta: { meta: 'event' },
      body: [bool(true)],
    },
    {
      d: 'defcap',
      name: 'LIMIT',
      result: null,
      params: [p('who', STRING), p('amount', { t: 'decimal' })],
      meta: { meta: 'managed-by', param: 'amount', manager: 'spend' },
      body: [call('enforce', call('>', v('amount'), dec('0.0')), str('positive'))],
    },
    { d: 'defcap', name: 'ONCE', result: null, params: [p('n')], meta: { meta: 'managed' }, body: [bool(true)] },
    {
      d: 'defcap',
      name: 'BOTH',
      result: null,
      params: [p('n', INTEGER)],
      meta: null,
      body: [
        call('compose-capability', call('PLAIN', v('n'))),
        call('compose-capability', call('EVENT', v('n'), str('both'))),
      ],
    },
  )
  const decimal: Type = { t: 'decimal' }
  draft.defun(
    'spend',
    [p('left', decimal), p('asked', decimal)],
    [call('enforce', call('<=', v('asked'), v('left')), str('over')), call('-', v('left'), v('asked'))],
    decimal,
  )
  const inner: Expr = x.of('int', draft.scope({ vars: [{ name: 'n', sort: 'int' }] }), 2)
  draft.defun(
    'plain',
    [p('n', INTEGER)],
    [call('with-capability', call('PLAIN', v('n')), call('require-capability', call('PLAIN', v('n'))), inner)],
  )
  draft.defun(
    'event',
    [p('n')],
    [call('with-capability', call('EVENT', v('n'), str('e')), call('emit-event', call('EVENT', v('n'), str('more'))))],
  )
  draft.defun(
    'both',
    [p('n', INTEGER)],
    [
      call(
        'with-capability',
        call('BOTH', v('n')),
        call('require-capability', call('PLAIN', v('n'))),
        call('needs', v('n')),
      ),
    ],
  )
  draft.defun('needs', [p('n')], [call('require-capability', call('EVENT', v('n'), str('both')))])
  draft.defun(
    'limited',
    [p('who', STRING), p('amount', decimal)],
    [call('with-capability', call('LIMIT', v('who'), v('amount')), v('amount'))],
  )
  draft.defun(
    'limited-twice',
    [p('who', STRING), p('amount', decimal)],
    [
      call('install-capability', call('LIMIT', v('who'), call('*', v('amount'), dec('2.5')))),
      call('limited', v('who'), v('amount')),
      call('try', dec('0.0'), call('limited', v('who'), v('amount'))),
    ],
  )
  draft.defun(
    'once',
    [p('n')],
    [call('install-capability', call('ONCE', v('n'))), call('with-capability', call('ONCE', v('n')), int(1))],
  )
  draft.funs.push({ name: 'plain', params: ['int'], result: 'int' })
  draft.capabilities.push({ name: draft.outside('LIMIT'), amount: BigInt(dice.between(1, 100)) })
  const name = (member: string): string => draft.outside(member)
  draft.action('capability', (at) => call(name('plain'), at.literal('int')))
  draft.action('event', (at) => call(name('event'), at.literal('int')))
  draft.action('composed', (at) => call(name('both'), at.literal('int')))
  draft.action('not granted', (at) => call('try', bool(false), call(name('needs'), at.literal('int'))))
  draft.action('managed', (at) => call(name('limited'), str('alice'), dec(`${at.dice.below(30)}.5`)))
  draft.action('installed', (at) => call(name('limited-twice'), keyOf(at), dec(`${at.dice.below(30)}.25`)))
  draft.action('once', (at) => call(name('once'), at.literal('int')))
  draft.action('token', (at) => call(name('PLAIN'), at.literal('int')))
}

/** Guards of every kind, enforced at once or kept in a row. */
export function addGuards(draft: Draft): void {
  const { defs, dice } = draft
  defs.push(
    { d: 'defschema', name: 'owned', fields: [['owner', dice.chance(0.8) ? GUARD : null]] },
    { d: 'deftable', name: 'owners', schema: 'owned' },
    { d: 'defcap', name: 'OWN', result: null, params: [p('n')], meta: null, body: [bool(true)] },
  )
  draft.tables.push('owners')
  const test = call('enforce', call('>', v('n'), int(0)), str('user guard'))
  draft.defun('is-positive', [p('n'), p('s')], [test])
  draft.defun(
    'half',
    [p('count', INTEGER), p('matched', INTEGER)],
    [call('>=', call('*', v('matched'), int(2)), v('count'))],
    {
      t: 'bool',
    },
  )
  draft.defun('user', [p('n')], [call('create-user-guard', call('is-positive', v('n'), str('s')))])
  draft.defun('held', [p('n')], [call('create-capability-guard', call('OWN', v('n')))])
  draft.defun('of-module', [p('s')], [call('create-module-guard', v('s'))])
  draft.defun(
    'enforce-held',
    [p('n')],
    [call('with-capability', call('OWN', v('n')), call('enforce-guard', call('held', v('n'))))],
  )
  draft.defun('keep', [p('k'), p('g', GUARD)], [call('write', v('owners'), v('k'), obj([['owner', v('g')]]))])
  draft.defun('owner-of', [p('k')], [call('at', str('owner'), call('read', v('owners'), v('k')))])
  draft.defun(
    'enforce-kept',
    [p('k')],
    [call('with-read', v('owners'), v('k'), binding([['owner', p('g', GUARD)]], [call('enforce-guard', v('g'))]))],
  )
  draft.defun(
    'enforce-one-of',
    [p('k')],
    [
      call(
        'enforce-one',
        str('nobody'),
        list([
          call('enforce-guard', call('at', str('owner'), call('read', v('owners'), v('k')))),
          call('enforce-guard', call('user', int(1))),
        ]),
      ),
    ],
  )
  const name = (member: string): string => draft.outside(member)
  draft.guards.push(
    (x) => call(name('user'), int(x.dice.between(-1, 5))),
    (x) => call(name('held'), int(x.dice.below(3))),
    () => call(name('of-module'), str('m')),
  )
  const guardOf = (x: Expressions): Expr => {
    const made = [...draft.guards, ...draft.others.flatMap(({ guards }) => guards)]
    const makers = [
      ...made.map((each) => () => each(x)),
      ...draft.others.flatMap(({ guards }) => guards).map((each) => () => each(x)),
      () => call('read-keyset', str(x.dice.pick(['ks', 'any', 'list', 'two']))),
      () => call('keyset-ref-guard', str('admin')),
    ]
    return x.dice.pick(makers)()
  }
  draft.action('enforce guard', (x) => call('enforce-guard', guardOf(x)))
  draft.action('try guard', (x) => call('try', bool(false), call('enforce-guard', guardOf(x))))
  draft.action('capability guard', (x) => call(name('enforce-held'), int(x.dice.below(3))))
  const kept = (x: Expressions): Expr => call(name('keep'), keyOf(x), guardOf(x))
  draft.keep('keep guard', kept, (x) => call(name('enforce-kept'), keyOf(x)))
  draft.keep('keep guard', kept, (x) => call('enforce-guard', call(name('owner-of'), keyOf(x))))
  draft.action('one of', (x) => call('try', bool(false), call(name('enforce-one-of'), keyOf(x))))
  draft.action('principal', (x) => call('length', call('create-principal', guardOf(x))))
  draft.action('validate principal', (x) => call('validate-principal', guardOf(x), x.literal('str')))
  draft.action('same guards', (x) => call('=', guardOf(x), guardOf(x)))
  draft.action('predicate', () => call('try', bool(false), call('enforce-guard', call('read-keyset', str('custom')))))
}

/** References to modules as arguments, and kept in rows. */
export function addReferences(draft: Draft): void {
  const { defs, others, faces, dice } = draft
  const targets = others.filter((each) => each.faces.length > 0)
  const face = targets[0]?.faces[0] ?? faces[0]
  if (face === undefined) return
  const type: Type = { t: 'module-of', interfaces: [face.name] }
  const fun: Fun = dice.pick(face.funs)
  const args = (x: Expressions): Expr[] => fun.params.map((sort: Sort) => x.literal(sort))
  defs.push(
    { d: 'defschema', name: 'link', fields: [['target', type]] },
    { d: 'deftable', name: 'links', schema: 'link' },
  )
  draft.tables.push('links')
  draft.defun('through', [p('m', type)], [call(`m::${fun.name}`, ...args(draft.x))])
  draft.defun('link-to', [p('k'), p('m', type)], [call('write', v('links'), v('k'), obj([['target', v('m')]]))])
  draft.defun('linked', [p('k')], [call('at', str('target'), call('read', v('links'), v('k')))])
  draft.defun(
    'follow',
    [p('k')],
    [
      call(
        'with-read',
        v('links'),
        v('k'),
        binding([['target', p('m', dice.chance(0.5) ? type : null)]], [call(`m::${fun.name}`, ...args(draft.x))]),
      ),
    ],
  )
  const name = (member: string): string => draft.outside(member)
  const all = [
    ...targets.filter((each) => each.faces.includes(face)).map((each) => each.name),
    ...(faces.includes(face) ? [draft.name] : []),
  ]
  draft.action('through', (x) => call(name('through'), v(x.dice.pick(all))))
  const kept = (x: Expressions): Expr => call(name('link-to'), keyOf(x), v(x.dice.pick(all)))
  draft.keep('keep reference', kept, (x) => call(name('follow'), keyOf(x)))
  draft.keep('keep reference', kept, (x) => call('acquire-module-admin', call(name('linked'), keyOf(x))))
  draft.action('same references', (x) => call('=', v(x.dice.pick(all)), v(x.dice.pick(all))))
}

/** Pacts with yields and rollbacks; one may run another of the same module in each of its steps. */
export function addPacts(draft: Draft): void {
  const { dice, x, defs } = draft
  const count = dice.between(2, 3)
  const rollbacks = Array.from({ length: count }, (_, i) => i < count - 1 && dice.chance(0.4))
  const scope = (): ReturnType<Draft['scope']> =>
    draft.scope({
      vars: [
        { name: 'n', sort: 'int' },
        { name: 's', sort: 'str' },
      ],
    })
  const body = (i: number): Expr => {
    const work = x.of('int', scope(), 2)
    const carry = (): Expr => call('yield', obj([['got', work]]))
    if (i === 0) return dice.chance(0.7) ? carry() : call('do', call('pact-id'), carry())
    const resumed = freshName()
    const after = i < count - 1 ? call('yield', obj([['got', call('+', v(resumed), int(1))]])) : v(resumed)
    return call('resume', binding([['got', p(resumed, INTEGER)]], [after]))
  }
  const steps: Step[] = rollbacks.map((hasRollback, i) => ({
    run: body(i),
    rollback: hasRollback ? x.of('str', scope(), 1) : null,
  }))
  const params = (): Param[] => [p('n', INTEGER), p('s', dice.chance(0.5) ? STRING : null)]
  defs.push({ d: 'defpact', name: 'steps', result: null, params: params(), steps })
  const start = (at: Expressions): Expr => call(draft.outside('steps'), at.literal('int'), at.literal('str'))
  draft.pacts.push({ start, steps: rollbacks })
  if (dice.chance(0.5)) {
    const outer: Step[] = rollbacks.map((hasRollback) => ({
      run: call('steps', v('n'), str('nested')),
      rollback: hasRollback ? call('steps', v('n'), str('nested')) : null,
    }))
    defs.push({ d: 'defpact', name: 'outer', result: null, params: [p('n', INTEGER)], steps: outer })
    draft.pacts.push({ start: (at) => call(draft.outside('outer'), at.literal('int')), steps: rollbacks })
  }
  if (dice.chance(0.5)) addGuardsOfPacts(draft)
}

function addGuardsOfPacts(draft: Draft): void {
  const { defs } = draft
  defs.push({ d: 'defcap', name: 'STEP', result: null, params: [], meta: null, body: [bool(true)] })
  const enforced = (g: Expr): Expr => call('enforce-guard', g)
  defs.push({
    d: 'defpact',
    name: 'guarded',
    result: null,
    params: [],
    steps: [
      { run: call('do', enforced(call('create-pact-guard', str('g'))), call('pact-id')), rollback: null },
      {
        run: call('with-capability', call('STEP'), enforced(call('create-capability-pact-guard', call('STEP')))),
        rollback: null,
      },
    ],
  })
  draft.pacts.push({ start: () => call(draft.outside('guarded')), steps: [false, false] })
}

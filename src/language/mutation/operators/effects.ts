/** Operators that change writes, calls, pacts and arguments. */
import { typeFormSource } from '../../contracts/machine/types.ts'
import { vocabulary } from '../../contracts/repl/vocabulary.ts'
import type { CallForm, Form, TypeForm } from '../../contracts/syntax/form.ts'
import {
  callAround,
  callTo,
  type Edit,
  type Fault,
  fieldNameOf,
  headNameOf,
  type Operator,
  replaceForm,
  replaceHead,
  type Site,
  WRITES,
} from '../fault.ts'
import { calleeOf, rowFields } from '../module-facts.ts'
import { typeOf } from '../types.ts'

const DEFAULT_READS: ReadonlySet<string> = new Set(['with-default-read'])
const ROLLBACKS: ReadonlySet<string> = new Set(['step-with-rollback'])
const YIELDS: ReadonlySet<string> = new Set(['yield'])
const KEYED: ReadonlySet<string> = new Set([...WRITES, 'read', 'with-read', 'with-default-read'])

/** Other functions that write, with what they mean. */
const OTHER_WRITES: ReadonlyMap<string, readonly (readonly [head: string, what: string])[]> = new Map([
  ['insert', [['write', 'a row that exists is replaced']]],
  ['update', [['write', 'a row that is missing is created']]],
  [
    'write',
    [
      ['insert', 'a row that exists is refused'],
      ['update', 'a row that is missing is refused'],
    ],
  ],
])

/** Whether a call runs a function of a module. */
function isUserCall(call: CallForm): boolean {
  const [head] = call.items
  if (head?.form !== 'atom') return false
  if (head.member !== null || head.name.includes('.')) return true
  return !vocabulary.has(head.name)
}

function removeCallAt({ form, isDropped }: Site): Fault[] {
  if (form.form !== 'call' || !isDropped || !isUserCall(form)) return []
  const [head] = form.items
  const name = head.form === 'atom' ? (head.member ?? head.name) : ''
  return [{ edits: [replaceForm(form, 'true')], what: `${name} is not called` }]
}

function removeDefault(call: CallForm): Fault[] {
  const defaults = call.items[3]
  if (defaults === undefined) return []
  const edits: Edit[] = [replaceHead(call, 'with-read'), { from: defaults.from, to: defaults.to, text: '' }]
  return [{ edits, what: 'a row that is missing has no default' }]
}

function removeRollback(call: CallForm): Fault[] {
  const [, forward, rollback] = call.items
  if (rollback === undefined) return []
  const edits = [replaceHead(call, 'step'), { from: forward.to, to: rollback.to, text: '' }]
  return [{ edits, what: 'the step has no rollback' }]
}

/** A field of an object that a step yields, with another value of its type. */
function changeField(site: Site, name: string): Fault[] {
  const { form, types, module } = site
  const source = module.text.slice(form.from, form.to)
  const other = otherValue(typeOf(form, types, module), source)
  return other === null || other === source
    ? []
    : [{ edits: [replaceForm(form, other)], what: `the next step gets another ${name}: ${other}` }]
}

function otherValue(type: TypeForm | null, source: string): string | null {
  switch (type?.type) {
    case 'integer':
      return `(+ 1 ${source})`
    case 'decimal':
      return `(+ 1.0 ${source})`
    case 'string':
      return '""'
    case 'bool':
      return `(not ${source})`
    default:
      return null
  }
}

/** Whether an object is yielded: written in `yield`, or a variable of `let` that its block yields. */
function isYielded({ form, parent, ...site }: Site): boolean {
  if (form.form !== 'object' || parent === null) return false
  if (headNameOf(callAround({ form, parent, ...site }) ?? undefined) === 'yield') return true
  const [, binders, ...body] = parent.form.form === 'call' ? parent.form.items : []
  const binder =
    binders?.form === 'call' ? binders.items.find((each) => each.form === 'call' && each.items[1] === form) : null
  const variable = binder?.form === 'call' ? binder.items[0] : undefined
  return variable?.form === 'atom' && body.some((each) => yields(each, variable.name))
}

function yields(form: Form, name: string): boolean {
  if (form.form !== 'call') return false
  const [, value] = form.items
  if (headNameOf(form) === 'yield' && value?.form === 'atom' && value.name === name) return true
  return form.items.some((item) => yields(item, name))
}

/** Pairs of operands that a caller may confuse: they have the same type. */
function swapArguments({ form, module }: Site): Fault[] {
  const signature = form.form === 'call' ? calleeOf(form.items[0], module) : null
  if (form.form !== 'call' || signature === null) return []
  const args = form.items.slice(1)
  const last = new Map<string, number>()
  return args.flatMap((arg, i) => {
    const type = signature.params[i]?.type
    if (type === null || type === undefined) return []
    const key = typeFormSource(type)
    const before = last.get(key)
    last.set(key, i)
    if (before === undefined) return []
    const [one, other] = [args[before], arg].map(({ from, to }) => module.text.slice(from, to))
    if (one === other) return []
    const what = `${signature.params[before].name} and ${signature.params[i].name} are exchanged`
    return [{ edits: [replaceForm(args[before], other), replaceForm(arg, one)], what }]
  })
}

/** Types that name an account or a guard. */
const PARTIES: ReadonlySet<string> = new Set(['string', 'guard', 'keyset'])

/** Another parameter of the same type, in the place of one that names an account or its guard. */
function wrongAccount(site: Site): Fault[] {
  const { form, member, module } = site
  if (form.form !== 'atom') return []
  const at = member.params.findIndex(({ name }) => name === form.name)
  const type = member.params[at]?.type?.type ?? ''
  // A variable of the same name hides the parameter.
  if (!PARTIES.has(type) || site.types.get(form.name) !== member.params[at].type) return []
  const others = [...member.params.slice(at + 1), ...member.params.slice(0, at)]
  const other = others.find((param) => param.type?.type === type)
  if (other === undefined || !isParty(site, module)) return []
  return [{ edits: [replaceForm(form, other.name)], what: `${other.name} stands for ${form.name}` }]
}

function isParty(site: Site, module: Site['module']): boolean {
  const call = callAround(site)
  if (call === null) return fieldNameOf(site) !== null
  if (headNameOf(call) !== null && KEYED.has(headNameOf(call) ?? ''))
    return site.index === 2 && rowFields(call.items[1], module).size > 0
  return calleeOf(call.items[0], module) !== null
}

export const effects: readonly Operator[] = [
  {
    name: 'exchange-write',
    change: '`insert` and `update` become `write`, `write` becomes `insert` or `update`',
    atSite: (site) => {
      const call = callTo(site, WRITES)
      if (call === null) return []
      const others = OTHER_WRITES.get(headNameOf(call) ?? '') ?? []
      return others.map(([head, what]) => ({ edits: [replaceHead(call, head)], what }))
    },
  },
  {
    name: 'remove-write',
    change: '`insert`, `update` and `write` write nothing',
    atSite: (site) => {
      const call = callTo(site, WRITES)
      return call === null ? [] : [{ edits: [replaceForm(call, '""')], what: 'the row is not written' }]
    },
  },
  {
    name: 'remove-default',
    change: '`with-default-read` has no default',
    atSite: (site) => {
      const call = callTo(site, DEFAULT_READS)
      return call === null ? [] : removeDefault(call)
    },
  },
  { name: 'remove-call', change: 'a call whose value is not used is gone', atSite: removeCallAt },
  { name: 'swap-arguments', change: 'two arguments of the same type are exchanged', atSite: swapArguments },
  {
    name: 'wrong-account',
    change: 'a parameter that names an account or its guard becomes another one of its type',
    atSite: wrongAccount,
  },
  {
    name: 'remove-rollback',
    change: '`step-with-rollback` has no rollback',
    atSite: (site) => {
      const call = callTo(site, ROLLBACKS)
      return call === null ? [] : removeRollback(call)
    },
  },
  {
    name: 'yield-field',
    change: 'a field that a step yields has another value',
    atSite: (site) => {
      const name = site.parent !== null && isYielded(site.parent) ? fieldNameOf(site) : null
      return name === null ? [] : changeField(site, name)
    },
  },
  {
    name: 'yield-target',
    change: '`yield` names no target chain',
    atSite: (site) => {
      const call = callTo(site, YIELDS)
      const [, value, target] = call?.items ?? []
      if (call === null || target === undefined) return []
      return [{ edits: [{ from: value.to, to: target.to, text: '' }], what: 'the next step may run on any chain' }]
    },
  },
]

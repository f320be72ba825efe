/** Operators that change numbers, strings and arithmetic. */
import type { CallForm, Form } from '../../contracts/syntax/form.ts'
import {
  callAround,
  callTo,
  type Fault,
  fieldNameOf,
  headNameOf,
  type Operator,
  replaceForm,
  type Site,
  wrapForm,
  writtenTable,
} from '../fault.ts'
import { calleeOf } from '../module-facts.ts'
import { typeOf } from '../types.ts'
import { exchangeHeads } from './conditions.ts'

const SUMS: ReadonlySet<string> = new Set(['+', '-', '*', '/'])
const ROUNDING: ReadonlySet<string> = new Set(['floor', 'ceiling', 'round'])
/** The smallest amount of coins. */
const SMALLEST_UNIT = '0.000000000001'

/** Calls whose strings are names: without them, the call fails everywhere. */
const NAMED: ReadonlySet<string> = new Set([
  ...['at', 'read', 'with-read', 'with-default-read', 'select', 'where', 'sort', 'remove', 'enforce-keyset'],
  ...['keyset-ref-guard', 'read-keyset', 'read-msg', 'read-integer', 'read-decimal', 'read-string', 'enforce-verifier'],
  ...['describe-namespace', 'parse-time', 'format-time', 'time', 'define-keyset', 'describe-keyset'],
])

/** The literal with one more in its last place. */
function nextLiteral(form: Form, text: string): string | null {
  if (form.form !== 'number') return null
  if (typeof form.value === 'bigint') return `${form.value + 1n}`
  const digits = (text.split('.')[1] ?? '').length
  const next = BigInt(text.replace('.', '')) + 1n
  const padded = `${next < 0n ? -next : next}`.padStart(digits + 1, '0')
  return `${next < 0n ? '-' : ''}${padded.slice(0, -digits)}.${padded.slice(-digits)}`
}

/** 0 and 1, which stand for nothing and the neutral factor. */
const NEUTRAL: ReadonlyMap<string, string> = new Map([
  ['0', '1'],
  ['1', '0'],
  ['0.0', '1.0'],
  ['1.0', '0.0'],
])

function literalText({ form, module }: Site): string {
  return module.text.slice(form.from, form.to)
}

function exchangeConstant(site: Site): Fault[] {
  if (site.form.form !== 'number') return []
  const text = literalText(site)
  const other = NEUTRAL.get(text)
  return other === undefined ? [] : [{ edits: [replaceForm(site.form, other)], what: `${text} became ${other}` }]
}

/** A sum with a number is changed by changing the number. */
function isComputed(call: CallForm): boolean {
  const name = headNameOf(call) ?? ''
  if (call.items.length < 3) return false
  if (name === '+' || name === '-') return call.items.every(({ form }) => form !== 'number')
  return SUMS.has(name) || ROUNDING.has(name)
}

/** Outermost sums, roundings, and variables that are amounts of calls and rows. */
function isAmount(site: Site): boolean {
  const { form, parent, isDropped } = site
  if (isDropped) return false
  if (form.form === 'call') {
    const outer = headNameOf(parent?.form) ?? ''
    return isComputed(form) && !SUMS.has(outer) && !ROUNDING.has(outer)
  }
  if (form.form !== 'atom') return false
  if (fieldNameOf(site) !== null) return writtenTable(parent) !== null
  const call = callAround(site)
  return call !== null && calleeOf(call.items[0], site.module) !== null
}

function changeByUnit(site: Site): Fault[] {
  const { form, types, module } = site
  if (form.form === 'number') {
    const text = literalText(site)
    const next = NEUTRAL.has(text) ? null : nextLiteral(form, text)
    return next === null ? [] : [{ edits: [replaceForm(form, next)], what: `${text} became ${next}` }]
  }
  const type = isAmount(site) ? typeOf(form, types, module)?.type : undefined
  const unit = type === 'integer' ? '1' : SMALLEST_UNIT
  if (type !== 'integer' && type !== 'decimal') return []
  return [{ edits: wrapForm(form, `(+ ${unit} `, ')'), what: `the amount is ${unit} too high` }]
}

/** Sums of strings and lists have no difference. */
function isNumeric(call: CallForm, { types, module }: Site): boolean {
  return call.items.slice(1).every((form) => {
    const type = typeOf(form, types, module)?.type
    return type === undefined || type === 'integer' || type === 'decimal'
  })
}

const ARITHMETIC = exchangeHeads(
  'arithmetic',
  '`+` and `-`, `*` and `/` are exchanged',
  new Map([
    ['+', ['-', '`+` became `-`']],
    ['-', ['+', '`-` became `+`']],
    ['*', ['/', '`*` became `/`']],
    ['/', ['*', '`/` became `*`']],
  ]),
)

export const values: readonly Operator[] = [
  {
    name: 'off-by-one',
    change: 'a number or an amount is one unit higher, a decimal by its last place or by the smallest unit',
    atSite: changeByUnit,
  },
  { name: 'constant', change: '0 and 1, 0.0 and 1.0 are exchanged', atSite: exchangeConstant },
  {
    ...ARITHMETIC,
    atSite: (site) => {
      const call = callTo(site, SUMS)
      // With one operand, the sign is meant.
      if (call === null || call.items.length === 2 || !isNumeric(call, site)) return []
      return ARITHMETIC.atSite?.(site) ?? []
    },
  },
  exchangeHeads(
    'rounding',
    '`floor` and `ceiling` are exchanged, `round` becomes `floor`',
    new Map([
      ['floor', ['ceiling', 'it rounds up']],
      ['ceiling', ['floor', 'it rounds down']],
      ['round', ['floor', 'it rounds down']],
    ]),
  ),
  {
    name: 'empty-string',
    change: 'a string is empty',
    atSite: (site) => {
      const { form, parent } = site
      if (form.form !== 'string' || form.value === '' || site.isDropped) return []
      const around = callAround(site) ?? (parent?.form.form === 'list' ? callAround(parent) : null)
      if (NAMED.has(headNameOf(around ?? undefined) ?? '')) return []
      return [{ edits: [replaceForm(form, '""')], what: 'the string is empty' }]
    },
  },
  exchangeHeads(
    'take-drop',
    '`take` and `drop` are exchanged',
    new Map([
      ['take', ['drop', 'it keeps the other part']],
      ['drop', ['take', 'it keeps the other part']],
    ]),
  ),
]

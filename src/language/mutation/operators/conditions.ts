/** Operators that change comparisons and conditions. */
import {
  callAround,
  callTo,
  type Fault,
  headNameOf,
  type Operator,
  replaceForm,
  replaceHead,
  wrapForm,
} from '../fault.ts'

/** Head of a call -> another one, and what that means. */
type Exchange = ReadonlyMap<string, readonly [head: string, what: string]>

const BOUNDARIES: Exchange = new Map([
  ['<', ['<=', 'equal values pass too: `<` became `<=`']],
  ['<=', ['<', 'equal values no longer pass: `<=` became `<`']],
  ['>', ['>=', 'equal values pass too: `>` became `>=`']],
  ['>=', ['>', 'equal values no longer pass: `>=` became `>`']],
])

const OPPOSITES: Exchange = new Map([
  ['=', ['!=', '`=` became `!=`']],
  ['!=', ['=', '`!=` became `=`']],
  ['<', ['>', '`<` became `>`']],
  ['<=', ['>=', '`<=` became `>=`']],
  ['>', ['<', '`>` became `<`']],
  ['>=', ['<=', '`>=` became `<=`']],
])

const CONNECTIVES: Exchange = new Map([
  ['and', ['or', 'one of the two conditions is enough']],
  ['or', ['and', 'both conditions must hold']],
  ['and?', ['or?', 'one of the two conditions is enough']],
  ['or?', ['and?', 'both conditions must hold']],
])

/** The names as a set, so that a look at a site makes none. */
export function exchangeHeads(name: string, change: string, heads: Exchange): Operator {
  const names = new Set(heads.keys())
  return {
    name,
    change,
    atSite: (site) => {
      const call = callTo(site, names)
      const other = heads.get(headNameOf(call ?? undefined) ?? '')
      return call === null || other === undefined ? [] : [{ edits: [replaceHead(call, other[0])], what: other[1] }]
    },
  }
}

const NOT: ReadonlySet<string> = new Set(['not'])
const IF: ReadonlySet<string> = new Set(['if'])
const DECISIONS: ReadonlySet<string> = new Set(['if', 'cond'])
const SELECTIONS: ReadonlySet<string> = new Set(['filter', 'select'])
/** Conditions whose negation another operator makes. */
const NEGATED_ELSEWHERE: ReadonlySet<string> = new Set(['=', '!=', 'not'])

function forceCondition(form: Parameters<typeof replaceForm>[0], value: boolean): Fault {
  return { edits: [replaceForm(form, `${value}`)], what: `the condition is always ${value}` }
}

export const conditions: readonly Operator[] = [
  exchangeHeads('boundary', '`<` and `<=`, `>` and `>=` are exchanged', BOUNDARIES),
  exchangeHeads('opposite', '`=` and `!=`, `<` and `>`, `<=` and `>=` are exchanged', OPPOSITES),
  exchangeHeads('and-or', '`and` and `or`, `and?` and `or?` are exchanged', CONNECTIVES),
  {
    name: 'remove-not',
    change: '`not` is gone',
    atSite: (site) => {
      const call = callTo(site, NOT)
      const operand = call?.items[1]
      if (call === null || operand === undefined) return []
      const edits = [
        { from: call.from, to: operand.from, text: '' },
        { from: operand.to, to: call.to, text: '' },
      ]
      return [{ edits, what: 'the condition is no longer negated' }]
    },
  },
  {
    name: 'force-condition',
    change: 'a condition of `if` or `cond` is always true, or always false',
    atSite: (site) => {
      const call = callTo(site, DECISIONS)
      if (call === null) return []
      const tests =
        headNameOf(call) === 'if'
          ? call.items.slice(1, 2)
          : call.items.slice(1, -1).flatMap((pair) => (pair.form === 'call' ? pair.items.slice(0, 1) : []))
      return tests
        .filter(({ form }) => form !== 'atom')
        .flatMap((test) => [forceCondition(test, true), forceCondition(test, false)])
    },
  },
  {
    name: 'swap-branches',
    change: 'the branches of `if` are exchanged',
    atSite: ({ form, module, ...site }) => {
      const call = callTo({ form, module, ...site }, IF)
      const [, condition, first, second] = call?.items ?? []
      if (second === undefined || NEGATED_ELSEWHERE.has(headNameOf(condition) ?? '')) return []
      const text = ({ from, to }: typeof first) => module.text.slice(from, to)
      if (text(first) === text(second)) return []
      return [
        {
          edits: [replaceForm(first, text(second)), replaceForm(second, text(first))],
          what: 'the branches are exchanged',
        },
      ]
    },
  },
  {
    name: 'flip-boolean',
    change: '`true` and `false` are exchanged',
    atSite: (site) => {
      const { form, isDropped } = site
      if (form.form !== 'atom' || isDropped || headNameOf(callAround(site) ?? undefined) === 'enforce') return []
      if (form.name !== 'true' && form.name !== 'false') return []
      const other = form.name === 'true' ? 'false' : 'true'
      return [{ edits: [replaceForm(form, other)], what: `\`${form.name}\` became \`${other}\`` }]
    },
  },
  {
    name: 'negate-filter',
    change: '`filter` and `select` take what they left out',
    atSite: (site) => {
      const call = callTo(site, SELECTIONS)
      const test = headNameOf(call ?? undefined) === 'filter' ? call?.items[1] : call?.items.at(-1)
      if (call === null || call.items.length < 3 || test === undefined) return []
      return [{ edits: wrapForm(test, '(compose ', ' (not))'), what: 'it takes what it left out' }]
    },
  },
]

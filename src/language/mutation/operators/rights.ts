/** Operators that take away checks, guards and capabilities. */
import type { CallForm, Form, ListForm } from '../../contracts/syntax/form.ts'
import { isWord } from '../../contracts/syntax/names.ts'
import {
  callTo,
  type Edit,
  type Fault,
  fieldNameOf,
  headNameOf,
  type Operator,
  replaceForm,
  type Site,
  wrapForm,
  writtenTable,
} from '../fault.ts'
import { type Member, type ModuleFacts, managerOf } from '../module-facts.ts'

const ENFORCES: ReadonlySet<string> = new Set(['enforce', 'enforce-one'])
const GUARD_CHECKS: ReadonlySet<string> = new Set(['enforce-guard', 'enforce-keyset', 'enforce-verifier'])
const CHECKS: ReadonlySet<string> = new Set([...ENFORCES, ...GUARD_CHECKS])
const REQUIRES: ReadonlySet<string> = new Set(['require-capability'])
const ACQUIRES: ReadonlySet<string> = new Set(['with-capability'])
const COMPOSES: ReadonlySet<string> = new Set(['compose-capability'])
const INSTALLS: ReadonlySet<string> = new Set(['install-capability'])
const GUARD_MAKERS: ReadonlySet<string> = new Set([
  'create-capability-guard',
  'create-capability-pact-guard',
  'create-user-guard',
  'create-module-guard',
  'create-pact-guard',
  'keyset-ref-guard',
  'read-keyset',
])

/** Replaces a call of one of these by `true`. */
function removeCall(name: string, change: string, names: ReadonlySet<string>, whatIs: (call: CallForm) => string) {
  return {
    name,
    change,
    atSite: (site) => {
      const call = callTo(site, names)
      return call === null ? [] : [{ edits: [replaceForm(call, 'true')], what: whatIs(call) }]
    },
  } satisfies Operator
}

const calledName = (form: Form | undefined): string => {
  const [head] = form?.form === 'call' ? form.items : [form]
  return head?.form === 'atom' ? head.name : 'it'
}

/** Makes a guard that always passes, with a function of the module for it. */
function openGuard(form: Form, { form: module }: ModuleFacts): Edit[] {
  const end = module.to - 1
  const helper = '\n  (defun newcut-mutant-open:bool () true)\n'
  return [
    replaceForm(form, '(create-user-guard (newcut-mutant-open))'),
    { from: end, to: end, text: helper, isHelper: true },
  ]
}

function isGuardOfRow({ form, types, parent }: Site, site: Site): boolean {
  if (form.form !== 'atom' || writtenTable(parent) === null || fieldNameOf(site) === null) return false
  const type = types.get(form.name)?.type
  return type === 'guard' || type === 'keyset'
}

function removeBranches(call: CallForm): Fault[] {
  const list = call.items[2]
  if (list?.form !== 'list' || list.items.length < 2) return []
  return list.items.map((_, i) => {
    return { edits: [removeItem(list, i)], what: `test ${i + 1} of ${list.items.length} is gone` }
  })
}

/** Takes an item out of a list, with the space or the comma before or after it. */
function removeItem({ items }: ListForm, at: number): Edit {
  const { from, to } = items[at]
  return at === 0 ? { from, to: items[1].from, text: '' } : { from: items[at - 1].to, to, text: '' }
}

/** A body is worth emptying if it has a check besides the one that another operator removes. */
function emptyCapability({ kind, body, name }: Member): Fault[] {
  if (kind !== 'defcap') return []
  const own = body.filter((form) => !COMPOSES.has(headNameOf(form) ?? ''))
  const [first] = own
  if (first === undefined || (own.length === 1 && (first.form !== 'call' || CHECKS.has(headNameOf(first) ?? ''))))
    return []
  const edits = own.map((form, i) => replaceForm(form, i === 0 ? 'true' : ''))
  return [{ edits, what: `${name} is granted to everybody` }]
}

function markIn({ items }: CallForm, mark: string): Form | null {
  return items.find((item) => isWord(item, mark)) ?? null
}

function removeManaged(member: Member): Fault[] {
  const mark = member.kind === 'defcap' ? markIn(member.form, '@managed') : null
  if (mark === null) return []
  const hasManager = managerOf(member) !== null
  const end = hasManager ? member.form.items[member.form.items.indexOf(mark) + 2] : mark
  const limit = hasManager ? 'without a limit' : 'more than once'
  return [
    {
      edits: [{ from: mark.from, to: end.to, text: '' }],
      what: `${member.name} is granted ${limit}, and nobody installs it`,
    },
  ]
}

function keepManaged({ kind, name, params, body }: Member, { managers }: ModuleFacts): Fault[] {
  const [managed] = params
  const last = body.at(-1)
  if (kind !== 'defun' || !managers.has(name) || managed === undefined || last === undefined) return []
  const edits = wrapForm(last, '(let ((newcut-mutant ', `)) ${managed.name})`)
  return [{ edits, what: `${name} leaves the whole amount for further use` }]
}

export const rights: readonly Operator[] = [
  removeCall('remove-enforce', '`enforce` and `enforce-one` check nothing', ENFORCES, () => 'the check is gone'),
  removeCall(
    'remove-guard',
    '`enforce-guard`, `enforce-keyset` and `enforce-verifier` check nothing',
    GUARD_CHECKS,
    () => 'anybody passes',
  ),
  {
    name: 'remove-branch',
    change: '`enforce-one` loses one of its tests',
    atSite: (site) => {
      const call = callTo(site, ENFORCES)
      return call !== null && headNameOf(call) === 'enforce-one' ? removeBranches(call) : []
    },
  },
  removeCall('remove-require', '`require-capability` requires nothing', REQUIRES, (call) => {
    return `callers need no ${calledName(call.items[1])}`
  }),
  {
    name: 'remove-capability',
    change: '`with-capability` runs its body without the capability',
    atSite: (site) => {
      const call = callTo(site, ACQUIRES)
      if (call === null || call.items.length < 3) return []
      const [, token] = call.items
      const edit = { from: call.from, to: token.to, text: '(let ((newcut-mutant true))' }
      return [{ edits: [edit], what: `${calledName(token)} is never acquired` }]
    },
  },
  { name: 'empty-capability', change: '`defcap` checks nothing; it still composes', inMember: emptyCapability },
  removeCall('remove-compose', '`compose-capability` composes nothing', COMPOSES, (call) => {
    return `${calledName(call.items[1])} is not composed`
  }),
  {
    name: 'open-guard',
    change: 'a new guard, or the guard that a row gets, always passes',
    atSite: (site) => {
      const isMade = callTo(site, GUARD_MAKERS) !== null
      if (!isMade && !isGuardOfRow(site, site)) return []
      return [{ edits: openGuard(site.form, site.module), what: 'the guard lets everybody pass' }]
    },
  },
  { name: 'remove-managed', change: '`@managed` is gone from a capability', inMember: removeManaged },
  { name: 'keep-managed', change: 'a manager function checks, and leaves the whole amount', inMember: keepManaged },
  {
    name: 'remove-install',
    change: '`install-capability` installs nothing',
    atSite: (site) => {
      const call = callTo(site, INSTALLS)
      if (call === null) return []
      return [{ edits: [replaceForm(call, '""')], what: `${calledName(call.items[1])} is not installed` }]
    },
  },
  {
    name: 'remove-event',
    change: '`emit-event` emits nothing; `@event` is gone',
    atSite: (site) => {
      const call = callTo(site, new Set(['emit-event']))
      return call === null
        ? []
        : [{ edits: [replaceForm(call, 'true')], what: `${calledName(call.items[1])} is not emitted` }]
    },
    inMember: ({ kind, name, form }, { text }) => {
      const mark = kind === 'defcap' ? markIn(form, '@event') : null
      // A capability without the mark cannot be emitted, so the module would not work.
      if (mark === null || text.includes(`(emit-event (${name}`)) return []
      return [{ edits: [replaceForm(mark, '')], what: `${name} emits no event` }]
    },
  },
]

/** Shows the members of a module: functions, pacts, capabilities, schemas and constants with their docstrings. */
import type { CallableFunction, ModuleDetails } from '#ground/schema/lookup.ts'
import { make } from '../../kit/dom.ts'
import { fragment, moduleUrl } from './place.ts'

type Parameter = CallableFunction['params'][number]

/** Sections of the members that there are. */
export function interfaceOf(module: ModuleDetails): HTMLElement[] {
  const { kind, name, chain } = module
  const callLink = (member: string) =>
    kind === 'interface' ? null : `/explorer/send${fragment({ chain, module: name, function: member })}`
  return [
    section('Functions', module.functions, (each) => callable(each, '', callLink(each.name))),
    section('Pacts', module.pacts, (each) => callable(each, '', callLink(each.name))),
    section('Capabilities', module.capabilities, (each) => callable(each, each.mark ?? '', null)),
    section('Schemas', module.schemas, (each) => member(each.name, each.doc, [fieldList(each.fields)])),
    section('Tables', module.tables, (each) => {
      const href = moduleUrl(chain, name, { view: 'tables' })
      const schema = make('span', { class: 'type' }, each.schema === null ? 'any fields' : `{${each.schema}}`)
      const rows = make('a', { class: 'call-link', href }, each.isCreated ? 'Rows' : 'not created')
      return member(each.name, each.doc, [schema, rows])
    }),
    section('Constants', module.constants, (each) => {
      const type = each.type === null ? [] : [make('span', { class: 'type' }, `:${each.type}`)]
      return member(each.name, each.doc, [...type, ' ', make('code', { class: 'value' }, each.value)])
    }),
  ].filter((each) => each !== null)
}

function section<T>(title: string, members: readonly T[], rowOf: (each: T) => HTMLElement): HTMLElement | null {
  if (members.length === 0) return null
  return make('section', {}, make('h3', {}, title), make('ul', { class: 'members' }, ...members.map(rowOf)))
}

function member(name: string, doc: string | null, rest: readonly (Node | string)[]): HTMLElement {
  return make(
    'li',
    {},
    make('div', { class: 'signature' }, make('b', {}, name), ...rest),
    ...(doc === null || doc === '' ? [] : [make('p', { class: 'doc' }, doc)]),
  )
}

function callable({ name, doc, params, result }: CallableFunction, mark: string, href: string | null): HTMLElement {
  return member(name, doc, [
    ...parameterList(params),
    ...(result === null ? [] : [make('span', { class: 'type' }, ` → ${result}`)]),
    ...(mark === '' ? [] : [' ', make('span', { class: 'mark' }, mark)]),
    ...(href === null ? [] : [make('a', { class: 'call-link', href, 'aria-label': `call ${name}` }, 'Call')]),
  ])
}

function parameterList(params: readonly Parameter[]): (Node | string)[] {
  const inner = params.flatMap((each, i) => (i === 0 ? partsOfParameter(each) : [' ', ...partsOfParameter(each)]))
  return [make('span', { class: 'params' }, ' (', ...inner, ')')]
}

function fieldList(fields: readonly Parameter[]): HTMLElement {
  return make(
    'span',
    { class: 'params' },
    ' {',
    ...fields.flatMap((each, i) => (i === 0 ? partsOfParameter(each) : [', ', ...partsOfParameter(each)])),
    '}',
  )
}

const partsOfParameter = ({ name, type }: Parameter): (Node | string)[] =>
  type === null ? [name] : [name, make('span', { class: 'type' }, `:${type}`)]

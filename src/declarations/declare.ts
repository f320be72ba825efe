/** Writes outlines as declarations of TypeScript. */

import { labels } from './labels.ts'
import { modulesNamed } from './mentions.ts'
import type { CallableOutline, CapabilityOutline, ConstantOutline, Field, Outline } from './outline.ts'
import { type Flavour, literalType, type SchemaType, typeText, VALUE_TYPES } from './type-text.ts'

/** Begins every file of `newcut types`. Only files that begin with it are overwritten. */
export const HEADER = '/* Types of contracts, made by newcut types. Make them again instead of changing them. */'

/**
 * The text of a declaration file. It imports nothing: it suits projects with newcut, with @kadena/client, or with both.
 * @param origin where the contracts come from, for a comment
 */
export function declarations(outlines: readonly Outline[], origin: string): string {
  const known = new Map(outlines.map((outline) => [outline.name, outline]))
  const modules = outlines.flatMap((outline) => moduleLines(outline, schemasOf(outline, known)))
  const client = outlines.filter(({ isInterface }) => !isInterface)
  return [
    HEADER,
    `/* From ${origin.replaceAll('*/', '* /')}. */`,
    '/* eslint-disable */',
    '',
    VALUE_TYPES,
    '',
    '/** All contracts by qualified name. */',
    'export interface Modules {',
    ...indented(modules),
    '}',
    '',
    REGISTRIES,
    '',
    ...clientLines(client, outlines, known),
    '',
  ].join('\n')
}

const REGISTRIES = `type Names<Kind extends string> = {
  [M in keyof Modules]: Modules[M] extends { [K in Kind]: infer Members } ? \`\${M}.\${keyof Members & string}\` : never
}[keyof Modules]
type Member<Kind extends string, Name extends string> = {
  [M in keyof Modules]: Name extends \`\${M}.\${infer Own}\`
    ? Modules[M] extends { [K in Kind]: infer Members }
      ? Own extends keyof Members
        ? Members[Own]
        : never
      : never
    : never
}[keyof Modules]
/** Functions and pacts by qualified name. */
export type Functions = { [Name in Names<'functions'>]: Member<'functions', Name> } & {
  [Name in Names<'pacts'>]: Member<'pacts', Name>
}
/** Capabilities by qualified name, in the form in which a signer lists them. */
export type Capabilities = { [Name in Names<'capabilities'>]: Member<'capabilities', Name> }
/** Any capability of these contracts: a Capability of newcut/wallet, and an ICap of @kadena/client. */
export type AnyCapability = Capabilities[keyof Capabilities]
/** Tables by qualified name: the types of their rows. */
export type Tables = { [Name in Names<'tables'>]: Member<'tables', Name> }`

/** Finds the types of schemas, as a contract names them. */
function schemasOf(outline: Outline, known: ReadonlyMap<string, Outline>): SchemaType {
  const { namespace, uses } = outline
  return (written) => {
    const dot = written.lastIndexOf('.')
    const name = written.slice(dot + 1)
    const candidates =
      dot < 0
        ? [outline.name, ...uses.flatMap((use) => modulesNamed(use, namespace))]
        : modulesNamed(written.slice(0, dot), namespace)
    const owner = candidates.find((each) => known.get(each)?.schemas.some((schema) => schema.name === name))
    return owner === undefined ? null : `Modules[${quoted(owner)}]['schemas'][${quoted(name)}]`
  }
}

function moduleLines(outline: Outline, schemaType: SchemaType): string[] {
  const { name, isInterface, doc, functions, pacts, capabilities, schemas, tables, constants, namespace } = outline
  const call = (each: CallableOutline) => callLines(each, schemaType)
  return [
    ...comment(doc),
    `${quoted(name)}: {`,
    ...indented([
      `kind: '${isInterface ? 'interface' : 'module'}'`,
      `namespace: ${namespace === null ? 'null' : quoted(namespace)}`,
      `implements: [${outline.implements.map(quoted).join(', ')}]`,
      ...section('functions', functions.flatMap(call)),
      ...section('pacts', pacts.flatMap(call)),
      ...section(
        'capabilities',
        capabilities.flatMap((each) => capabilityLines(name, each, schemaType)),
      ),
      ...section(
        'schemas',
        schemas.flatMap((each) => schemaLines(each.name, each.doc, each.fields, schemaType)),
      ),
      ...section(
        'tables',
        tables.flatMap((each) => [
          ...comment(each.doc),
          `${quoted(each.name)}: ${(each.schema === null ? null : schemaType(each.schema)) ?? 'PactObject'}`,
        ]),
      ),
      ...section(
        'constants',
        constants.flatMap((each) => constantLines(each, schemaType)),
      ),
    ]),
    '}',
  ]
}

const section = (name: string, lines: readonly string[]) =>
  lines.length === 0 ? [`${name}: {}`] : [`${name}: {`, ...indented(lines), '}']

function callLines({ name, doc, params, result }: CallableOutline, schemaType: SchemaType): string[] {
  return [
    ...comment(doc),
    `${quoted(name)}: {`,
    ...indented([
      `args: [${parameters(params, 'code', schemaType)}]`,
      `result: PactResult<${typeText(result, 'json', schemaType)}>`,
    ]),
    '}',
  ]
}

function capabilityLines(module: string, each: CapabilityOutline, schemaType: SchemaType): string[] {
  const args = parameters(each.params, 'json', schemaType)
  return [
    ...comment(each.doc, each.mark),
    `${quoted(each.name)}: { name: ${quoted(`${module}.${each.name}`)}; args: [${args}] }`,
  ]
}

function schemaLines(name: string, doc: string | null, fields: readonly Field[], schemaType: SchemaType): string[] {
  const lines = fields.map((field) => `${quoted(field.name)}: ${typeText(field.type, 'json', schemaType)}`)
  return [
    ...comment(doc),
    ...(lines.length === 0 ? [`${quoted(name)}: {}`] : [`${quoted(name)}: {`, ...indented(lines), '}']),
  ]
}

const MAX_SHOWN = 200

function constantLines({ name, doc, type, value, text }: ConstantOutline, schemaType: SchemaType): string[] {
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}..` : text
  const found = literalType(value) ?? typeText(type, 'json', schemaType)
  return [...comment(doc, `value: ${shown.replaceAll(/\s+/g, ' ')}`), `${quoted(name)}: ${found}`]
}

function parameters(params: readonly Field[], flavour: Flavour, schemaType: SchemaType): string {
  const names = labels(params.map(({ name }) => name))
  return params.map(({ type }, i) => `${names[i]}: ${typeText(type, flavour, schemaType)}`).join(', ')
}

/** The modules of `Pact.modules`. Each function offers the capabilities of all contracts of the file. */
function clientLines(
  modules: readonly Outline[],
  outlines: readonly Outline[],
  known: ReadonlyMap<string, Outline>,
): string[] {
  const capabilities = outlines.flatMap(({ name, capabilities, isInterface }) =>
    isInterface ? [] : capabilities.map((each) => `${name}.${each.name}`),
  )
  const call = (each: CallableOutline, schemaType: SchemaType) => [
    ...comment(each.doc),
    `${quoted(each.name)}(${parameters(each.params, 'code', schemaType)}): ClientCode`,
  ]
  return [
    '/** Capabilities that a signer of these contracts may list, for `withCapability` of @kadena/client. */',
    'export interface WithCapability {',
    ...(capabilities.includes('coin.GAS') ? [] : [`  (name: 'coin.GAS'): { name: string; args: Array<any> }`]),
    ...capabilities.map(
      (name) =>
        `  (name: ${quoted(name)}, ...args: Capabilities[${quoted(name)}]['args']): { name: string; args: Array<any> }`,
    ),
    '}',
    '/** Code of a call, with the capabilities that its signers may list. */',
    'export type ClientCode = string & { capability: WithCapability }',
    '',
    '// @ts-ignore: a project without @kadena/client does not find it',
    `declare module '@kadena/client' {`,
    '  export interface IPactModules {',
    ...indented(
      modules.flatMap((outline) => {
        const schemaType = schemasOf(outline, known)
        const pacts = outline.pacts.flatMap((each) => call(each, schemaType))
        return [
          ...comment(outline.doc),
          `${quoted(outline.name)}: {`,
          ...indented([
            ...outline.functions.flatMap((each) => call(each, schemaType)),
            ...(pacts.length === 0 ? [] : section('defpact', pacts)),
          ]),
          '}',
        ]
      }),
      4,
    ),
    '  }',
    '}',
  ]
}

const quoted = (text: string) => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

const indented = (lines: readonly string[], by = 2) => lines.map((line) => (line === '' ? line : ' '.repeat(by) + line))

/** A JSDoc of the texts that are there. */
function comment(...texts: readonly (string | null)[]): string[] {
  const lines = texts.flatMap((text) => (text ?? '').trim().split(/\s*\n\s*/)).filter((line) => line !== '')
  const safe = lines.map((line) => line.replaceAll('*/', '* /'))
  if (safe.length < 2) return safe.map((line) => `/** ${line} */`)
  return ['/**', ...safe.map((line) => ` * ${line}`), ' */']
}

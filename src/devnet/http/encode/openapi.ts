/** GET /openapi.json: OpenAPI 3.1 description of a router, from the schemas that validate its requests. */

import { CompressedText } from '#ground/base/http-answer.ts'
import * as bodies from '#ground/schema/bodies.ts'
import * as commandBodies from '#ground/schema/command-bodies.ts'
import { JSON_TYPE, type Operation, type OperationResponse } from '#ground/schema/operation.ts'
import { type TObject, type TSchema, Type } from '#ground/schema/typebox.ts'
import { sendJson } from '../app.ts'
import { answersOf, type Router } from '../router.ts'

const OPENAPI = '3.1.1'

const openApi = {
  id: 'openApi',
  method: 'GET',
  scope: 'root',
  path: '/openapi.json',
  group: 'node',
  summary: 'this description',
  params: Type.Object({}),
  query: Type.Object({}),
  responses: { 200: { description: 'OpenAPI 3.1', content: { [JSON_TYPE]: Type.Object({}) } } },
} as const satisfies Operation

interface OpenApiOptions {
  readonly packageVersion: string
}

/** Describes all operations that the router serves at the first request for the document. */
export function addOpenApi(router: Router, options: OpenApiOptions): void {
  let text: CompressedText | undefined
  router.serve(openApi, ({ request }, reply) => {
    text ??= new CompressedText(JSON.stringify(describe(router, options)))
    const { headers, body } = text.bodyFor(request.headers['accept-encoding'])
    return sendJson(reply.headers(headers), JSON_TYPE, body)
  })
}

type Json = { [key: string]: unknown }

function describe(router: Router, { packageVersion }: OpenApiOptions): Json {
  const paths: Record<string, Json> = {}
  for (const operation of router.served) {
    const path = router.pathOf(operation)
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(operation) }
  }
  return {
    openapi: OPENAPI,
    info: {
      title: 'Embedded node',
      version: packageVersion,
      description: 'The HTTP interface of a node of a multi-chain network, as the embedded node serves it.',
    },
    servers: [{ url: '/' }],
    paths,
    components: { schemas: Object.fromEntries(named.map(({ name, schema }) => [name, inline(schema)])) },
  }
}

function describeOperation(operation: Operation): Json {
  const { id, group, summary, params, query, body } = operation
  return {
    operationId: id,
    tags: [group],
    summary,
    parameters: [...parameters(params, 'path'), ...parameters(query, 'query')],
    ...(body && { requestBody: { required: true, content: { [body.type]: { schema: refer(body.schema) } } } }),
    responses: Object.fromEntries(
      Object.entries(answersOf(operation)).map(([status, each]) => [status, response(each)]),
    ),
  }
}

function parameters({ properties, required }: TObject, place: 'path' | 'query'): Json[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = refer(schema)
    const isRequired = place === 'path' || required?.includes(name) === true
    return { name, in: place, required: isRequired, ...(description ? { description } : {}), schema: rest }
  })
}

function response({ description, content }: OperationResponse): Json {
  if (content === undefined) return { description }
  const types = Object.entries(content).map(([type, schema]) => [type, { schema: refer(schema) }])
  return { description, content: Object.fromEntries(types) }
}

/** Schemas that have a name in the document: objects, and the text of a hash. */
const named = Object.entries({ ...bodies, ...commandBodies })
  .map(([name, schema]) => ({ name, schema: schema as TSchema, text: JSON.stringify(schema) }))
  .filter(({ name, schema }) => name === 'HashText' || Object.hasOwn(schema, 'properties'))

const nameByText = new Map(named.map(({ name, text }) => [text, name]))

/** @returns a reference if the schema has a name, otherwise the schema */
function refer(schema: unknown): Json {
  const name = nameByText.get(JSON.stringify(schema))
  return name === undefined ? inline(schema) : { $ref: `#/components/schemas/${name}` }
}

/** Keywords whose values map names to schemas. */
const MAPS = ['properties', 'patternProperties']
const LISTS = ['anyOf', 'allOf', 'oneOf']

/** Expands a schema; named schemas inside it become references. Tuples follow JSON Schema 2020-12. */
function inline(schema: unknown): Json {
  const json = JSON.parse(JSON.stringify(schema)) as Json
  const out: Json = {}
  for (const [key, value] of Object.entries(json)) {
    if (MAPS.includes(key)) out[key] = Object.fromEntries(Object.entries(value as Json).map(([k, v]) => [k, refer(v)]))
    else if (LISTS.includes(key)) out[key] = (value as unknown[]).map(refer)
    else if (key === 'items' && Array.isArray(value)) out.prefixItems = value.map(refer)
    else if (key === 'items') out.items = refer(value)
    else if (key === 'additionalItems') out.items = value
    else out[key] = value
  }
  return out
}

/** Creates example values from the schemas in the node's OpenAPI description. */

export interface OpenApiSchema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly OpenApiSchema[]
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly patternProperties?: Readonly<Record<string, OpenApiSchema>>
  readonly required?: readonly string[]
  readonly items?: OpenApiSchema
  readonly prefixItems?: readonly OpenApiSchema[]
  readonly minItems?: number
  readonly minimum?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly description?: string
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description?: string
  readonly schema: OpenApiSchema
}

export interface OpenApiOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: OpenApiSchema }>> }
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, unknown>> }>
  >
}

export interface OpenApi {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, OpenApiSchema>> }
}

/** Limits recursive schemas. */
const MAX_DEPTH = 6

/** Creates a minimal value of a schema: least numbers, the first alternative, required fields only. */
export function exampleOf(schema: OpenApiSchema, named: OpenApi['components']['schemas'], depth = 0): unknown {
  const inner = (each: OpenApiSchema) => exampleOf(each, named, depth + 1)
  if (depth > MAX_DEPTH) return null
  if (schema.$ref !== undefined) return inner(named[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf !== undefined) return inner(schema.anyOf[0])
  switch (schema.type) {
    case 'object':
      return objectOf(schema, inner)
    case 'array':
      return schema.prefixItems?.map(inner) ?? (schema.items === undefined ? [] : [inner(schema.items)])
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, 1)
    case 'boolean':
      return true
    default:
      return ''
  }
}

function objectOf(
  { properties = {}, patternProperties, required = [] }: OpenApiSchema,
  inner: (each: OpenApiSchema) => unknown,
) {
  const shown = Object.entries(properties).filter(([name]) => required.includes(name))
  const entries = shown.map(([name, each]) => [name, inner(each)] as const)
  const [value] = Object.values(patternProperties ?? {})
  // Keys that a pattern describes are chains.
  return Object.fromEntries(value === undefined ? entries : [...entries, ['0', inner(value)]])
}

/** A request of a client, with the endpoint that it names. */
import { parseJson, tryParse } from '#ground/base/json.ts'
import type { Operation } from '#ground/schema/operation.ts'
import { type OperationId, operations } from '#ground/schema/operations.ts'

/** A request as it came. */
export interface ClientRequest {
  /** From 1. */
  readonly number: number
  /** Monotonic, in milliseconds. */
  readonly atMs: number
  /** Unix time of the served node, in milliseconds. */
  readonly wallMs: number
  readonly method: string
  /** Without its query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
  /** The body as JSON; undefined if it is not valid JSON. */
  readonly json: unknown
  /** The endpoint of this path and method; null if there is none. */
  readonly operation: Operation | null
  /** Methods of the endpoints at this path; empty for an unknown path. */
  readonly methods: readonly string[]
  /** Parts of the path such as `chain` and `hash`. */
  readonly params: Readonly<Record<string, string>>
}

/** An answer that the client got. */
export interface ClientAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Empty for streams. */
  readonly body: Buffer
}

/** Endpoints that return results of commands. */
export const RESULT_OPERATIONS: ReadonlySet<string> = new Set<OperationId>(['poll', 'listen'])

const rows = Object.values(operations).map((operation: Operation) => {
  const inside = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => `(?<${name}>[^/]+)`)
  const before = operation.scope === 'root' ? '' : '/(?<product>[\\w-]+)/0\\.0/(?<network>[^/]+)'
  return { operation, form: new RegExp(`^${before}${inside}$`) }
})

/** The endpoint of a request, and the parts of its path. HEAD belongs to GET. */
export function endpointOf(method: string, path: string): Pick<ClientRequest, 'operation' | 'methods' | 'params'> {
  const found = rows.flatMap(({ operation, form }) => {
    const match = form.exec(path)
    return match === null ? [] : [{ operation, params: { ...match.groups } as Record<string, string> }]
  })
  // A fixed path such as header/branch goes before one with a parameter such as header/{hash}.
  const [first] = found.toSorted(
    (a, b) => Number(a.operation.path.includes('{hash}')) - Number(b.operation.path.includes('{hash}')),
  )
  if (first === undefined) return { operation: null, methods: [], params: {} }
  const here = found.filter(({ operation }) => operation.path === first.operation.path)
  const wanted = method === 'HEAD' ? 'GET' : method
  const fits = here.find(({ operation }) => operation.method === wanted)
  return {
    operation: fits?.operation ?? null,
    methods: here.map(({ operation }) => operation.method),
    params: first.params,
  }
}

/** @returns a body as JSON, or undefined if it is not valid JSON */
export function parseBody(body: Uint8Array): unknown {
  return body.length === 0 ? undefined : tryParse(new TextDecoder().decode(body), parseJson)
}

/** Request keys that a request names. */
export function keysOf({ operation, json }: Pick<ClientRequest, 'operation' | 'json'>): string[] {
  const parts = json as Readonly<Record<string, unknown>> | null | undefined
  const texts = (value: unknown) => (Array.isArray(value) ? value : [value]).filter((key) => typeof key === 'string')
  switch (operation?.id) {
    case 'send':
      return texts((Array.isArray(parts?.cmds) ? parts.cmds : []).map((each) => each?.hash))
    case 'poll':
      return texts(parts?.requestKeys)
    case 'listen':
      return texts(parts?.listen)
    case 'spv':
      return texts(parts?.requestKey)
    default:
      return []
  }
}

/** A request as one short line, such as `GET /info`. */
export const lineOf = ({ method, path, query }: Pick<ClientRequest, 'method' | 'path' | 'query'>) =>
  `${method} ${path}${query.size > 0 ? `?${query}` : ''}`

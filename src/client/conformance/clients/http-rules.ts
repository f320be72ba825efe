/** Rules for every request: path, method, types, query, body and pace. */

import type { TObject } from '#ground/schema/typebox.ts'
import { parameterValues, validatorOf } from '#ground/schema/validator.ts'
import { requestNameOf } from './aims.ts'
import type { ClientHistory } from './client-history.ts'
import type { ClientAnswer, ClientRequest } from './client-request.ts'

/**
 * A rule that every request is judged by.
 *
 * `judge` returns what is wrong, null if the request is right, or undefined if the rule does not concern it.
 */
export interface ClientRule {
  readonly name: string
  /** Where the rule stands. */
  readonly source: string
  readonly judge: (request: ClientRequest, history: ClientHistory) => string | null | undefined
  /** Returns what the node's answer shows to be wrong with the request, or null. */
  readonly judgeAnswer?: (request: ClientRequest, answer: ClientAnswer) => string | null
  /** Returns faults that only the end shows, with their requests. */
  readonly atEnd?: (history: ClientHistory) => readonly { readonly request: ClientRequest; readonly fault: string }[]
}

/** Requests that browsers send by themselves. */
const BROWSER = ['/favicon.ico']
/** `inclusive:` or `exclusive:`, and a hash. */
const CURSOR = /^(in|ex)clusive:[\w-]{43}$/
/** Maximum equal requests in a second. A client that waits needs fewer: it has listen, and pauses. */
const MAX_EQUAL = 10
const EQUAL_WINDOW_MS = 1000
/** Maximum requests of a miner after each solution, to follow it: the miner may ask often while the node is busy. */
export const CHECKS_PER_SOLUTION = 20
/** Time after a solution in which a miner makes them. */
export const SOLUTION_CHECK_MS = 10_000
/** Maximum body that a live node reads (PROTOCOL.md E.0). */
const MAX_BODY_BYTES = 2 * 1024 * 1024
/** Maximum payloads in a batch: nodes leave out the rest (PROTOCOL.md E.0). */
const MAX_BATCH = 1000
/** Maximum bounds of a branch: nodes refuse more (PROTOCOL.md E.0). */
const MAX_BOUNDS = 32

const mediaType = (text: string) => text.split(';')[0].trim().toLowerCase()

export const httpRules: readonly ClientRule[] = [
  {
    name: 'the path is an endpoint of live nodes',
    source: 'PROTOCOL.md E.1',
    judge: ({ path, methods }) => {
      if (BROWSER.includes(path)) return undefined
      return methods.length > 0 ? null : `${path} is not an endpoint`
    },
  },
  {
    name: 'the method is that of the endpoint',
    source: 'PROTOCOL.md E.0',
    judge: ({ method, methods, operation }) => {
      if (methods.length === 0 || method === 'OPTIONS') return undefined
      return operation === null ? `${method}, where the endpoint takes ${methods.join(' and ')}` : null
    },
  },
  {
    name: 'the path names the network of the node',
    source: 'PROTOCOL.md E.0, E.1',
    judge: ({ params }, { served }) => {
      if (params.network === undefined) return undefined
      return params.network === served.network ? null : `${params.network}, where /info says ${served.network}`
    },
  },
  {
    name: 'the chain exists',
    source: 'PROTOCOL.md E.0',
    judge: ({ params }, { served }) => {
      if (params.chain === undefined) return undefined
      const exists = /^\d+$/.test(params.chain) && Number(params.chain) < served.chains
      return exists ? null : `chain ${params.chain}, where /info lists ${served.chains} chains`
    },
  },
  {
    name: 'a body has its content type',
    source: 'PROTOCOL.md E.0, A.2',
    judge: ({ operation, body, headers }) => {
      if (!operation?.body || body.length === 0) return undefined
      const [wanted, sent] = [operation.body.type, mediaType(headers['content-type'] ?? '')]
      if (sent === '' && wanted !== 'application/json') return null
      return sent === wanted ? null : `content type ${sent || 'missing'}, where ${wanted} is expected`
    },
  },
  {
    name: 'a body has the fields of its endpoint',
    source: 'PROTOCOL.md E.1, E.3',
    judge: ({ operation, body, json }) => {
      if (operation?.body?.type !== 'application/json') return undefined
      if (body.length === 0) return 'no body'
      if (json === undefined) return 'the body is not valid JSON'
      const validator = validatorOf(operation.body.schema)
      return validator.accepts(json) ? null : validator.complaint(json)
    },
  },
  {
    name: 'the query has only parameters of its endpoint',
    source: 'PROTOCOL.md E.1, E.3',
    judge: ({ operation, query }) => {
      if (operation === null || query.size === 0) return undefined
      return findQueryFault(operation.query, query)
    },
  },
  {
    name: 'the answer may have a type that the endpoint has',
    source: 'PROTOCOL.md E.0',
    judge: ({ operation, headers }) => {
      const accept = headers.accept
      if (operation === null || accept === undefined) return undefined
      const offered = Object.keys(operation.responses[200]?.content ?? {}).map(mediaType)
      if (offered.length === 0) return undefined
      return accept.split(',').some((range) => fitsOne(mediaType(range), offered))
        ? null
        : `accept ${accept}, where the endpoint has ${[...new Set(offered)].join(', ')}`
    },
  },
  {
    name: 'a body is no longer than 2 MiB',
    source: 'PROTOCOL.md E.0',
    judge: ({ body }) => {
      if (body.length === 0) return undefined
      return body.length <= MAX_BODY_BYTES ? null : `${body.length} bytes`
    },
  },
  {
    name: 'a cursor is one that the node knows',
    source: 'PROTOCOL.md E.1',
    judge: ({ query, operation }) => {
      const next = query.get('next')
      if (next === null || operation === null || operation.id === 'cutPeers') return undefined
      return CURSOR.test(next) ? null : `next=${next} is not a cursor`
    },
    // A client may keep a cursor, or make one of a hash that it has.
    judgeAnswer: ({ query, operation, path }, { status }) => {
      const next = query.get('next')
      const isUnknown = status === 404 && next !== null && CURSOR.test(next) && operation?.id !== 'cutPeers'
      return isUnknown ? `next=${next}, which ${path} does not have` : null
    },
  },
  {
    name: 'heights of a list ascend',
    source: 'PROTOCOL.md E.1',
    judge: ({ query }) => {
      const [least, most] = [query.get('minheight'), query.get('maxheight')]
      if (least === null || most === null) return undefined
      return Number(least) <= Number(most) ? null : `minheight ${least} is above maxheight ${most}`
    },
  },
  {
    name: 'a batch has no more than 1000 payloads, and a branch no more than 32 bounds',
    source: 'PROTOCOL.md E.0',
    judge: ({ json, operation }) => {
      const parts = json as
        | { readonly hashes?: unknown; readonly upper?: unknown; readonly lower?: unknown }
        | undefined
      const count = (value: unknown) => (Array.isArray(value) ? value.length : 0)
      if (/^payloads/.test(operation?.id ?? '')) {
        const items = count(Array.isArray(json) ? json : parts?.hashes)
        return items <= MAX_BATCH ? null : `${items} payloads: the node leaves out those beyond ${MAX_BATCH}`
      }
      if (!/Branch$/.test(operation?.id ?? '')) return undefined
      const bounds = Math.max(count(parts?.upper), count(parts?.lower))
      return bounds <= MAX_BOUNDS ? null : `${bounds} bounds`
    },
  },
  {
    name: 'equal requests in a row come no more often than 10 times a second',
    source: 'docs/CONFORMANCE.md: a client that waits uses listen, or pauses',
    judge: (request, history) => {
      const name = requestNameOf(request)
      const recent =
        history.equalRun.name === name
          ? history.equalRun.atMs.filter((atMs) => request.atMs - atMs < EQUAL_WINDOW_MS)
          : []
      const solved = history.solvedAtMs.filter((atMs) => request.atMs - atMs < SOLUTION_CHECK_MS).length
      return recent.length < MAX_EQUAL + solved * CHECKS_PER_SOLUTION ? null : `${recent.length + 1} times in a second`
    },
  },
]

function findQueryFault(schema: TObject, query: URLSearchParams): string | null {
  const known = Object.keys(schema.properties)
  const odd = [...query.keys()].find((name) => !known.includes(name))
  if (odd !== undefined) return `the parameter ${odd}, where the endpoint has ${known.join(', ') || 'none'}`
  const twice = known.find((name) => query.getAll(name).length > 1)
  if (twice !== undefined) return `the parameter ${twice} occurs twice`
  const validator = validatorOf(schema)
  const values = parameterValues(schema, Object.fromEntries(query))
  return validator.accepts(values) ? null : validator.complaint(values)
}

function fitsOne(range: string, offered: readonly string[]): boolean {
  if (range === '*/*' || range === '') return true
  return offered.some((type) => type === range || (range.endsWith('/*') && type.startsWith(range.slice(0, -1))))
}

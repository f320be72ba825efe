/** Paths that the embedded node and the miner serve. */
import { readdirSync, readFileSync } from 'node:fs'
import { controlOperations } from '../../src/ground/schema/control.ts'
import type { Operation } from '../../src/ground/schema/operation.ts'
import { operations } from '../../src/ground/schema/operations.ts'
import { validatorOf } from '../../src/ground/schema/validator.ts'
import { root } from './blocks.ts'

export interface Route {
  /** Null for any method. */
  readonly method: string | null
  readonly matches: (path: string) => boolean
  /** Whether it accepts a JSON body; undefined if the route has none. */
  readonly accepts?: (body: unknown) => boolean
}

const PREFIX = '(?:/(?:chainweb|ledger)/0\\.0/[\\w-]+)'

/** A path with `{name}`, `:name` or `${name}` for any segment, as an expression. */
const segments = (path: string) => path.replace(/[.*+?^()|[\]\\]/g, '\\$&').replace(/\$?\{\w+\}|:\w+/g, '[^/]+')

function nodeRoute({ method, scope, path, body }: Operation): Route {
  const expression = new RegExp(`^${scope === 'network' ? PREFIX : `${PREFIX}?`}${segments(path)}$`)
  const matches = (asked: string) => expression.test(asked)
  if (body === undefined || !body.type.includes('json')) return { method, matches }
  return { method, matches, accepts: validatorOf(body.schema).accepts }
}

/** Path of a quoted string in the code of what the miner and the pages serve. */
const QUOTED_PATH = /['"`](\/(?:[\w.:-]|\$\{\w+\}|\/)*)['"`]/g

const servedByCode = [
  'src/faces/api',
  'src/faces/web/dashboard',
  'src/faces/web/explorer',
  'src/faces/web/mine-page',
  'src/devnet/http',
]
  .flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((name) => name.endsWith('.ts') && !name.includes('/browser/'))
  .flatMap((name) => [...readFileSync(`${root}${name}`, 'utf8').matchAll(QUOTED_PATH)].map(([, path]) => path))

/** Every route, those of the node first. */
export const servedRoutes: readonly Route[] = [
  ...[...Object.values(operations), ...Object.values(controlOperations)].map(nodeRoute),
  ...servedByCode.map((path) => {
    const expression = new RegExp(`^${segments(path)}$`)
    return { method: null, matches: (asked: string) => expression.test(asked) }
  }),
]

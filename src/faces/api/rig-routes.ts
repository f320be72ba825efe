/**
 * Serves workers at GET /api/rigs, and the share log as paged JSON lines at GET /api/shares and /api/shares/refused.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RigLedger } from '#mining/accounts/rig-ledger.ts'
import { rigRows, type WorkerTable } from '#mining/accounts/rig-rows.ts'
import { PAGE_HEADER, refusedCursor, refusedPage, shareCursor, sharePage } from '#mining/accounts/share-pages.ts'
import type { ShareReader } from '#mining/accounts/share-store.ts'
import type { ServedPart } from './server.ts'
import { type CurrentToken, refuseUnlessOpen } from './token.ts'

/** Default and maximum number of listed rigs. */
const RIGS = 1_000
const MAX_RIGS = 65_536
/** Default and maximum number of records of the share log. */
const LINES = 1_000
const MAX_LINES = 10_000

type Query = Readonly<Record<string, string | readonly string[] | undefined>>

export function rigRoutes(recorder: RigLedger, token: CurrentToken): ServedPart[] {
  const log = recorder.storage?.store ?? null
  return [
    {
      path: '/api/rigs',
      addTo: (app) => void app.get('/api/rigs', (request, reply) => answerRigs(request, reply, recorder)),
    },
    { path: '/api/shares', addTo: (app) => addLog(app, '/api/shares', log, token, sendShares) },
    { path: '/api/shares/refused', addTo: (app) => addLog(app, '/api/shares/refused', log, token, sendRefused) },
  ]
}

/**
 * Answers for a miner without a stratum server: names the place where its rigs are listed.
 * @param leads whether it leads a fleet
 */
export function noRigs(leads: boolean): ServedPart[] {
  const answer = leads ? LEADER : NONE
  return [
    { path: '/api/rigs', addTo: (app) => void app.get('/api/rigs', (_request, reply) => reply.code(404).send(answer)) },
  ]
}

const NONE = { error: 'this miner lets no rigs in', hint: 'start it with --stratum-listen HOST:PORT' }
const LEADER = {
  error: 'this is the leader of a fleet, and its relays let rigs in',
  hint: 'newcut fleet lists the relays; newcut rigs HOST:PORT asks one of them at its --http address',
}

function answerRigs({ query }: FastifyRequest, reply: FastifyReply, recorder: RigLedger): FastifyReply {
  const { from = 0, limit = RIGS } = numbersOf(query as Query, { from: MAX_RIGS, limit: MAX_RIGS })
  const nowMs = recorder.nowMs
  const search = (textOf(query as Query, 'search') ?? '').toLowerCase()
  const rows = rigRows(recorder.accounts, nowMs).filter(({ user, worker, agent, address }) =>
    [user, worker, agent, address].some((text) => text.toLowerCase().includes(search)),
  )
  const isLogWell = recorder.storage === null ? null : recorder.isWell
  const table: WorkerTable = { nowMs, isLogWell, total: rows.length, rigs: rows.slice(from, from + limit) }
  return reply.send(table)
}

type SendResponse = (log: ShareReader, query: Query, reply: FastifyReply) => Promise<FastifyReply>

function addLog(
  app: FastifyInstance,
  path: string,
  log: ShareReader | null,
  token: CurrentToken,
  send: SendResponse,
): void {
  app.get(path, async (request, reply) => {
    // Shares name accounts and addresses, so a configured token is required.
    const refusal = refuseUnlessOpen(request, reply, token)
    if (refusal !== null) return refusal
    if (log === null) return reply.code(404).send({ error: NO_LOG })
    return send(log, request.query as Query, reply)
  })
}

const NO_LOG = 'this miner keeps no shares: --state DIR names a folder for them'

async function sendShares(log: ShareReader, query: Query, reply: FastifyReply): Promise<FastifyReply> {
  const { from, until, limit = LINES } = numbersOf(query, { from: TIMES, until: TIMES, limit: MAX_LINES }, { limit: 1 })
  const newestFirst = choiceOf(query, 'order', ['oldest', 'newest']) === 'newest'
  const after = textOf(query, 'after')
  const page = await sharePage(
    log,
    { fromMs: from, untilMs: until, newestFirst, after: read('after', after, shareCursor) },
    limit,
  )
  return sendPage(reply, page)
}

async function sendRefused(log: ShareReader, query: Query, reply: FastifyReply): Promise<FastifyReply> {
  const { from, until, limit = LINES } = numbersOf(query, { from: TIMES, until: TIMES, limit: MAX_LINES }, { limit: 1 })
  const after = read('after', textOf(query, 'after'), refusedCursor)
  return sendPage(reply, await refusedPage(log, { fromMs: from, untilMs: until, after }, limit))
}

const TIMES = Number.MAX_SAFE_INTEGER

function sendPage(
  reply: FastifyReply,
  { lines, next }: { lines: readonly unknown[]; next: string | null },
): FastifyReply {
  if (next !== null) void reply.header(PAGE_HEADER, next)
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  return reply.type('application/x-ndjson; charset=utf-8').send(text)
}

/**
 * Reads integer query parameters. The least is 0 by default.
 * @throws an error with status 400
 */
function numbersOf<Name extends string>(
  query: Query,
  most: Readonly<Record<Name, number>>,
  least?: Readonly<Partial<Record<Name, number>>>,
) {
  const entries = Object.entries<number>(most).flatMap(([name, max]) => {
    const text = textOf(query, name)
    if (text === undefined) return []
    const min = least?.[name as Name] ?? 0
    if (!/^\d{1,16}$/.test(text) || Number(text) < min || Number(text) > max)
      throw badRequest(`${name}: expected a whole number from ${min} to ${max}`)
    return [[name, Number(text)] as const]
  })
  return Object.fromEntries(entries) as Partial<Record<Name, number>>
}

function choiceOf(query: Query, name: string, choices: readonly string[]): string | undefined {
  const text = textOf(query, name)
  if (text === undefined || choices.includes(text)) return text
  throw badRequest(`${name}: expected ${choices.join(' or ')}`)
}

function textOf(query: Query, name: string): string | undefined {
  const value = query[name]
  if (value === undefined || typeof value === 'string') return value
  throw badRequest(`${name}: given more than once`)
}

function read<T>(name: string, text: string | undefined, cursor: (text: string) => T | null): T | undefined {
  if (text === undefined) return undefined
  const value = cursor(text)
  if (value === null) throw badRequest(`${name}: expected the header ${PAGE_HEADER} of the previous page`)
  return value
}

const badRequest = (message: string) => Object.assign(new Error(message), { statusCode: 400 })

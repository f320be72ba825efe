/** Reports refused commands to the watch: one by one, or as a request if that does not parse. */
import type { FastifyRequest } from 'fastify'
import { operations } from '#ground/schema/operations.ts'
import type { Command } from '../command/command.ts'
import type { SignedCommand } from '../command/read.ts'
import type { InsertRefusal } from '../mempool/refusals.ts'
import type { TransactionWatch } from '../watch/transaction-watch.ts'
import type { UnreadableCommand } from './read-all.ts'
import type { HttpRefusal } from './refusal.ts'
import { type Router, urlOf } from './router.ts'
import { pathsOf } from './routes/command-router.ts'

/** Commands of a request, and the reason why they were refused. */
interface RefusedRequest {
  readonly chain: number
  /** As sent. */
  readonly cmds: readonly SignedCommand[]
  /** Parsed; null if one of them does not parse. */
  readonly commands: readonly Command[] | null
  readonly invalid: UnreadableCommand | InsertRefusal
  readonly refusal: HttpRefusal
}

export class RefusalReporter {
  readonly #watch: TransactionWatch
  /** Requests whose commands were reported one by one. */
  readonly #reported = new WeakSet<FastifyRequest>()

  constructor(router: Router, watch: TransactionWatch) {
    this.#watch = watch
    const urls = new Set(pathsOf(router, operations.send).map(urlOf))
    router.app.addHook('onSend', (request, reply, payload, done) => {
      const isRefused = reply.statusCode >= 400 && request.method === operations.send.method
      if (isRefused && urls.has(request.routeOptions.url ?? '') && !this.#reported.has(request)) {
        const { chain } = request.params as { readonly chain?: string }
        this.#watch.reportRefusedRequest(chainOf(chain), reply.statusCode, reasonOf(payload, reply.statusCode))
      }
      done(null, payload)
    })
  }

  /** Reports the refused commands. Call it before the response is sent. */
  report(request: FastifyRequest, { chain, cmds, commands, invalid, refusal }: RefusedRequest): void {
    if ('full' in invalid) return
    this.#reported.add(request)
    const faults = 'unread' in invalid ? [invalid.unread] : invalid.invalid
    const refused = faults.map(({ element, fault }) => {
      return { hash: cmds[element].hash, command: commands?.[element] ?? null, fault }
    })
    this.#watch.reportRefused(chain, refusal.status, refused)
  }
}

/** @returns null if the path has no chain, or an impossible one */
const chainOf = (text = '') => (/^\d{1,9}$/.test(text) ? Number(text) : null)

/** Text of a refusal. Some responses have none. */
function reasonOf(payload: unknown, status: number): string {
  const text = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.toString() : ''
  return text === '' ? `HTTP status ${status}` : text
}

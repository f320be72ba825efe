/** Tells of commands that were handed in and not taken: each of them, or their request where that cannot be read. */
import type { FastifyRequest } from 'fastify'
import type { Command } from '../../schema/bodies.ts'
import { operations } from '../../schema/operations.ts'
import type { InsertRefused } from '../mempool/mempools.ts'
import type { RefusedCommand, TransactionWatch } from '../watch/transaction-watch.ts'
import type { Refusal } from './refusal.ts'
import { type Router, urlOf } from './router.ts'
import { pathsOf } from './routes/command-router.ts'

/** Commands of a request, and why they are not taken. */
export interface NotTaken {
  readonly chain: number
  readonly cmds: readonly Command[]
  readonly invalid: InsertRefused
  readonly refusal: Refusal
}

export class SendRefusals {
  readonly #watch: TransactionWatch
  /** Requests whose commands were told one by one. */
  readonly #told = new WeakSet<FastifyRequest>()

  constructor(router: Router, watch: TransactionWatch) {
    this.#watch = watch
    const urls = new Set(pathsOf(router, operations.send).map(urlOf))
    router.app.addHook('onSend', (request, reply, payload, done) => {
      const isRefused = reply.statusCode >= 400 && request.method === operations.send.method
      if (isRefused && urls.has(request.routeOptions.url ?? '') && !this.#told.has(request)) {
        const { chain } = request.params as { readonly chain?: string }
        this.#watch.refusedWhole(chainOf(chain), reply.statusCode, reasonOf(payload, reply.statusCode))
      }
      done(null, payload)
    })
  }

  /** To be called before the answer is sent. */
  tell(request: FastifyRequest, { chain, cmds, invalid, refusal }: NotTaken): void {
    if ('full' in invalid) return
    this.#told.add(request)
    this.#watch.refused(chain, refusal.status, commandsAtFault(cmds, invalid))
  }
}

function commandsAtFault(
  cmds: readonly Command[],
  invalid: Exclude<InsertRefused, { full: unknown }>,
): RefusedCommand[] {
  const faults = 'unread' in invalid ? [invalid.unread] : invalid.invalid
  return faults.map(({ element, fault }) => ({ command: cmds[element], fault }))
}

/** null: the path has none, or one that cannot be. */
const chainOf = (text = '') => (/^\d{1,9}$/.test(text) ? Number(text) : null)

/** Some answers have no text. */
function reasonOf(payload: unknown, status: number): string {
  const text = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.toString() : ''
  return text === '' ? `HTTP status ${status}` : text
}

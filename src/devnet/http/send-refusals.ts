/** Tells of commands that were handed in and not taken: each of them, or their request where that cannot be read. */
import type { FastifyRequest } from 'fastify'
import { operations } from '../../schema/operations.ts'
import type { Command } from '../command/command.ts'
import type { SignedCommand } from '../command/read.ts'
import type { InsertRefused } from '../mempool/mempools.ts'
import type { TransactionWatch } from '../watch/transaction-watch.ts'
import type { Unread } from './read-all.ts'
import type { HttpRefusal } from './refusal.ts'
import { type Router, urlOf } from './router.ts'
import { pathsOf } from './routes/command-router.ts'

/** Commands of a request, and why they are not taken. */
export interface NotTaken {
  readonly chain: number
  /** As they came. */
  readonly cmds: readonly SignedCommand[]
  /** As they were read; null: not all can be. */
  readonly commands: readonly Command[] | null
  readonly invalid: Unread | InsertRefused
  readonly refusal: HttpRefusal
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
  tell(request: FastifyRequest, { chain, cmds, commands, invalid, refusal }: NotTaken): void {
    if ('full' in invalid) return
    this.#told.add(request)
    const faults = 'unread' in invalid ? [invalid.unread] : invalid.invalid
    const refused = faults.map(({ element, fault }) => {
      return { hash: cmds[element].hash, command: commands?.[element] ?? null, fault }
    })
    this.#watch.refused(chain, refusal.status, refused)
  }
}

/** null: the path has none, or one that cannot be. */
const chainOf = (text = '') => (/^\d{1,9}$/.test(text) ? Number(text) : null)

/** Some answers have no text. */
function reasonOf(payload: unknown, status: number): string {
  const text = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.toString() : ''
  return text === '' ? `HTTP status ${status}` : text
}

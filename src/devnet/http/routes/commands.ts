/**
 * Signed commands: local, send, poll, listen and spv (PROTOCOL.md E.3), for one chain, and below /api/v1 at the root,
 * where commands name their chain themselves, and results are looked for on all chains.
 */
import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type { Command } from '../../../schema/bodies.ts'
import type { PollBody } from '../../../schema/command-bodies.ts'
import { JSON_TYPE, None, type Operation } from '../../../schema/operation.ts'
import { operations } from '../../../schema/operations.ts'
import type { Found, Ledger } from '../../ledger/ledger.ts'
import { spvProof } from '../../ledger/spv.ts'
import { Fault, readCommand } from '../../mempool/command.ts'
import { BADLISTED, type Mempools } from '../../mempool/mempools.ts'
import type { Chains } from '../../rules/chains.ts'
import { refuse, sendJson } from '../app.ts'
import { failedResult, placedResult } from '../encode/result-text.ts'
import { type Refusal, sendRefusal, unknownChain } from '../refusal.ts'
import type { Call, Handler, Router } from '../router.ts'
import { Waiting } from '../waiting.ts'
import { answerLocal } from './local.ts'

export interface CommandRouteOptions {
  readonly chains: Chains
  readonly ledger: Ledger
  readonly pools: Mempools
  /** Most requests that wait for a result at once. */
  readonly listenLimit: number
  /** How long a request waits for a result. */
  readonly listenMs: number
}

/** Most bytes of results in one answer. */
const MAX_POLL_LENGTH = 32 * 1024 * 1024
/** Where operations of chains are served too, without a chain in their path. */
const ROOT = '/api/v1'

export function addCommandRoutes(router: Router, options: CommandRouteOptions): void {
  const { chains, ledger, pools } = options
  const all = chains.chainIds
  const results = new Results(ledger, pools)
  const waiting = new Waiting({
    limit: options.listenLimit,
    waitMs: options.listenMs,
    onCut: (listener) => void chains.onCut(listener),
  })

  /** Serves an operation for the chain of its path, and at the root for those that `chainsOf` finds in its body. */
  function serve<const O extends Operation>(
    operation: O,
    chainsOf: (body: Call<O>['body']) => readonly number[] | Refusal,
    handler: (chains: readonly number[], call: Call<O>, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>,
  ): void {
    const onChain: Handler<O> = (call, reply) => handler([call.chain], call, reply)
    const atRoot: Handler<O> = (call, reply) => {
      const found = chainsOf(call.body)
      return 'status' in found ? refuse(reply, found) : handler(found, call, reply)
    }
    router.serve(operation, onChain)
    router.serveAt(`${ROOT}/${operation.id}`, { ...operation, params: None }, atRoot as never)
  }
  const ofCommands = (commands: readonly Command[]) => chainOf(commands, all)

  serve(
    operations.local,
    (command) => ofCommands([command]),
    ([chain], { body, query }, reply) => answerLocal(reply, { chain, command: body, query }, { chains, ledger }),
  )
  serve(
    operations.send,
    ({ cmds }) => ofCommands(cmds),
    ([chain], { body: { cmds } }, reply) => {
      const refused = pools.submit(chain, cmds)
      if (refused !== null) return refuse(reply, sendRefusal(refused))
      return sendJson(reply, JSON_TYPE, JSON.stringify({ requestKeys: cmds.map(({ hash }) => hash) }))
    },
  )
  serve(
    operations.poll,
    () => all,
    (on, { body, query }, reply) => sendPolled(reply, body, (key) => results.find(on, key, query.confirmationDepth)),
  )
  serve(
    operations.listen,
    () => all,
    async (on, { body, request }, reply) => {
      const look = () => results.find(on, body.listen)
      const found = look()
      if (found !== null) return sendJson(reply, JSON_TYPE, found)
      if (waiting.isFull) return refuse(reply, tooManyWaiting(waiting.limit))
      const left = new AbortController()
      reply.raw.once('close', () => left.abort())
      if (request.raw.destroyed) left.abort()
      const answer = await waiting.wait(on, look, left.signal)
      if (answer !== null) return sendJson(reply, JSON_TYPE, answer)
      return left.signal.aborted ? reply.hijack() : refuse(reply, { status: 504, message: '' })
    },
  )
  serve(
    operations.spv,
    () => all,
    (on, { body: { requestKey, targetChainId } }, reply) => {
      const refused = (message: string) => refuse(reply, { status: 400, message })
      for (const chain of on) {
        const found = results.block(chain, requestKey)
        if (found === null) continue
        const { block, index } = found
        const answer = spvProof(chains, { chain, requestKey, block, index, targetChain: Number(targetChainId) })
        return 'fault' in answer ? refused(answer.fault) : sendJson(reply, JSON_TYPE, JSON.stringify(answer.proof))
      }
      return refused(`Transaction hash not found: "${requestKey}"`)
    },
  )
}

/** Results of commands by request key, as JSON text. */
class Results {
  readonly #ledger: Ledger
  readonly #pools: Mempools

  constructor(ledger: Ledger, pools: Mempools) {
    this.#ledger = ledger
    this.#pools = pools
  }

  block(chain: number, key: string, confirmationDepth = 0): Found | null {
    return this.#ledger.result(chain, key, confirmationDepth)
  }

  /** The result on one of these chains; null: there is none. */
  find(chains: readonly number[], key: string, confirmationDepth = 0): string | null {
    for (const chain of chains) {
      const found = this.block(chain, key, confirmationDepth)
      if (found !== null) return placedResult(found.output, found.block)
    }
    const isBadlisted = chains.some((chain) => this.#pools.isBadlisted(chain, key))
    return isBadlisted ? failedResult(key, BADLISTED) : null
  }
}

function sendPolled(
  reply: FastifyReply,
  { requestKeys }: Static<typeof PollBody>,
  find: (key: string) => string | null,
): FastifyReply {
  const texts: string[] = []
  let length = 0
  for (const key of new Set(requestKeys)) {
    const result = find(key)
    if (result === null) continue
    texts.push(`"${key}":${result}`)
    length += result.length
    if (length > MAX_POLL_LENGTH) {
      const message = `the answer would exceed ${MAX_POLL_LENGTH} bytes; ask for fewer results at once`
      return refuse(reply, { status: 400, message })
    }
  }
  return sendJson(reply, JSON_TYPE, `{${texts.join(',')}}`)
}

/** The chain that all of these commands name. */
function chainOf(commands: readonly Command[], chains: readonly number[]): readonly [number] | Refusal {
  const names = new Set<string>()
  for (const [i, command] of commands.entries()) {
    const read = readCommand(command)
    if (read instanceof Fault) return { status: 400, message: `Validation failed: element ${i}: ${read.message}` }
    names.add(read.payload.meta.chainId)
  }
  const [name] = names
  if (names.size > 1) {
    const message = `commands for several chains (${[...names].join(', ')}): send those of each chain for themselves`
    return { status: 400, message }
  }
  const chain = chains.find((each) => String(each) === name)
  return chain === undefined ? { ...unknownChain(name, chains.length), status: 400 } : [chain]
}

const tooManyWaiting = (limit: number): Refusal => ({
  status: 503,
  message: `${limit} requests wait for results already: try again later`,
})

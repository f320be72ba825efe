/** Signed commands: local, send, poll, listen, spv and private (PROTOCOL.md E.3). */

import type { FastifyReply } from 'fastify'
import type { Clock } from '#ground/base/clock.ts'
import { JSON_TYPE } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import { CommandFault, readCommand, readPrivateCommand, type SignedCommand } from '../../command/read.ts'
import { headOf } from '../../control/block-maker.ts'
import type { Calls } from '../../execution/calls.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { PrivateLedger } from '../../ledger/private.ts'
import { spvProof } from '../../ledger/spv.ts'
import { privateFault } from '../../mempool/checks.ts'
import type { Mempools } from '../../mempool/mempools.ts'
import type { Chains } from '../../rules/chains.ts'
import type { NetworkRules } from '../../rules/network-rules.ts'
import type { TimeSlicer } from '../../time-slicer.ts'
import { sendJson, writeRefusal } from '../app.ts'
import { isUnreadable, readAll } from '../read-all.ts'
import { sendRefusal } from '../refusal.ts'
import type { RefusalReporter } from '../refusal-reporter.ts'
import { CommandResults } from '../results.ts'
import type { Router } from '../router.ts'
import { ResultWaiters } from '../waiting.ts'
import { chainOf, parserForAll, serveCommands } from './command-router.ts'
import { answerLocal, readLocal } from './local.ts'

interface CommandRouteOptions {
  readonly chains: Chains
  readonly ledger: Ledger
  /** Executes read-only calls. */
  readonly calls: Calls
  readonly privateLedger: PrivateLedger
  readonly pools: Mempools
  /** Parses the commands of a request in time slices. */
  readonly turns: TimeSlicer
  readonly rules: NetworkRules
  /** Reports refused commands; null if nobody listens. */
  readonly refusals: RefusalReporter | null
  /** Maximum requests that wait for a result at once. */
  readonly listenLimit: number
  /** Longest wait of a request for a result. */
  readonly listenMs: number
  readonly clock: Clock
}

/** Maximum bytes of results in one response: a request may name thousands of large ones. */
const MAX_POLL_LENGTH = 32 * 1024 * 1024

const refuseCommand = (reply: FastifyReply, message: string) => writeRefusal(reply, { status: 400, message })
const sendKeys = (reply: FastifyReply, commands: readonly SignedCommand[]) =>
  sendJson(reply, JSON_TYPE, JSON.stringify({ requestKeys: commands.map(({ hash }) => hash) }))

export function addCommandRoutes(router: Router, options: CommandRouteOptions): void {
  const { chains, pools, refusals, turns } = options
  const all = chains.chainIds
  const results = new CommandResults(options)
  serveCommands(
    router,
    operations.local,
    {
      read: (call, chain) => readLocal(call, chain, chains.network.blockGas),
      chainsOf: ({ read }) =>
        chainOf(read instanceof CommandFault ? { unread: { element: 0, fault: read.message } } : [read], all),
    },
    ({ chains: [chain], read: local, call: { query } }, reply) => answerLocal(reply, { chain, local, query }, options),
  )
  serveCommands(
    router,
    operations.send,
    {
      read: ({ body: { cmds } }) => turns.run('commands', readAll(cmds, readCommand)),
      chainsOf: (read) => chainOf(read, all),
    },
    async ({ chains: [chain], read, call: { body } }, reply) => {
      const { cmds } = body
      const invalid = isUnreadable(read) ? read : await pools.submit(chain, read)
      if (invalid === null) return sendKeys(reply, cmds)
      const refusal = sendRefusal(invalid)
      refusals?.report(reply.request, { chain, cmds, commands: isUnreadable(read) ? null : read, invalid, refusal })
      return writeRefusal(reply, refusal)
    },
  )
  serveCommands(
    router,
    operations.poll,
    parserForAll(all),
    (
      {
        chains: on,
        read: { requestKeys },
        call: {
          query: { confirmationDepth },
        },
      },
      reply,
    ) => sendPolled(reply, new Set(requestKeys), (key) => results.find(on, key, confirmationDepth)),
  )
  serveCommands(
    router,
    operations.spv,
    parserForAll(all),
    ({ chains: on, read: { requestKey, targetChainId } }, reply) => {
      const found = results.block(on, requestKey)
      if (found === null) return refuseCommand(reply, `Transaction hash not found: "${requestKey}"`)
      const answer = spvProof(chains, { ...found, requestKey, targetChain: Number(targetChainId) })
      if ('fault' in answer) return refuseCommand(reply, answer.fault)
      return sendJson(reply, JSON_TYPE, JSON.stringify(answer.proof))
    },
  )
  // Private commands name no chain.
  serveCommands(router, operations.private, parserForAll([0]), async ({ chains: [chain], read: command }, reply) => {
    const fault = await submitPrivately(options, chain, command)
    return fault === null ? sendKeys(reply, [command]) : refuseCommand(reply, `Validation failed: ${fault}`)
  })
  addListen(router, options, results)
}

function sendPolled(
  reply: FastifyReply,
  keys: ReadonlySet<string>,
  find: (key: string) => string | null,
): FastifyReply {
  const texts: string[] = []
  let length = 0
  for (const key of keys) {
    const result = find(key)
    if (result === null) continue
    texts.push(`"${key}":${result}`)
    length += result.length
    if (length > MAX_POLL_LENGTH) {
      return refuseCommand(reply, `the answer would exceed ${MAX_POLL_LENGTH} bytes; ask for fewer results at once`)
    }
  }
  return sendJson(reply, JSON_TYPE, `{${texts.join(',')}}`)
}

/** Submits a private command. @returns the reason for a refusal, or null if it was accepted */
async function submitPrivately(
  { chains, privateLedger, rules, pools }: CommandRouteOptions,
  chain: number,
  signed: SignedCommand,
): Promise<string | null> {
  const command = readPrivateCommand(signed)
  if (command instanceof CommandFault) return command.message
  const unverified = await pools.verify(chain, command)
  if (unverified !== null) return unverified
  const fault = privateFault(command, { network: chains.network.name, ...rules.on(headOf(chains.cut, chain)) })
  if (fault === null) privateLedger.submit(chain, command)
  return fault
}

function addListen(
  router: Router,
  { chains, listenLimit, listenMs, clock }: CommandRouteOptions,
  results: CommandResults,
): void {
  const waiting = new ResultWaiters({
    limit: listenLimit,
    waitMs: listenMs,
    clock,
    onCut: (listener) => void chains.onCut(listener),
  })
  serveCommands(
    router,
    operations.listen,
    parserForAll(chains.chainIds),
    async ({ chains: on, read: { listen: key } }, reply) => {
      const look = () => results.find(on, key)
      const found = look()
      if (found !== null) return sendJson(reply, JSON_TYPE, found)
      if (waiting.isFull) {
        const message = `${waiting.limit} requests wait for results already: try again later`
        return writeRefusal(reply, { status: 503, message })
      }
      const left = leaving(reply)
      const answer = await waiting.wait(on, look, left)
      if (answer !== null) return sendJson(reply, JSON_TYPE, answer)
      // Nobody reads a response to a client that has left.
      return left.aborted ? reply.hijack() : writeRefusal(reply, { status: 504, message: '' })
    },
  )
}

/** @returns a signal that aborts when the client leaves */
function leaving(reply: FastifyReply): AbortSignal {
  const left = new AbortController()
  reply.raw.once('close', () => left.abort())
  // A client that left before its request was handled emits no further event.
  if (reply.raw.destroyed) left.abort()
  return left.signal
}

/** `POST /devnet/trace`: executes a transaction again, and returns its steps. */

import type { FastifyReply } from 'fastify'
import { exactJsonText, fieldsOf, parseExactJson } from '#ground/base/json.ts'
import { JSON_TYPE } from '#ground/schema/operation.ts'
import { replayOperation } from '#ground/schema/replay.ts'
import { type TraceRequest, traceOperation } from '#ground/schema/trace.ts'
import type { Static } from '#ground/schema/typebox.ts'
import { hashBytes } from '#language/contracts/values/hash.ts'
import type { Command } from '../../command/command.ts'
import { CommandFault, readCommand } from '../../command/read.ts'
import type { MissingTrace, Traces } from '../../execution/traces.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { TracedCommand } from '../../ledger/trace.ts'
import type { Mempools } from '../../mempool/mempools.ts'
import type { Chains } from '../../rules/chains.ts'
import type { Block } from '../../store/block-store.ts'
import type { TransactionIndex } from '../../store/transaction-index.ts'
import { sendJson, writeRefusal } from '../app.ts'
import { JsonObjectWriter } from '../encode/json-object.ts'
import { RequestRefused, refusalOf, unknownChain } from '../refusal.ts'
import type { Router } from '../router.ts'
import { overridesIn } from './trace-overrides.ts'

interface TraceRouteOptions {
  readonly chains: Chains
  readonly ledger: Ledger
  readonly pools: Mempools
  readonly index: TransactionIndex
  readonly traces: Traces
}

type Trace = Static<typeof TraceRequest>

/** Where a traced command runs. */
interface TracedPlace {
  readonly requestKey: string
  readonly chain: number
  readonly block: {
    readonly height: number
    readonly hash: string
    readonly isOrphan: boolean
    readonly index: number
  } | null
}

const encoder = new TextEncoder()

export function addTraceRoutes(router: Router, options: TraceRouteOptions): void {
  addReplayRoute(router, options)
  router.serve(traceOperation, async ({ body }, reply) => {
    try {
      return await answer(reply, options, body)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === null) throw error
      return writeRefusal(reply, refusal)
    }
  })
}

/** Serves what a debugger needs to execute a transaction in its own process. */
function addReplayRoute(router: Router, options: TraceRouteOptions): void {
  router.serve(replayOperation, async ({ body: { requestKey, block, reads = [] } }, reply) => {
    try {
      const found = findBlock(options, requestKey, block)
      const recording = await options.traces.recordInBlock(found.block, found.at.block.index, reads)
      if ('kind' in recording) throw missingTrace(found.at, recording)
      return sendJson(reply, JSON_TYPE, JSON.stringify({ ...found.at, recording }))
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === null) throw error
      return writeRefusal(reply, refusal)
    }
  })
}

async function answer(reply: FastifyReply, options: TraceRouteOptions, request: Trace): Promise<FastifyReply> {
  const { requestKey, cmd, block, overrides } = request
  if ((requestKey === undefined) === (cmd === undefined)) {
    throw new RequestRefused(400, 'a trace takes either requestKey, of a transaction in a block, or cmd, a command')
  }
  if (requestKey !== undefined) {
    if (overrides !== undefined)
      throw new RequestRefused(400, 'overrides go with cmd: a transaction of a block has run')
    const found = findBlock(options, requestKey, block)
    return send(reply, found.at, await options.traces.traceInBlock(found.block, found.at.block.index))
  }
  if (block !== undefined) throw new RequestRefused(400, 'block goes with requestKey: a cmd runs on top of its chain')
  const command = commandIn(cmd)
  const chain = Number(command.meta.chainId)
  const { chainIds } = options.chains
  if (!chainIds.includes(chain)) {
    throw new RequestRefused(400, `cmd: ${unknownChain(command.meta.chainId, chainIds.length).message}`)
  }
  const traced = await options.traces.traceAtHead(chain, command, (state) => overridesIn(state, overrides ?? {}))
  return send(reply, { requestKey: command.key, chain, block: null }, traced)
}

/** @throws RequestRefused for a text that is not a command */
function commandIn(cmd: Trace['cmd']): Command {
  const signed = typeof cmd === 'string' ? { hash: hashBytes(encoder.encode(cmd)), sigs: [], cmd } : cmd
  if (signed === undefined) throw new RequestRefused(400, 'cmd: missing')
  const command = readCommand(signed)
  if (command instanceof CommandFault) throw new RequestRefused(400, `cmd: ${command.message}`)
  return command
}

/** Finds the block of a transaction: on its chain, or else the newest orphan. @throws RequestRefused */
function findBlock(
  { chains, ledger, pools, index }: TraceRouteOptions,
  key: string,
  wanted: string | undefined,
): { readonly block: Block; readonly at: TracedPlace & { readonly block: NonNullable<TracedPlace['block']> } } {
  if (!/^[\w-]{43}$/.test(key)) {
    throw new RequestRefused(400, `requestKey ${JSON.stringify(key)}: not 43 characters of base64url`)
  }
  const places = index.find(key)
  const chosen = wanted === undefined ? places : places.filter(({ block }) => block === wanted)
  const onChain = (chain: number) => ledger.result(chain, key)?.block.id
  const place = chosen.find(({ chain, block }) => onChain(chain) === block) ?? chosen.at(-1)
  const block = place === undefined ? undefined : chains.store.byId(place.block, place.chain)
  if (place === undefined || block === undefined) throw missingError({ chains, pools }, key, wanted)
  const { chain, height, index: at } = place
  const isOrphan = onChain(chain) !== block.id
  return { block, at: { requestKey: key, chain, block: { height, hash: block.id, isOrphan, index: at } } }
}

/** Why no block has the transaction. */
function missingError(
  { chains, pools }: Pick<TraceRouteOptions, 'chains' | 'pools'>,
  key: string,
  wanted: string | undefined,
): RequestRefused {
  if (wanted !== undefined) return new RequestRefused(404, `block ${wanted} has no transaction ${key}`)
  const waiting = chains.chainIds.find((chain) => pools.poolOf(chain).get(key) !== undefined)
  if (waiting !== undefined) {
    const text = `transaction ${key} is pending on chain ${waiting}: it runs once it is in a block (POST /make-blocks)`
    return new RequestRefused(409, text)
  }
  const refused = chains.chainIds.find((chain) => pools.isBadlisted(chain, key))
  if (refused !== undefined) {
    return new RequestRefused(404, `transaction ${key} is in no block: chain ${refused} refused it when it made one`)
  }
  const text = `no block of this network has a transaction ${key}, orphans included, and it is not pending`
  const height = chains.store.heightAt(0)
  const below =
    height === 0 ? '' : `. Blocks up to the fork at height ${height} have no traces: the forked network ran them`
  return new RequestRefused(404, text + below)
}

function send(reply: FastifyReply, at: TracedPlace, traced: TracedCommand | MissingTrace): FastifyReply {
  if ('kind' in traced) throw missingTrace(at, traced)
  const { trace, gas, hasFailed, note, output } = traced
  const about = { ...at, status: hasFailed ? 'failure' : 'success', gas, note }
  const result = exactJsonText(fieldsOf(parseExactJson(output)).result ?? null)
  return sendJson(reply, JSON_TYPE, new JsonObjectWriter().fields(about).raw('result', result).members(trace).text)
}

function missingTrace({ requestKey }: TracedPlace, reason: MissingTrace): RequestRefused {
  return new RequestRefused(409, `transaction ${requestKey} ${noTraceText(reason)}`)
}

function noTraceText(reason: MissingTrace): string {
  switch (reason.kind) {
    case 'genesis':
      return 'is in the first block, which is executed when a network begins: it has no trace'
    case 'stopped':
      return reason.by === 'time'
        ? 'has no trace: its run was stopped after 2 s of processor time'
        : 'has no trace: its run took too much memory'
    case 'changed':
      return `has no trace: the block does not execute again as it did: ${reason.why}`
  }
}

/** mining/work, mining/solved, mining/updates (PROTOCOL.md A.1 to A.3). */
import { readU32LE } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { BINARY, JSON_TYPE } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import type { Coordinator } from '../../work/coordinator.ts'
import { writeRefusal } from '../app.ts'
import { noWorkRefusal, solutionRefusal } from '../refusal.ts'
import type { Router } from '../router.ts'
import { Broadcast, noMoreStreams } from '../stream/broadcast.ts'
import type { StreamGate } from '../stream/stream-gate.ts'

interface MiningRouteOptions {
  readonly coordinator: Coordinator
  /** Resolves once every block so far survives the end of the process. Only then does the miner get a success. */
  readonly durable: () => Promise<void>
  readonly chains: number
  /** Lifetime of an update stream; each one gets this times a random factor in [0.9, 1.1). */
  readonly updateStreamMs: number
  /** Maximum update streams at once. */
  readonly updateStreamLimit: number
  readonly random: () => number
  readonly clock: Clock
  readonly streams: StreamGate
}

export function addMiningRoutes(router: Router, options: MiningRouteOptions): void {
  const { coordinator, durable } = options
  router.serve(operations.work, async ({ query, body }, reply) => {
    const account = { account: body.account, predicate: body.predicate, publicKeys: body['public-keys'] }
    const answer = await coordinator.workLater(account, query.chain ?? null)
    if (!(answer instanceof Uint8Array)) return writeRefusal(reply, noWorkRefusal(answer))
    return reply.type(BINARY).send(Buffer.from(answer))
  })
  router.serve(operations.solved, async ({ body }, reply) => {
    const refused = coordinator.solve(body)
    if (refused !== null) return writeRefusal(reply, solutionRefusal(refused))
    await durable()
    return reply.code(200).type(JSON_TYPE).send('')
  })
  addUpdates(router, options)
}

function addUpdates(router: Router, options: MiningRouteOptions): void {
  const { coordinator, chains, updateStreamLimit, updateStreamMs, random, clock, streams: gate } = options
  const streams = Array.from({ length: chains }, (_, chain) => {
    const all = new Broadcast((reply, onClose) => gate.open('mining', reply, onClose))
    coordinator.onNewWork(chain, (event) => all.send(`event:${event}\n\n`))
    return all
  })
  let open = 0
  router.serve(operations.updates, ({ body }, reply) => {
    if (body.length !== 4) {
      return writeRefusal(reply, {
        status: 400,
        message: `expected a body of 4 bytes, the chain id; got ${body.length}`,
      })
    }
    const chain = readU32LE(body, 0)
    if (chain >= chains) return writeRefusal(reply, { status: 400, message: `there is no chain ${chain}` })
    if (open >= updateStreamLimit) return noMoreStreams(reply)
    open++
    const cancel = clock.after(updateStreamMs * (0.9 + 0.2 * random()), () => stream.close())
    const stream = streams[chain].open(reply, () => {
      open--
      cancel()
    })
    return reply
  })
}

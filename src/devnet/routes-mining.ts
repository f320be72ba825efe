/** mining/work, mining/solved, mining/updates (PROTOCOL.md A.1 to A.3). */
import { Value } from 'typebox/value'
import { readU32LE } from '../core/bytes.ts'
import { MinerBody } from '../schema/interface.ts'
import type { Coordinator } from './coordinator.ts'
import { type App, accepted, BINARY, JSON_TYPE, openEventStream, refuse, refuseOtherMethods, TEXT } from './http.ts'

export interface MiningRouteOptions {
  readonly coordinator: Coordinator
  readonly chains: number
  /** How long an update stream stays open: this time x [0.9, 1.1). */
  readonly updateStreamMs: number
  /** Most update streams at once. */
  readonly updateStreamLimit: number
  readonly random: () => number
}

export function addMiningRoutes(app: App, prefix: string, options: MiningRouteOptions): void {
  addWork(app, `${prefix}/mining/work`, options)
  addSolved(app, `${prefix}/mining/solved`, options)
  addUpdates(app, `${prefix}/mining/updates`, options)
}

function addWork(app: App, url: string, { coordinator }: MiningRouteOptions): void {
  refuseOtherMethods(app, url, ['GET'])
  app.get(url, (request, reply) => {
    const mime = (request.headers['content-type'] ?? BINARY).split(';')[0].trim().toLowerCase()
    if (mime !== 'application/json') {
      return refuse(reply, {
        status: 415,
        message: 'expected application/json with account, predicate and public-keys',
      })
    }
    if (accepted(request, [BINARY]) === null) return reply.code(406).send()
    const chain = (request.query as { chain?: string }).chain
    if (chain !== undefined && !/^\d{1,9}$/.test(chain)) {
      return refuse(reply, { status: 400, message: `chain: ${JSON.stringify(chain)} is not a chain id` })
    }
    const miner = parseMiner(request.body)
    if (typeof miner === 'string') return refuse(reply, { status: 400, message: miner })
    const account = { account: miner.account, predicate: miner.predicate, publicKeys: miner['public-keys'] }
    const answer = coordinator.work(account, chain === undefined ? null : Number(chain))
    if (!(answer instanceof Uint8Array)) return refuse(reply, answer)
    return reply.type(BINARY).send(Buffer.from(answer))
  })
}

/** The account in a work request, or what is wrong with it. */
function parseMiner(body: unknown): MinerBody | string {
  let json: unknown
  try {
    json = JSON.parse(Buffer.isBuffer(body) ? body.toString('utf8') : '')
  } catch (error) {
    return `Error in the request body: ${error instanceof Error ? error.message : error}`
  }
  if (Value.Check(MinerBody, json)) return json
  const [first] = Value.Errors(MinerBody, json)
  return `Error in the request body: ${first?.instancePath || 'miner'} ${first?.message ?? 'is not a miner'}`
}

function addSolved(app: App, url: string, { coordinator }: MiningRouteOptions): void {
  refuseOtherMethods(app, url, ['POST'])
  app.post(url, (request, reply) => {
    const mime = (request.headers['content-type'] ?? BINARY).split(';')[0].trim().toLowerCase()
    if (mime !== BINARY) return refuse(reply, { status: 415, message: `expected ${BINARY}` })
    const body = Buffer.isBuffer(request.body) ? new Uint8Array(request.body) : new Uint8Array(0)
    const refusal = coordinator.solve(body)
    if (refusal !== null) return refuse(reply, refusal)
    return reply.code(200).type(JSON_TYPE).send('')
  })
}

function addUpdates(app: App, url: string, options: MiningRouteOptions): void {
  const { coordinator, chains, updateStreamLimit, updateStreamMs, random } = options
  let open = 0
  refuseOtherMethods(app, url, ['GET'])
  app.get(url, (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    if (body.length !== 4) {
      return refuse(reply, { status: 400, message: `expected a body of 4 bytes, the chain id; got ${body.length}` })
    }
    const chain = readU32LE(body, 0)
    if (chain >= chains) return refuse(reply, { status: 400, message: `there is no chain ${chain}` })
    if (open >= updateStreamLimit) {
      const message = 'No more update streams available currently. Retry later.'
      return reply.code(503).type(TEXT).send(message)
    }
    open++
    const timer = setTimeout(() => stream.close(), updateStreamMs * (0.9 + 0.2 * random()))
    const unsubscribe = coordinator.onNewWork(chain, () => stream.send('event:New Cut\n\n'))
    const stream = openEventStream(reply, () => {
      open--
      clearTimeout(timer)
      unsubscribe()
    })
    return reply
  })
}

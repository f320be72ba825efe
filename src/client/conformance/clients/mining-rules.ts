/** Rules for miners: work, solutions and the stream of updates. */
import { encodeHex, readU32LE } from '#ground/base/bytes.ts'
import { solves } from '#ground/chain/pow.ts'
import { fixedPartOf } from './client-history.ts'
import type { ClientRule } from './http-rules.ts'

/** Bytes of work on a graph without neighbours: 178, and 36 more for each neighbour. */
const LEAST_WORK_BYTES = 178
const CHAIN_BYTES = 4
/** A second request may be in flight while the first gets its answer. */
const IN_FLIGHT_MS = 1000

export const miningRules: readonly ClientRule[] = [
  {
    name: 'a request for work has the account in its body',
    source: 'PROTOCOL.md A.1',
    judge: ({ operation, body }) => {
      if (operation?.id !== 'work') return undefined
      return body.length > 0 ? null : 'no body: some libraries leave it out of a GET, or do not send its length'
    },
  },
  {
    name: 'a solution is work that the node gave, changed only where miners may',
    source: 'PROTOCOL.md A.2, A.5',
    judge: ({ operation, body }, { works }) => {
      if (operation?.id !== 'solved') return undefined
      if (body.length < LEAST_WORK_BYTES) return `${body.length} bytes`
      return works.has(fixedPartOf(body)) ? null : 'no work of this node has these bytes'
    },
  },
  {
    name: 'the hash of a solution meets its target',
    source: 'PROTOCOL.md A.2, B.3',
    judge: ({ operation, body }) => {
      if (operation?.id !== 'solved' || body.length < LEAST_WORK_BYTES) return undefined
      return solves(body) ? null : 'the hash is above the target: the node forgets the payload'
    },
  },
  {
    name: 'a solution that the node took is not submitted again',
    source: 'PROTOCOL.md A.2',
    judge: ({ operation, body, atMs }, { acceptedSolutions }) => {
      if (operation?.id !== 'solved') return undefined
      const takenMs = acceptedSolutions.get(encodeHex(body)) ?? Number.POSITIVE_INFINITY
      return atMs - takenMs > IN_FLIGHT_MS ? 'the node has answered 2xx to these bytes before' : null
    },
  },
  {
    name: 'the stream of updates is about a chain of work that the client got',
    source: 'PROTOCOL.md A.3',
    judge: ({ operation, body }, { workChains }) => {
      if (operation?.id !== 'updates') return undefined
      if (body.length !== CHAIN_BYTES) return `a body of ${body.length} bytes, where the chain is 4 bytes LE`
      const chain = readU32LE(body, 0)
      return workChains.has(chain) ? null : `chain ${chain}: no work of this chain was given`
    },
  },
]

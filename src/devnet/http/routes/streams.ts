/** Streams of new headers and blocks (PROTOCOL.md E.1). */
import { encodeHex } from '#ground/base/bytes.ts'
import type { ProductWord } from '#ground/chain/header-json.ts'
import { graphAt } from '#ground/chain/network.ts'
import { powHash } from '#ground/chain/pow.ts'
import { operations } from '#ground/schema/operations.ts'
import type { Chains } from '../../rules/chains.ts'
import { headerObjectWriter, textOf } from '../encode/header-text.ts'
import { payloadOutputsText } from '../encode/payload-text.ts'
import type { Router } from '../router.ts'
import { Broadcast, noMoreStreams } from '../stream/broadcast.ts'
import type { StreamGate } from '../stream/stream-gate.ts'

interface StreamRouteOptions {
  readonly chains: Chains
  readonly product: ProductWord
  /** Maximum streams of headers and blocks together. */
  readonly streamLimit: number
  readonly streams: StreamGate
}

const HASH_BYTES = 32
const bigEndianHex = (bytes: Uint8Array) => encodeHex(bytes.toReversed())

export function addStreamRoutes(router: Router, { chains, product, streamLimit, streams }: StreamRouteOptions): void {
  const headers = new Broadcast((reply, onClose) => streams.open('header', reply, onClose))
  const blocks = new Broadcast((reply, onClose) => streams.open('block', reply, onClose))
  const writeObject = headerObjectWriter(graphAt(chains.network, 0).degree, product, chains.network)
  chains.onBlock(({ bytes, header, payload }) => {
    if (headers.size + blocks.size === 0) return
    const properties = [
      `"header":${textOf(writeObject, bytes)}`,
      `"txCount":${payload.transactions.length}`,
      `"powHash":"${bigEndianHex(powHash(bytes.subarray(0, bytes.length - HASH_BYTES)))}"`,
      `"target":"${header.target.toString(16).padStart(2 * HASH_BYTES, '0')}"`,
    ]
    headers.send(`event:BlockHeader\ndata:{${properties.join(',')}}\n\n`)
    if (blocks.size === 0) return
    properties.push(`"payloadWithOutputs":${payloadOutputsText(payload)}`)
    blocks.send(`event:BlockHeader\ndata:{${properties.join(',')}}\n\n`)
  })
  const serve = (operation: typeof operations.headerUpdates | typeof operations.blockUpdates, all: Broadcast) =>
    router.serve(operation, (_call, reply) => {
      if (headers.size + blocks.size >= streamLimit) return noMoreStreams(reply)
      all.open(reply)
      return reply
    })
  serve(operations.headerUpdates, headers)
  serve(operations.blockUpdates, blocks)
}

/** A node that reports of blocks whatever a test sets. */

import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import type { PaymentModel } from '../../src/ground/chain/coinbase.ts'
import { development } from '../../src/ground/chain/network-data.ts'
import type { PayloadWithOutputs } from '../../src/ground/schema/bodies.ts'
import type { BlockNode, BlockPlace } from '../../src/pool/payouts/found-blocks.ts'

/** The coinbase output of a block. */
export interface Paid {
  readonly account: string
  readonly amount: string
}

export class ChainOfWords implements BlockNode {
  readonly places = new Map<string, BlockPlace>()
  readonly paid = new Map<string, Paid | null>()
  /** Blocks whose place was requested. */
  readonly asked: string[] = []

  set(block: string, place: BlockPlace, paid?: Paid | null): void {
    this.places.set(block, place)
    if (paid !== undefined) this.paid.set(block, paid)
  }

  /** Coinbases pay by an event and by the text of their result, with other amounts. */
  payment: PaymentModel = { model: 'event' }

  get network() {
    return { payment: this.payment, graphHistory: development.graphHistory }
  }

  readonly placeOf = async ({ hash }: { readonly hash: Uint8Array }): Promise<BlockPlace> => {
    const block = encodeBase64Url(hash)
    this.asked.push(block)
    return this.places.get(block) ?? { kind: 'awaited' }
  }

  readonly client = {
    // The payload hash stands for the block.
    header: async (_chain: number, block: string) => ({ payloadHash: block }),
    payloadOutputs: async (_chain: number, block: unknown) => {
      const paid = this.paid.get(block as string) ?? null
      const event = paid && `{"name":"TRANSFER","params":["","${paid.account}",${paid.amount}]}`
      const text = paid && `${paid.account} got 1${paid.amount} coins`
      const output = `{"events":[${event ?? ''}],"result":{"status":"success","data":${JSON.stringify(text)}}}`
      return {
        coinbase: encodeBase64Url(new TextEncoder().encode(output)),
        minerData: '',
      } as unknown as PayloadWithOutputs
    },
  } as unknown as BlockNode['client']
}

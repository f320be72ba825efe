/** Mempool endpoints: rows of the table of operations. */

import { CommandTexts, Membership, MempoolLookup, PendingTransactions, RequestKeys } from './bodies.ts'
import { ChainParams, json, None, type Operation } from './operation.ts'
import { Type } from './typebox.ts'

const mempool = { scope: 'network', method: 'POST', group: 'mempool', params: ChainParams, query: None } as const
const keys = { type: 'application/json', schema: RequestKeys }
const INT64_PATTERN = '^-?[0-9]{1,20}$'

/** A signed 64-bit integer as text; a number would lose digits. */
const int64Text = (description: string) =>
  Type.Refine(
    Type.String({ pattern: INT64_PATTERN, description }),
    (text) => new RegExp(INT64_PATTERN).test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text),
    () => 'must be a signed 64-bit integer',
  )

export const mempoolOperations = {
  mempoolPending: {
    ...mempool,
    id: 'mempoolPending',
    path: '/chain/{chain}/mempool/getPending',
    summary: 'hashes of pending transactions: all, or those since a mark',
    query: Type.Object({
      nonce: Type.Optional(int64Text('server nonce of the mark, int64')),
      since: Type.Optional(int64Text('transaction id of the mark, int64')),
    }),
    responses: { 200: json(PendingTransactions) },
  },
  mempoolMember: {
    ...mempool,
    id: 'mempoolMember',
    path: '/chain/{chain}/mempool/member',
    summary: 'check which transactions are pending',
    body: keys,
    responses: { 200: json(Membership) },
  },
  mempoolLookup: {
    ...mempool,
    id: 'mempoolLookup',
    path: '/chain/{chain}/mempool/lookup',
    summary: 'pending transactions',
    body: keys,
    responses: { 200: json(Type.Array(MempoolLookup)) },
  },
  mempoolInsert: {
    ...mempool,
    id: 'mempoolInsert',
    method: 'PUT',
    path: '/chain/{chain}/mempool/insert',
    summary: 'add transactions',
    body: { type: 'application/json', schema: CommandTexts },
    responses: { 200: { description: 'inserted' } },
  },
} as const satisfies Record<string, Operation>

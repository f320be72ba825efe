/** Hashes that the runner computes again from what the node sent. */
import { decodeBase64Url, encodeBase64Url, encodeHex } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import type { Json } from '#ground/base/json.ts'
import { blake2b256 } from '#ground/chain/blake2b.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import type { Header } from '#ground/chain/header.ts'
import { decodeHeader, encodeWork } from '#ground/chain/header.ts'
import { headerFromJson } from '#ground/chain/header-json.ts'
import { outputsHash, payloadHash, transactionsHash } from '#ground/chain/payload.ts'
import { powHash } from '#ground/chain/pow.ts'

type JsonParts = Readonly<Record<string, unknown>>
/** Pairs of the name of a hash, the computed value and the sent value. */
type HashComparison = readonly (readonly [name: string, computed: string, sent: unknown])[]

/** Hash of a header by its own fields; of the block below proof of work in a stream; of a payload; of a command. */
const kinds: Readonly<Record<string, (value: unknown) => HashComparison>> = {
  header: (value) => compareBlock(headerFromJson(value as Json)),
  headerBytes: (value) => compareBlock(decodeHeader(decodeBase64Url(String(value), 'header'))),
  update: (value) => {
    const { header, powHash: sent } = value as JsonParts
    const decoded = headerFromJson(header as Json)
    const hash = encodeHex(powHash(encodeWork(decoded)).toReversed())
    return [...compareBlock(decoded), ['powHash', hash, sent]]
  },
  payload: (value) => comparePayload(value as JsonParts),
  command: (value) => {
    const { cmd, hash } = value as JsonParts
    return [['hash', encodeBase64Url(blake2b256(new TextEncoder().encode(String(cmd)))), hash]]
  },
}

/** @returns what differs, or null if all hashes are right */
export function findHashComplaint(
  kind: string,
  value: unknown,
): { readonly expected: string; readonly got: string } | null {
  const compare = kinds[kind]
  if (compare === undefined) return { expected: `a kind of hash that exists, not ${kind}`, got: 'none' }
  if (value === undefined || value === null) return { expected: `a ${kind}`, got: 'nothing' }
  try {
    const bad = compare(value).find(([, computed, sent]) => computed !== sent)
    if (bad === undefined) return null
    return { expected: `${bad[0]} ${bad[1]}, as computed from the ${kind}`, got: String(bad[2]) }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    return { expected: `a ${kind} that can be hashed`, got: error.message }
  }
}

const compareBlock = (header: Header): HashComparison => [
  ['hash', encodeBase64Url(blockHash(encodeWork(header))), encodeBase64Url(header.hash)],
]

function comparePayload(payload: JsonParts): HashComparison {
  const { minerData, coinbase, transactions } = payload
  if (!Array.isArray(transactions)) throw new FormatError('transactions', 0, 'not an array')
  const bytesOf = (text: unknown, field: string) => decodeBase64Url(String(text), field)
  const inputs = transactions.map((each) => bytesOf(Array.isArray(each) ? each[0] : each, 'transaction'))
  const ofTransactions = transactionsHash(bytesOf(minerData, 'minerData'), inputs)
  const ofOutputs =
    coinbase === undefined
      ? bytesOf(payload.outputsHash, 'outputsHash')
      : outputsHash(
          bytesOf(coinbase, 'coinbase'),
          transactions.map((each) => bytesOf((each as readonly unknown[])[1], 'output')),
        )
  return [
    ['transactionsHash', encodeBase64Url(ofTransactions), payload.transactionsHash],
    ['outputsHash', encodeBase64Url(ofOutputs), payload.outputsHash],
    ['payloadHash', encodeBase64Url(payloadHash(ofTransactions, ofOutputs)), payload.payloadHash],
  ]
}

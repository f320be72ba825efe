import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { headerObjectWriter, textOf, writeHash, writeHeaderText } from '../../src/devnet/http/encode/header-text.ts'
import { JsonBytes } from '../../src/devnet/http/encode/json-bytes.ts'
import { parseJson, stringifyJson } from '../../src/ground/base/json.ts'
import { decodeHeader, encodeHeader, type Header } from '../../src/ground/chain/header.ts'
import { headerFromJson, headerToJson } from '../../src/ground/chain/header-json.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const hash = bytes(32)
/** Numbers of all sizes. Nearly all uniform ones would have the maximum number of digits. */
const upTo = (bits: number) =>
  fc.integer({ min: 0, max: bits }).chain((some) => fc.bigInt({ min: 0n, max: (1n << BigInt(some)) - 1n }))
const signed = fc.tuple(upTo(63), fc.boolean()).map(([value, isNegative]) => (isNegative ? -value : value))

const header: fc.Arbitrary<Header> = fc.record({
  featureFlags: upTo(64),
  creationTime: signed,
  parent: hash,
  adjacents: fc
    .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), hash), {
      selector: ([chain]) => chain,
      maxLength: 7,
    })
    .map((entries) => new Map(entries.sort(([a], [b]) => a - b))),
  target: upTo(256),
  payloadHash: hash,
  chainId: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  weight: upTo(256),
  height: upTo(64),
  version: fc.oneof(fc.constantFrom(1, 2, 5, 7), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
  epochStart: signed,
  nonce: upTo(64),
  hash,
})

const named = { name: 'some-network', code: 5 }

it('the writer of headers writes from bytes exactly what it writes from an object', () => {
  fc.assert(
    fc.property(header, fc.constantFrom('chainweb' as const, 'ledger' as const), (header, product) => {
      const text = textOf(headerObjectWriter(header.adjacents.size, product, named), encodeHeader(header))
      expect(text).toBe(stringifyJson(headerToJson(header, { product, network: named })))
    }),
    { numRuns: 2000 },
  )
})

it('the writer of headers writes real headers, including one whose flags exceed the safe integers', () => {
  const vectors: { header_hex?: string }[] = JSON.parse(
    readFileSync(new URL('../vectors/headers.json', import.meta.url), 'utf8'),
  )
  const found = vectors.flatMap(({ header_hex: hex }) => (hex?.length === 2 * 318 ? [hex] : []))
  expect(found.length).toBeGreaterThan(3)
  let unsafe = 0
  for (const hex of found) {
    const bytes = Buffer.from(hex, 'hex')
    if (bytes.readBigUInt64LE(0) > Number.MAX_SAFE_INTEGER) unsafe++
    const json = textOf(headerObjectWriter(3, 'chainweb', named), bytes)
    expect(json).toBe(stringifyJson(headerToJson(decodeHeader(bytes), { network: named })))
    expect(encodeHeader(headerFromJson(parseJson(json), named))).toEqual(new Uint8Array(bytes))
    expect(textOf(writeHeaderText, bytes)).toBe(`"${bytes.toString('base64url')}"`)
    expect(textOf(writeHash, bytes)).toBe(`"${bytes.subarray(-32).toString('base64url')}"`)
  }
  expect(unsafe).toBeGreaterThan(0)
})

it('the writer of base64url writes any length into a buffer that must grow', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(80), fc.nat(80), (bytes, a, b) => {
      const [from, to] = [a, b].map((each) => Math.min(each, bytes.length)).sort((x, y) => x - y)
      const out = new JsonBytes(1)
      out.ascii('<')
      out.base64url(bytes, from, to)
      out.bytes(Buffer.from('>'))
      expect(out.take().toString('latin1')).toBe(`<${Buffer.from(bytes.subarray(from, to)).toString('base64url')}>`)
    }),
  )
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeHex, readI64LE, readU256LE } from '../../src/ground/base/bytes.ts'
import { FormatError } from '../../src/ground/base/errors.ts'
import { type Json, parseJson, stringifyJson } from '../../src/ground/base/json.ts'
import {
  decodeHeader,
  decodeWork,
  encodeHeader,
  encodeWork,
  type Header,
  headerLayout,
  sameParents,
  withCreationTime,
  withNonce,
} from '../../src/ground/chain/header.ts'
import { headerFromJson, headerToJson } from '../../src/ground/chain/header-json.ts'
import { chainBytes, decodeWorkResponse, encodeWorkResponse } from '../../src/ground/chain/work.ts'

const DEGREES = [0, 1, 2, 3, 4, 5, 6, 7]
const bits = (count: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(count)) - 1n })
const u32 = fc.nat({ max: 0xffff_ffff })
const i64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n })
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })

function headers(degree: number, time: fc.Arbitrary<bigint> = i64): fc.Arbitrary<Header> {
  const chains = fc.uniqueArray(u32, { minLength: degree, maxLength: degree }).map((list) => list.sort((a, b) => a - b))
  const adjacents = fc
    .tuple(chains, fc.array(bytes32, { minLength: degree, maxLength: degree }))
    .map(([list, hashes]) => new Map(list.map((chain, i) => [chain, hashes[i]])))
  return fc.record({
    featureFlags: bits(64),
    creationTime: time,
    parent: bytes32,
    adjacents,
    target: bits(256),
    payloadHash: bytes32,
    chainId: u32,
    weight: bits(256),
    height: bits(64),
    version: u32,
    epochStart: time,
    nonce: bits(64),
    hash: bytes32,
  })
}
const anyHeader = fc.constantFrom(...DEGREES).chain((degree) => headers(degree))

const otherHash = ([first, ...rest]: Uint8Array) => Uint8Array.of(first ^ 1, ...rest)

/** A chain that is not among the adjacents. */
const newChain = (adjacents: ReadonlyMap<number, unknown>) => [0, 1, 2, 3].find((chain) => !adjacents.has(chain)) ?? 4

const byName = { work: decodeWork, header: decodeHeader, 'work response': decodeWorkResponse }
const encodings = {
  work: (header: Header) => encodeWork(header),
  header: (header: Header) => encodeHeader(header),
  'work response': (header: Header) => encodeWorkResponse({ bytes: encodeWork(header), fields: header }),
}
type Encoding = keyof typeof encodings
const names = Object.keys(encodings) as Encoding[]

/** The FormatError that `run` throws. Fails the test if it throws anything else, or nothing. */
function formatError(run: () => unknown): FormatError {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(FormatError)
    const { code, field, offset, message } = error as FormatError
    expect(code).toBe('BAD_FORMAT')
    expect(message.startsWith(`${field} at offset ${offset}: `)).toBe(true)
    return error as FormatError
  }
  return expect.unreachable('it should have thrown')
}

/** Decoding must either round-trip to the same bytes or throw a FormatError with an offset inside them. */
function decodesExactlyOrRefuses(name: Encoding, bytes: Uint8Array): 'decoded' | 'refused' {
  let again: Uint8Array
  try {
    if (name === 'work') again = encodeWork(decodeWork(bytes))
    else if (name === 'header') again = encodeHeader(decodeHeader(bytes))
    else again = encodeWorkResponse(decodeWorkResponse(bytes))
  } catch (error) {
    expect(error).toBeInstanceOf(FormatError)
    const { field, offset } = error as FormatError
    expect(field).not.toBe('')
    expect(offset).toBeGreaterThanOrEqual(0)
    expect(offset).toBeLessThanOrEqual(bytes.length)
    return 'refused'
  }
  expect(encodeHex(again)).toBe(encodeHex(bytes))
  return 'decoded'
}

describe('header, work and work response', () => {
  it.each(DEGREES)('header and work keep every field at its size and offset, degree %i', (degree) => {
    fc.assert(
      fc.property(headers(degree), (header) => {
        const bytes = encodeHeader(header)
        const { hash: _, ...fields } = header
        const at = headerLayout(degree)
        expect(bytes).toHaveLength(210 + 36 * degree)
        expect(at).toMatchObject({ headerBytes: bytes.length, workBytes: bytes.length - 32, hash: bytes.length - 32 })
        expect(decodeHeader(bytes)).toEqual(header)
        const work = encodeWork(header)
        expect(encodeHex(work)).toBe(encodeHex(bytes.subarray(0, -32)))
        expect(decodeWork(work)).toEqual(fields)
        const response = encodeWorkResponse({ bytes: work, fields })
        expect(response).toHaveLength(work.length + 36)
        expect(decodeWorkResponse(response)).toEqual({ bytes: work, fields })
        // The offsets of the specification, not those that the codec computes.
        expect(bytes[48] + 256 * bytes[49]).toBe(degree)
        expect(readI64LE(bytes, 8)).toBe(header.creationTime)
        expect(readU256LE(bytes, 50 + 36 * degree)).toBe(header.target)
        expect(Buffer.from(bytes).readBigUInt64LE(work.length - 8)).toBe(header.nonce)
        expect(Buffer.from(bytes).readUInt32LE(work.length - 64)).toBe(header.chainId)
        expect(Buffer.from(bytes).readBigUInt64LE(work.length - 28)).toBe(header.height)
      }),
      { numRuns: 30 },
    )
  })

  it('encodeHeader sorts adjacents by chain', () => {
    fc.assert(
      fc.property(headers(5), (header) => {
        const reversed = new Map([...header.adjacents].reverse())
        expect(encodeHeader({ ...header, adjacents: reversed })).toEqual(encodeHeader(header))
      }),
    )
  })

  it('a new nonce or creation time changes only its own bytes', () => {
    fc.assert(
      fc.property(anyHeader, bits(64), i64, (header, nonce, creationTime) => {
        const { hash: _, ...fields } = header
        const work = encodeWork(header)
        const before = encodeHex(work)
        expect(decodeWork(withNonce(work, nonce))).toEqual({ ...fields, nonce })
        expect(decodeWork(withCreationTime(work, creationTime))).toEqual({ ...fields, creationTime })
        expect(encodeHex(work)).toBe(before)
      }),
    )
  })

  it('two pieces of work extend the same blocks if chain, parent and every adjacent are equal', () => {
    fc.assert(
      fc.property(headers(3), headers(3), (header, other) => {
        const { chainId, parent, adjacents } = header
        expect(sameParents(header, { ...other, chainId, parent, adjacents: new Map([...adjacents].reverse()) })).toBe(
          true,
        )
        expect(sameParents(header, { ...header, chainId: chainId ^ 1 })).toBe(false)
        expect(sameParents(header, { ...header, parent: otherHash(parent) })).toBe(false)
        for (const [chain, hash] of adjacents) {
          const changed = new Map(adjacents).set(chain, otherHash(hash))
          expect(sameParents(header, { ...header, adjacents: changed })).toBe(false)
          const [more, fewer] = [new Map(adjacents).set(newChain(adjacents), hash), new Map(adjacents)]
          fewer.delete(chain)
          const moved = new Map(fewer).set(newChain(adjacents), hash)
          for (const each of [more, fewer, moved])
            expect(sameParents(header, { ...header, adjacents: each })).toBe(false)
        }
      }),
    )
  })

  it.each(names)('the decoder refuses every truncation and every extension: %s', (name) => {
    for (const degree of DEGREES) {
      const [header] = fc.sample(headers(degree), { numRuns: 1, seed: degree })
      const bytes = encodings[name](header)
      for (let length = 0; length < bytes.length; length++) {
        const short = bytes.subarray(0, length)
        formatError(() => byName[name](short))
        expect(decodesExactlyOrRefuses(name, short)).toBe('refused')
      }
      for (const more of [1, 32, 36, 100]) {
        expect(decodesExactlyOrRefuses(name, Uint8Array.from([...bytes, ...new Uint8Array(more)]))).toBe('refused')
      }
    }
  })

  it.each(names)('the encoder repeats the random bytes that the decoder read: %s', (name) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        decodesExactlyOrRefuses(name, bytes)
      }),
      { numRuns: 500 },
    )
  })

  it.each(names)('the decoder refuses damaged bytes or decodes exactly their contents: %s', (name) => {
    const seen = new Set<string>()
    const [sample] = fc.sample(headers(3), { numRuns: 1, seed: 1 })
    const count = name === 'work response' ? 84 : 48
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(anyHeader, damage, (header, changes) => {
        const bytes = encodings[name](header)
        for (const [index, value] of changes) bytes[index % bytes.length] = value
        seen.add(decodesExactlyOrRefuses(name, bytes))
      }),
      // One example that must be refused for its count of adjacents and one that must not, whatever the random cases
      // are.
      {
        numRuns: 500,
        examples: [
          [sample, [[count, 255]]],
          [sample, [[encodings[name](sample).length - 1, 0]]],
        ],
      },
    )
    expect([...seen].sort()).toEqual(['decoded', 'refused'])
  })

  it('the decoder refuses a count of adjacents that does not fit the length', () => {
    const prefix = { work: 0, header: 0, 'work response': 36 }
    for (const name of names) {
      for (const degree of DEGREES) {
        const [header] = fc.sample(headers(degree), { numRuns: 1, seed: degree })
        const bytes = encodings[name](header)
        for (const count of [...DEGREES, 8, 64, 65, 255, 256, 256 + degree, 0xffff]) {
          if (count === degree) continue
          bytes[prefix[name] + 48] = count & 0xff
          bytes[prefix[name] + 49] = count >> 8
          expect(formatError(() => byName[name](bytes))).toMatchObject({ field: 'adjacentCount', offset: 48 })
        }
      }
    }
  })

  it('the decoder names the offset of adjacents that are out of order or repeated', () => {
    fc.assert(
      fc.property(headers(4), fc.integer({ min: 1, max: 3 }), fc.boolean(), (header, record, twice) => {
        const bytes = encodeWork(header)
        const at = 50 + 36 * record
        const before = bytes.slice(at - 36, at - 32)
        // Swaps the record with the previous chain, or repeats the previous chain.
        if (!twice) bytes.set(bytes.slice(at, at + 4), at - 36)
        bytes.set(before, at)
        expect(formatError(() => decodeWork(bytes))).toMatchObject({ field: 'adjacents', offset: at })
      }),
    )
  })

  it('the decoder refuses a work response with another chain or target than its work', () => {
    fc.assert(
      fc.property(
        anyHeader,
        fc.integer({ min: 0, max: 35 }),
        fc.integer({ min: 1, max: 255 }),
        (header, index, flip) => {
          const response = encodings['work response'](header)
          response[index] ^= flip
          const expected = index < 4 ? { field: 'chain', offset: 0 } : { field: 'target', offset: 4 }
          expect(formatError(() => decodeWorkResponse(response))).toMatchObject(expected)
        },
      ),
    )
  })

  it('the encoder names field and offset of a value that does not fit', () => {
    const [header] = fc.sample(headers(3), { numRuns: 1, seed: 1 })
    const at = headerLayout(3)
    const bad: [Partial<Record<keyof Header, unknown>>, string, number][] = []
    for (const field of ['featureFlags', 'height', 'nonce'] as const) {
      for (const value of [-1n, 1n << 64n]) bad.push([{ [field]: value }, field, at[field]])
    }
    for (const field of ['creationTime', 'epochStart'] as const) {
      for (const value of [-(1n << 63n) - 1n, 1n << 63n]) bad.push([{ [field]: value }, field, at[field]])
    }
    for (const field of ['target', 'weight'] as const) {
      for (const value of [-1n, 1n << 256n]) bad.push([{ [field]: value }, field, at[field]])
    }
    for (const field of ['chainId', 'version'] as const) {
      for (const value of [-1, 2 ** 32, 0.5, Number.NaN]) bad.push([{ [field]: value }, field, at[field]])
    }
    for (const field of ['parent', 'payloadHash', 'hash'] as const) {
      for (const size of [0, 31, 33]) bad.push([{ [field]: new Uint8Array(size) }, field, at[field]])
    }
    const adjacents = (key: number, size: number) => ({ adjacents: new Map([[key, new Uint8Array(size)]]) })
    bad.push([adjacents(1, 31), 'adjacents', 54], [adjacents(-1, 32), 'adjacents', 50])
    bad.push([adjacents(2 ** 32, 32), 'adjacents', 50])
    for (const count of [65, 65_536]) {
      const many = new Map(Array.from({ length: count }, (_, chain) => [chain, new Uint8Array(32)]))
      bad.push([{ adjacents: many }, 'adjacentCount', 48])
    }
    for (const [change, field, offset] of bad) {
      const error = formatError(() => encodeHeader({ ...header, ...change } as Header))
      expect({ field: error.field, offset: error.offset }).toEqual({ field, offset })
    }
  })

  it('the encoder writes a chain as four bytes, little-endian', () => {
    fc.assert(fc.property(u32, (chain) => Buffer.from(chainBytes(chain)).readUInt32LE() === chain))
  })
})

describe('header as a JSON object', () => {
  const time = fc.bigInt({ min: 0n, max: (1n << 63n) - 1n })
  const jsonHeader = fc.constantFrom(...DEGREES).chain((degree) => headers(degree, time))
  const product = fc.constantFrom('chainweb' as const, 'ledger' as const)

  it('a header as a JSON object keeps all its bits, under both product words', () => {
    fc.assert(
      fc.property(jsonHeader, product, (header, word) => {
        const text = stringifyJson(headerToJson(header, { product: word }))
        expect(headerFromJson(parseJson(text))).toEqual(header)
        expect(Object.keys(JSON.parse(text))).toEqual([
          'nonce',
          'creationTime',
          'parent',
          'adjacents',
          'target',
          'payloadHash',
          'chainId',
          'weight',
          'height',
          `${word}Version`,
          'epochStart',
          'featureFlags',
          'hash',
        ])
        expect(text).toContain(`"featureFlags":${header.featureFlags},`)
        expect(text).toContain(`"nonce":"${header.nonce}",`)
      }),
    )
  })

  it('a JSON header has the name of the given network for its code, and the code of every other', () => {
    const [header] = fc.sample(headers(3, time), { numRuns: 1, seed: 2 })
    const written = (version: number, name?: string) => {
      const network = name === undefined ? undefined : { name, code: 10 }
      return JSON.parse(stringifyJson(headerToJson({ ...header, version }, { network }))).chainwebVersion
    }
    expect(written(10, 'stoa')).toBe('stoa')
    expect(written(10, 'my-net')).toBe('my-net')
    expect(written(5, 'stoa')).toBe('0x00000005')
    expect(written(5)).toBe('0x00000005')
    expect(written(0x8000_0016)).toBe('0x80000016')
  })

  it('a JSON header gets the code of its name from the given network, then from the known ones', () => {
    const [header] = fc.sample(headers(3, time), { numRuns: 1, seed: 2 })
    const object = parseJson(stringifyJson(headerToJson(header))) as { [key: string]: Json }
    const read = (name: string, code?: number) =>
      headerFromJson({ ...object, chainwebVersion: name }, code === undefined ? undefined : { name: 'my-net', code })
        .version
    expect(read('my-net', 77)).toBe(77)
    expect(read('mainnet01', 77)).toBe(5)
    expect(read('stoa')).toBe(10)
    expect(read('0x00000011')).toBe(17)
    expect(() => read('my-net')).toThrow(/version at offset 0: unknown network "my-net"/)
  })

  it('the reader of JSON headers names the missing or wrong field', () => {
    const [header] = fc.sample(headers(3, time), { numRuns: 1, seed: 3 })
    const object = parseJson(stringifyJson(headerToJson(header))) as { [key: string]: Json }
    for (const field of Object.keys(object)) {
      const { [field]: _, ...without } = object
      expect(formatError(() => headerFromJson(without)).field).toBe(field)
      for (const value of [null, true, [], 'x', -1, 0.5, 1n << 64n, -(1n << 64n), { x: 'y' }, { 1: 'y' }] as Json[]) {
        const named = formatError(() => headerFromJson({ ...object, [field]: value })).field
        expect(named === field || (field === 'chainwebVersion' && named === 'version')).toBe(true)
      }
    }
    for (const json of [null, 1, 'header', [object], 2n ** 70n] as Json[]) {
      expect(formatError(() => headerFromJson(json)).field).toBe('header')
    }
    for (const nonce of ['', '01', '-1', '1.0', '0x1', ' 1', '18446744073709551616']) {
      expect(formatError(() => headerFromJson({ ...object, nonce })).field).toBe('nonce')
    }
    for (const chain of ['01', '-1', 'x', '', '4294967296']) {
      const adjacents = { [chain]: object.hash }
      expect(formatError(() => headerFromJson({ ...object, adjacents })).field).toBe('adjacents')
    }
  })

  it('the reader of JSON headers throws only FormatError', () => {
    fc.assert(
      fc.property(jsonHeader, fc.string(), fc.jsonValue(), (header, key, value) => {
        const object = JSON.parse(stringifyJson(headerToJson(header)))
        const keys = [...Object.keys(object), key]
        for (const name of keys) {
          try {
            headerFromJson({ ...object, [name]: value as Json })
          } catch (error) {
            expect(error).toBeInstanceOf(FormatError)
          }
        }
      }),
    )
  })
})

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeBase64Url, encodeHex } from '../../src/ground/base/bytes.ts'
import { FormatError } from '../../src/ground/base/errors.ts'
import { graphs, shortestPath } from '../../src/ground/chain/graph.ts'
import { merkleRoot } from '../../src/ground/chain/merkle.ts'
import { decodePath, encodePath, MAX_STEPS, merkleSteps, rootOf } from '../../src/ground/chain/merkle-path.ts'
import { decodeProof, encodeProof, type OutputProof, proofRoot } from '../../src/ground/chain/spv.ts'

interface ProofRecord {
  readonly proof: string
  readonly target_chain: number
  readonly steps: number
  readonly position: number
  readonly sides: string
  readonly output: string
}

const vectors = JSON.parse(readFileSync(new URL('../vectors/spv.json', import.meta.url), 'utf8'))
const records: readonly ProofRecord[] = vectors.proofs
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()
const proofText = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url')
const jsonOf = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString())

/** An independent computation of a proof's root; shares nothing with src/. */
function rootOfText(text: string): string {
  const { object, subject } = jsonOf(text)
  const path = Buffer.from(object, 'base64url')
  const sha = (...parts: Uint8Array[]) => hash('sha512-256', Buffer.concat(parts), 'buffer')
  let root: Buffer = sha(Buffer.of(0), Buffer.from(subject.input, 'base64url'))
  for (let at = 12; at < path.length; at += 33) {
    const sibling = path.subarray(at + 1, at + 33)
    root = path[at] === 0 ? sha(Buffer.of(1), sibling, root) : sha(Buffer.of(1), root, sibling)
  }
  return root.toString('hex')
}

describe('real proofs', () => {
  it.each(records.map((record, i) => [i, record] as const))('real proof %i reads as published', (_i, record) => {
    const proof = decodeProof(record.proof)
    expect(proof.chain).toBe(record.target_chain)
    expect(proof.position).toBe(BigInt(record.position))
    expect(proof.steps.map(({ side }) => (side === 'left' ? 'L' : 'R')).join('')).toBe(record.sides)
    expect(proof.steps).toHaveLength(record.steps)
    expect(textOf(proof.output)).toBe(record.output)
    expect(encodeHex(proofRoot(proof))).toBe(rootOfText(record.proof))
  })

  it.each(records.map((record, i) => [i, record] as const))(
    'real proof %i is written exactly as it was read',
    (_i, { proof }) => {
      const written = encodeProof(decodeProof(proof))
      expect(jsonOf(written)).toEqual(jsonOf(proof))
      expect(Object.keys(jsonOf(written))).toEqual(['chain', 'object', 'subject', 'algorithm'])
      expect(decodeProof(written)).toEqual(decodeProof(proof))
    },
  )

  it('any flipped bit of path or output is refused or leads to another root', () => {
    const { object, subject, ...rest } = jsonOf(records[0].proof)
    const root = rootOfText(records[0].proof)
    const fates = { refused: 0, elsewhere: 0, same: 0 }
    for (const part of ['object', 'input'] as const) {
      const bytes = Buffer.from(part === 'object' ? object : subject.input, 'base64url')
      for (let bit = 0; bit < 8 * bytes.length; bit++) {
        const damaged = Buffer.from(bytes)
        damaged[bit >> 3] ^= 1 << (bit & 7)
        const changed = damaged.toString('base64url')
        const json = part === 'object' ? { object: changed, subject } : { object, subject: { input: changed } }
        fates[fateOf(proofText({ ...rest, ...json }), root)]++
      }
    }
    // The 8 bytes of the position are the only ones without effect: no verifier uses them.
    expect(fates.same).toBe(8 * 8)
    expect(fates.refused).toBe(8 * 4 + 7 * records[0].steps + 8 * 2)
    expect(fates.elsewhere).toBeGreaterThan(8 * 32 * records[0].steps)
  })

  it('no changed character proves another output to the same root', () => {
    const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ "'
    const record = fc.constantFrom(...records)
    const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    let refused = 0
    fc.assert(
      fc.property(record, place, fc.constantFrom(...characters), ({ proof }, where, character) => {
        const at = Math.floor(where * proof.length)
        const text = proof.slice(0, at) + character + proof.slice(at + 1)
        const before = decodeProof(proof)
        const after = readOrRefuse(text)
        if (after === null) {
          refused++
          return
        }
        const isSame = encodeHex(proofRoot(after)) === rootOfText(proof) && after.chain === before.chain
        if (isSame) expect({ ...after, position: 0n }).toEqual({ ...before, position: 0n })
      }),
      { numRuns: 2000, seed: 6 },
    )
    expect(refused).toBeGreaterThan(100)
  })
})

function readOrRefuse(text: string): OutputProof | null {
  try {
    return decodeProof(text)
  } catch (error) {
    if (error instanceof FormatError) return null
    throw error
  }
}

function fateOf(text: string, root: string): 'refused' | 'elsewhere' | 'same' {
  const proof = readOrRefuse(text)
  if (proof === null) return 'refused'
  return encodeHex(proofRoot(proof)) === root ? 'same' : 'elsewhere'
}

describe('a text that is not a proof', () => {
  const valid = jsonOf(records[0].proof)
  const object = (bytes: readonly number[]) => Buffer.from(bytes).toString('base64url')
  const input = (...bytes: number[]) => ({ input: object(bytes) })
  const cases: [string, string, string][] = [
    ['padded', `${records[0].proof}=`, 'proof at offset'],
    ['cut off', Buffer.from('{"chain":1').toString('base64url'), 'not JSON text'],
    ['no UTF-8', Buffer.of(0x22, 0xff, 0x22).toString('base64url'), 'not JSON text'],
    ['empty', '', 'not JSON text'],
    ['nested deeply', Buffer.from('['.repeat(500_000)).toString('base64url'), 'not JSON text'],
    ['a list', proofText([valid]), 'proof at offset 0: expected a JSON object'],
    ['null', proofText(null), 'proof at offset 0: expected a JSON object'],
    ['without chain', proofText({ ...valid, chain: undefined }), 'expected the number of a chain, got undefined'],
    ['chain in quotes', proofText({ ...valid, chain: '1' }), 'expected the number of a chain, got string'],
    ['chain -1', proofText({ ...valid, chain: -1 }), 'expected the number of a chain, got -1'],
    ['chain 0.5', proofText({ ...valid, chain: 0.5 }), 'expected the number of a chain, got 0.5'],
    ['chain 2^32', proofText({ ...valid, chain: 2 ** 32 }), 'expected the number of a chain, got 4294967296'],
    ['other algorithm', proofText({ ...valid, algorithm: 'Keccak_256' }), 'expected "SHA512t_256"'],
    ['object a number', proofText({ ...valid, object: 1 }), 'object at offset 0: expected base64url text'],
    ['object with +', proofText({ ...valid, object: '++++' }), '"+" is not a base64url character'],
    ['object too short', proofText({ ...valid, object: object([0, 0, 0, 0]) }), 'ends after 4 bytes'],
    [
      'a step missing',
      proofText({ ...valid, object: object([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]) }),
      'object at offset 0: 1 steps take 45 bytes, got 12',
    ],
    [
      'a step too many',
      proofText({ ...valid, object: object(Array(45).fill(0)) }),
      'object at offset 0: 0 steps take 12 bytes, got 45',
    ],
    [
      'side 2',
      proofText({ ...valid, object: object([0, 0, 0, 1, ...Array(8).fill(0), 2, ...Array(32).fill(0)]) }),
      'object at offset 12: side 2, expected 0 (left) or 1 (right)',
    ],
    [
      'too many steps',
      proofText({ ...valid, object: object([0, 0, 4, 1, ...Array(8 + 33 * 1025).fill(0)]) }),
      '1025 steps, at most 1024',
    ],
    ['subject a text', proofText({ ...valid, subject: 'x' }), 'subject at offset 0: expected a JSON object'],
    ['no input', proofText({ ...valid, subject: {} }), 'subject at offset 0: expected base64url text'],
    ['no tag', proofText({ ...valid, subject: input(0) }), 'it is not the output of a transaction'],
    ['a transaction', proofText({ ...valid, subject: input(0, 0x13, 0x7b) }), 'it is not the output of a transaction'],
    ['a coinbase', proofText({ ...valid, subject: input(0, 0x18, 0x7b) }), 'it is not the output of a transaction'],
  ]
  it.each(cases)('the proof reader refuses a text: %s', (_name, text, message) => {
    expect(() => decodeProof(text)).toThrow(FormatError)
    expect(() => decodeProof(text)).toThrow(message)
  })

  it('the proof reader ignores other fields and an empty output', () => {
    const proof = decodeProof(proofText({ ...valid, subject: { ...input(0, 0x14), more: 1 }, more: 2 }))
    expect(proof.output).toHaveLength(0)
  })
})

describe('merkle paths', () => {
  const entriesOf = (count: number) =>
    Array.from({ length: count }, (_, i) => Uint8Array.from(hash('sha512-256', String(i), 'buffer')))

  it('Merkle paths lead from every entry of every small tree to its root', () => {
    for (let count = 1; count <= 40; count++) {
      const entries = entriesOf(count)
      const root = merkleRoot(entries)
      entries.forEach((entry, i) => {
        const steps = merkleSteps(entries, i)
        expect(steps.length).toBeLessThanOrEqual(Math.ceil(Math.log2(count)))
        expect(rootOf(entry, steps)).toEqual(root)
      })
    }
  })

  it('Merkle paths of missing entries are refused', () => {
    for (const index of [-1, 3, Number.NaN]) expect(() => merkleSteps(entriesOf(3), index)).toThrow(RangeError)
    expect(() => merkleSteps([], 0)).toThrow('entry 0 of 0')
  })

  it('a decoded Merkle path equals the encoded one', () => {
    const step = fc.record({
      side: fc.constantFrom('left' as const, 'right' as const),
      sibling: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    })
    const path = fc.record({
      position: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      steps: fc.array(step, { maxLength: 40 }),
    })
    fc.assert(
      fc.property(path, (path) => {
        const bytes = encodePath(path)
        expect(bytes).toHaveLength(12 + 33 * path.steps.length)
        expect(decodePath(bytes)).toEqual(path)
      }),
    )
  })

  it('a Merkle path of the maximum length can be read', () => {
    const steps = Array.from({ length: MAX_STEPS }, () => ({ side: 'left' as const, sibling: new Uint8Array(32) }))
    expect(decodePath(encodePath({ position: 0n, steps })).steps).toHaveLength(MAX_STEPS)
  })
})

describe('shortest paths', () => {
  /** Distances between chains, by repeated multiplication of the adjacency relation. */
  function distances(adjacents: readonly (readonly number[])[], from: number): Map<number, number> {
    const found = new Map([[from, 0]])
    for (let steps = 1; steps <= adjacents.length; steps++) {
      for (const chain of [...found.keys()]) {
        for (const next of adjacents[chain]) if (!found.has(next)) found.set(next, steps)
      }
    }
    return found
  }

  it.each(Object.values(graphs).map((graph) => [graph.name, graph] as const))(
    'shortestPath finds paths of minimal length in the graph %s',
    (_name, graph) => {
      for (const from of graph.adjacents.keys()) {
        for (const [to, steps] of distances(graph.adjacents, from)) {
          const path = shortestPath(graph, from, to) ?? []
          expect(path[0]).toEqual(from)
          expect(path.at(-1)).toEqual(to)
          expect(path).toHaveLength(steps + 1)
          path.slice(1).forEach((chain, i) => {
            expect(graph.adjacents[path[i]]).toContain(chain)
          })
        }
      }
    },
  )

  it('a proof to an unknown chain or across a gap does not exist', () => {
    expect(shortestPath(graphs.pair, 0, 2)).toBe(null)
    expect(shortestPath(graphs.pair, 2, 0)).toBe(null)
    expect(shortestPath(graphs.pair, 2, 2)).toBe(null)
    expect(shortestPath({ name: 'other', degree: 1, adjacents: [[1], [0], [3], [2]] }, 0, 3)).toBe(null)
  })
})

it('a block with one output and no other chain has a proof', () => {
  const output = new TextEncoder().encode('{}')
  const text = encodeProof({ chain: 0, position: 1n, steps: [], output })
  expect(encodeBase64Url(proofRoot(decodeProof(text)))).toBe(
    hash('sha512-256', Buffer.from('\0\0\x14{}', 'latin1'), 'base64url'),
  )
})

/** Readers of src/core, and the schemas of all bodies. */
import {
  decodeBase64Url,
  decodeHash,
  decodeHex,
  encodeBase64Url,
  encodeHex,
  equalBytes,
} from '../../../src/ground/base/bytes.ts'
import {
  JsonDepthError,
  MAX_JSON_DEPTH,
  parseExactJson,
  parseJson,
  stringifyJson,
} from '../../../src/ground/base/json.ts'
import { printable } from '../../../src/ground/base/printable.ts'
import { blockHash } from '../../../src/ground/chain/block-hash.ts'
import { decodeHeader, decodeWork, encodeHeader, encodeWork } from '../../../src/ground/chain/header.ts'
import { headerFromJson, headerToJson } from '../../../src/ground/chain/header-json.ts'
import { decodePath, encodePath } from '../../../src/ground/chain/merkle-path.ts'
import { development, mainnet01 } from '../../../src/ground/chain/network-data.ts'
import { decodeProof, encodeProof, proofFromJson, proofRoot } from '../../../src/ground/chain/spv.ts'
import { brokenRules } from '../../../src/ground/chain/validate.ts'
import { decodeWorkResponse, encodeWorkResponse, workFromBytes } from '../../../src/ground/chain/work.ts'
import { controlOperations } from '../../../src/ground/schema/control.ts'
import type { Operation } from '../../../src/ground/schema/operation.ts'
import { operations } from '../../../src/ground/schema/operations.ts'
import { validatorOf } from '../../../src/ground/schema/validator.ts'
import { headers, payloads, proofs, works } from '../seeds.ts'
import { bytesOf, expect, isSyntaxError, jsonBytes, type Target, textOf, textTarget } from '../target.ts'

const headerObjects = headers.map((bytes) => stringifyJson(headerToJson(decodeHeader(bytes))))
const exactTexts = [
  '[1, 1.50, 1e-8, 12345678901234567890, -9007199254740993, "\\u0000x", {"12345678901234567890": "a"}]',
  ...['{"featureFlags":9007199254740993}', '"text"', '1.0', '[[[[1.5]]]]', '{"__proto__":1.5}'],
]
const schemas = ([...Object.values(operations), ...Object.values(controlOperations)] as Operation[]).flatMap(
  ({ body, query, responses }) => [
    ...(body?.type === 'application/json' ? [body.schema] : []),
    query,
    ...Object.values(responses).flatMap(({ content = {} }) => Object.values(content)),
  ],
)
const validators = [...new Set(schemas)].map(validatorOf)

const bodies: readonly unknown[] = [
  ...payloads,
  { hashes: { 0: { height: 3, hash: 'A'.repeat(43) } }, weight: 'A'.repeat(43), height: 3, origin: null, id: 'x' },
  { limit: 1, items: ['A'.repeat(43)], next: null },
  { cmds: [{ cmd: '{}', hash: 'A'.repeat(43), sigs: [{ sig: 'ab' }] }] },
  { account: 'k:ab', predicate: 'keys-all', 'public-keys': ['ab'] },
  { hashes: ['A'.repeat(43)], highwaterMark: [1, 2] },
  { operation: 'work', count: 1, status: 500 },
]

/** JSON.stringify is slow for values that nest so deeply, or fails. */
const DEEP = '['.repeat(1_000)

/** Whether the values are equal except for the types of numbers. */
function isSameJson(exact: unknown, plain: unknown): boolean {
  const asText = (value: unknown) =>
    JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? Number(item) : item))
  try {
    return asText(exact) === asText(plain)
  } catch (error) {
    // Nested too deeply after all.
    if (error instanceof RangeError) return true
    throw error
  }
}

/** The reader and JSON.parse agree: both accept the text, or both refuse it. */
function parsesAlike(text: string): void {
  let plain: unknown
  let isJson = true
  try {
    plain = JSON.parse(text)
  } catch {
    isJson = false
  }
  for (const parse of [parseJson, parseExactJson]) {
    let exact: unknown
    try {
      exact = parse(text)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      if (error instanceof JsonDepthError && text.split(/[[{]/).length > MAX_JSON_DEPTH) continue
      expect(!isJson, `${parse.name} refuses JSON`)
      continue
    }
    expect(isJson, `${parse.name} takes what is no JSON`)
    if (parse === parseJson && !text.includes(DEEP))
      expect(isSameJson(exact, plain), `${parse.name} reads another value`)
  }
}

function rulesOf(bytes: Uint8Array): void {
  const size = 318
  const [header, parent, ...others] = Array.from({ length: Math.floor(bytes.length / size) }, (_, i) =>
    decodeHeader(bytes.subarray(i * size, (i + 1) * size)),
  )
  if (parent === undefined) return
  const adjacentParents = new Map(others.map((each, i) => [[...header.adjacents.keys()][i] ?? i, each]))
  for (const network of [mainnet01, development]) {
    // Callers have checked that the network has the chain.
    const chainId = parent.chainId % 10
    brokenRules(network, header, { parent: { ...parent, chainId }, adjacentParents }, { now: 0n, checkPow: true })
  }
}

export const coreTargets: readonly Target[] = [
  textTarget(
    'hex',
    ['', '00ff', 'ABCDEF'],
    (text) => expect(encodeHex(decodeHex(text)) === text.toLowerCase(), 'hex is written differently'),
    { share: 10 },
  ),
  textTarget('base64url', ['', 'AA', 'AAA', 'AAAA', '-_-_', proofs[0].slice(0, 60)], (text) => {
    expect(encodeBase64Url(decodeBase64Url(text)) === text, 'base64url has two spellings')
  }),
  textTarget('hash', ['A'.repeat(43), `${'_'.repeat(42)}8`], (text) => {
    expect(decodeHash(text).length === 32, 'a hash has 32 bytes')
  }),
  {
    name: 'work response',
    share: 20,
    open: () => ({
      seeds: works.map((work) => encodeWorkResponse(workFromBytes(work))),
      read: (bytes) => expect(equalBytes(encodeWorkResponse(decodeWorkResponse(bytes)), bytes), 'work is changed'),
    }),
  },
  {
    name: 'work',
    share: 10,
    open: () => ({
      seeds: works,
      read: (bytes) => {
        expect(equalBytes(encodeWork(decodeWork(bytes)), bytes), 'work is changed')
        blockHash(bytes)
      },
    }),
  },
  {
    name: 'header as bytes',
    share: 20,
    open: () => ({
      seeds: headers,
      read: (bytes) => expect(equalBytes(encodeHeader(decodeHeader(bytes)), bytes), 'the header is changed'),
    }),
  },
  textTarget(
    'header as JSON',
    headerObjects,
    (text) => {
      const header = headerFromJson(parseJson(text))
      const again = headerFromJson(parseJson(stringifyJson(headerToJson(header))))
      expect(equalBytes(encodeHeader(again), encodeHeader(header)), 'the header is changed')
    },
    { allows: isSyntaxError, share: 2 },
  ),
  {
    name: 'rules of headers',
    open: () => ({
      seeds: [Buffer.concat(headers.slice(0, 2)), Buffer.concat(headers.slice(0, 5))],
      read: rulesOf,
    }),
  },
  textTarget('JSON with exact numbers', [...exactTexts, ...headerObjects.slice(0, 2)], parsesAlike, { share: 1 }),
  {
    name: 'schemas of bodies',
    share: 0.2,
    open: () => ({
      seeds: [...bodies.map(jsonBytes), ...headerObjects.slice(0, 2).map(bytesOf)],
      allows: isSyntaxError,
      read: (bytes) => {
        const value = parseExactJson(textOf(bytes))
        for (const { accepts, complaint } of validators) {
          if (!accepts(value)) expect(complaint(value) !== '', 'a refusal says why')
        }
      },
    }),
  },
  textTarget(
    'SPV proof',
    proofs,
    (text) => {
      const proof = decodeProof(text)
      proofRoot(proof)
      expect(equalBytes(proofRoot(decodeProof(encodeProof(proof))), proofRoot(proof)), 'the proof is changed')
    },
    { share: 2 },
  ),
  {
    name: 'SPV proof as JSON',
    share: 2,
    open: () => ({
      seeds: proofs.map((text) => decodeBase64Url(text)),
      read: (bytes) => proofRoot(proofFromJson(bytes)),
    }),
  },
  {
    name: 'Merkle path',
    share: 20,
    open: () => ({
      seeds: proofs.map((text) => {
        const { object } = JSON.parse(textOf(decodeBase64Url(text)))
        return decodeBase64Url(object)
      }),
      read: (bytes) => expect(equalBytes(encodePath(decodePath(bytes)), bytes), 'the path is changed'),
    }),
  },
  textTarget('printable text', ['a line', '\x1b[2J\u202e', '😀'.repeat(1000)], (text) => {
    const line = printable(text)
    expect(line.length <= 2_000, 'a line of at most 2,000 characters')
    expect(!/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(line), 'a line of printable text')
  }),
]

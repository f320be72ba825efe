/**
 * Proofs that a block of one chain contains an output, verifiable with the blocks of another chain (PROTOCOL.md B.8). A
 * proof is base64url of JSON text: `{chain, object, subject: {input}, algorithm}`.
 */
import { concatBytes, decodeBase64Url, encodeBase64Url } from '../base/bytes.ts'
import { FormatError } from '../base/errors.ts'
import { parsePlainJson } from '../base/json.ts'
import { type Digest, leaf, TAG } from './merkle.ts'
import { decodePath, encodePath, type MerklePath, rootOf } from './merkle-path.ts'

/** Proof of a command's result: its text, and the path from it to a block hash (PROTOCOL.md B.8). */
export interface OutputProof extends MerklePath {
  /** The chain on which the root must be a block hash. */
  readonly chain: number
  /** JSON text of the command result. */
  readonly output: Uint8Array
}

const ALGORITHM = 'SHA512t_256'
const TAG_BYTES = 2
const MAX_CHAIN = 0xffff_ffff
/** Rejects invalid UTF-8. */
const strictDecoder = new TextDecoder('utf-8', { fatal: true })

/** Block hash that a proof leads to. The proof holds only if the caller knows that block. */
export function proofRoot({ output, steps }: OutputProof, digest?: Digest): Uint8Array {
  return rootOf(leaf(TAG.transactionOutput, output, digest), steps, digest)
}

/** Encodes a proof as on the wire: base64url of its JSON text. */
export function encodeProof(proof: OutputProof): string {
  const input = concatBytes(Uint8Array.of(TAG.transactionOutput >> 8, TAG.transactionOutput & 0xff), proof.output)
  const json = JSON.stringify({
    chain: proof.chain,
    object: encodeBase64Url(encodePath(proof)),
    subject: { input: encodeBase64Url(input) },
    algorithm: ALGORITHM,
  })
  return encodeBase64Url(new TextEncoder().encode(json))
}

/**
 * Decodes the text of a proof.
 * @throws FormatError
 */
export function decodeProof(text: string): OutputProof {
  return proofFromJson(decodeBase64Url(text, 'proof'))
}

/**
 * As `decodeProof`, for the bytes of the JSON text.
 * @throws FormatError
 */
export function proofFromJson(bytes: Uint8Array): OutputProof {
  const { chain, object, subject, algorithm } = objectOf(parseProofText(bytes), 'proof')
  if (typeof chain !== 'number' || !Number.isInteger(chain) || chain < 0 || chain > MAX_CHAIN) {
    throw new FormatError(
      'chain',
      0,
      `expected the number of a chain, got ${typeof chain === 'number' ? chain : typeof chain}`,
    )
  }
  if (algorithm !== ALGORITHM) throw new FormatError('algorithm', 0, `expected ${JSON.stringify(ALGORITHM)}`)
  const path = decodePath(bytesOf(object, 'object'), 'object')
  const input = bytesOf(objectOf(subject, 'subject').input, 'subject')
  const tag = input.length < TAG_BYTES ? undefined : (input[0] << 8) | input[1]
  // Senders choose the bytes of a transaction, so one that looks like an output must not pass as one.
  if (tag !== TAG.transactionOutput) throw new FormatError('subject', 0, 'it is not the output of a transaction')
  return { chain, ...path, output: input.slice(TAG_BYTES) }
}

function parseProofText(bytes: Uint8Array): unknown {
  try {
    return parsePlainJson(strictDecoder.decode(bytes))
  } catch (error) {
    // SyntaxError from the parser, TypeError from the decoder.
    if (error instanceof SyntaxError || error instanceof TypeError) throw new FormatError('proof', 0, 'not JSON text')
    throw error
  }
}

function objectOf(value: unknown, field: string): { readonly [key: string]: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FormatError(field, 0, 'expected a JSON object')
  }
  return value as { readonly [key: string]: unknown }
}

function bytesOf(value: unknown, field: string): Uint8Array {
  if (typeof value !== 'string') throw new FormatError(field, 0, 'expected base64url text')
  return decodeBase64Url(value, field)
}

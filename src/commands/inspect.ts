/** `newcut inspect`: headers, works and work responses as JSON, one object a line. */
import { existsSync, statSync } from 'node:fs'
import { encodeBase64Url, encodeHex, equalBytes, u256LE } from '../base/bytes.ts'
import { describeError, FormatError, fileProblem, NewcutError } from '../base/errors.ts'
import { stringifyJson } from '../base/json.ts'
import { MAX_INPUT_BYTES, readUserFile } from '../base/user-file.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { blockHash } from '../core/block-hash.ts'
import { forkStateOf } from '../core/fork.ts'
import {
  decodeHeader,
  decodeWork,
  degreeOfSize,
  headerLayout,
  WORK_PREFIX_BYTES,
  type WorkFields,
} from '../core/header.ts'
import { workToJson } from '../core/header-json.ts'
import { namesOfCode } from '../core/known-networks.ts'
import { meets, powHash } from '../core/pow.ts'
import { difficultyOf, levelOf } from '../core/target.ts'
import { decodeWorkResponse } from '../core/work.ts'
import { recordsOf, recordsOfArgument } from './inspect-input.ts'

/** `input` is text, a file, or `-` for stdin. Resolves with exit code 1 if a part is unreadable. */
export async function runInspect(input: string, surroundings: Surroundings): Promise<number> {
  return inspect(input, surroundings.input, { out: printerTo(surroundings.out), err: printerTo(surroundings.err) })
}

export interface InspectOutput {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
}

/**
 * Prints the records of the input: text, a file (lines, a JSON answer of a node, or the bytes of one record), or `-` for
 * stdin. Returns exit code 1 if a part is unreadable, otherwise 0.
 */
export function inspect(input: string, stdin: () => Uint8Array, { out, err }: InspectOutput): number {
  const isFile = input === '-' || (existsSync(input) && statSync(input).isFile())
  const records = isFile ? recordsOf(readContent(input, stdin)) : recordsOfArgument(input.trim())
  let code = 0
  for (const { place, read } of records) {
    try {
      const { bytes, format } = read()
      const { type, ...fields } = describe(bytes)
      out(stringifyJson({ type, format, ...fields }))
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      err(`newcut: ${place}: ${describeError(error)} [${error.code}]`)
      code = 1
    }
  }
  return code
}

function readContent(input: string, stdin: () => Uint8Array): Uint8Array {
  try {
    return input === '-' ? stdin() : readUserFile(input, MAX_INPUT_BYTES)
  } catch (error) {
    throw new NewcutError('BAD_INPUT', `cannot read ${input}: ${fileProblem(error)}`, {
      cause: error,
    })
  }
}

/** Every field of a header, work or work response, with hashes and difficulty derived from them. Throws FormatError. */
export function describe(bytes: Uint8Array) {
  if (degreeOfSize(bytes.length, 'header') !== null) {
    const header = decodeHeader(bytes)
    const work = bytes.subarray(0, bytes.length - 32)
    const hash = encodeBase64Url(header.hash)
    return { type: 'header', ...properties(work, header), hash, hashMatches: equalBytes(blockHash(work), header.hash) }
  }
  if (degreeOfSize(bytes.length, 'work') === null) {
    throw new FormatError(
      'length',
      bytes.length,
      `${bytes.length} bytes; expected 318 (header), 286 (work) or 322 (work response)`,
    )
  }
  // A work response of one degree is as long as work of the next. The number of adjacents distinguishes them.
  const { adjacentCount } = headerLayout(0)
  if (adjacentCountAt(bytes, WORK_PREFIX_BYTES + adjacentCount) === degreeOfSize(bytes.length, 'workResponse')) {
    const { bytes: work, fields } = decodeWorkResponse(bytes)
    return { type: 'workResponse', ...properties(work, fields) }
  }
  if (degreeOfSize(bytes.length, 'workResponse') === 3 && adjacentCountAt(bytes, adjacentCount) !== 4) {
    decodeWorkResponse(bytes)
  }
  return { type: 'work', ...properties(bytes, decodeWork(bytes)) }
}

function adjacentCountAt(bytes: Uint8Array, offset: number): number {
  return bytes[offset] | (bytes[offset + 1] << 8)
}

function properties(work: Uint8Array, fields: WorkFields) {
  const pow = powHash(work)
  const { number: forkNumber, votes: forkVotes } = forkStateOf(fields.featureFlags)
  return {
    ...workToJson(fields),
    // Both halves of featureFlags; votes in thousandths.
    ...{ forkNumber, forkVotes },
    target: encodeHex(u256LE(fields.target)),
    version: fields.version,
    // Bytes have a code only, and several networks may have the same.
    networks: namesOfCode(fields.version),
    powHash: encodeHex(pow),
    blockHash: encodeBase64Url(blockHash(work)),
    difficulty: difficultyOf(fields.target),
    level: levelOf(fields.target),
    solved: meets(pow, fields.target),
  }
}

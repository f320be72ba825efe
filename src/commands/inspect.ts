/** `newcut inspect`: headers, works and work responses as JSON, one object a line. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { blockHash } from '../core/block-hash.ts'
import { decodeBase64Url, decodeHex, encodeBase64Url, encodeHex, equalBytes, u256LE } from '../core/bytes.ts'
import { describeError, FormatError, NewcutError } from '../core/errors.ts'
import { decodeHeader, decodeWork, type WorkFields } from '../core/header.ts'
import { workToJson } from '../core/header-json.ts'
import { stringifyJson } from '../core/json.ts'
import { meets, powHash } from '../core/pow.ts'
import { difficultyOf, levelOf } from '../core/target.ts'
import { decodeWorkResponse } from '../core/work.ts'

/** `input` is text, a file, or `-` for standard input. Exit code 1 when something in it could not be read. */
export async function runInspect(input: string): Promise<number> {
  return inspect(input, () => readFileSync(0), {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
  })
}

export interface Output {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
}

/**
 * Prints what the input holds: text itself, a file of lines (or of the bytes of one record), or `-` for standard input.
 * Returns the exit code: 1 when a line could not be read, 0 else.
 */
export function inspect(input: string, stdin: () => Uint8Array, { out, err }: Output): number {
  let code = 0
  records(input, stdin).forEach(({ line, bytes }) => {
    try {
      out(stringifyJson(describe(bytes())))
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      err(`newcut: line ${line}: ${describeError(error)}`)
      code = 1
    }
  })
  return code
}

interface Record {
  readonly line: number
  readonly bytes: () => Uint8Array
}

function records(input: string, stdin: () => Uint8Array): Record[] {
  const isFile = input !== '-' && existsSync(input) && statSync(input).isFile()
  if (input !== '-' && !isFile) return [{ line: 1, bytes: () => decodeArgument(input.trim()) }]
  const content = readContent(input, stdin)
  // Lines of hex or base64url are printable ASCII; anything else is one record of bytes.
  if (content.some((byte) => byte > 126 || (byte < 32 && byte !== 10 && byte !== 13 && byte !== 9))) {
    return [{ line: 1, bytes: () => content }]
  }
  return new TextDecoder()
    .decode(content)
    .split('\n')
    .map((text, index) => ({ text: text.trim(), line: index + 1 }))
    .filter(({ text }) => text !== '')
    .map(({ text, line }) => ({ line, bytes: () => decodeText(text) }))
}

function readContent(input: string, stdin: () => Uint8Array): Uint8Array {
  try {
    return input === '-' ? stdin() : readFileSync(input)
  } catch (error) {
    throw new NewcutError('BAD_INPUT', `cannot read ${input}: ${(error as Error).message}`, { cause: error })
  }
}

/** An argument that names no file. What it decodes to is judged later; text that does not is likely a wrong name. */
function decodeArgument(text: string): Uint8Array {
  try {
    return decodeText(text)
  } catch (error) {
    throw new NewcutError('BAD_INPUT', `no file ${text.slice(0, 80)}, and no data either: ${describeError(error)}`, {
      cause: error,
    })
  }
}

/** Hex or base64url; quotes around it, as in a node's JSON answer, are allowed. */
function decodeText(text: string): Uint8Array {
  const bare = /^".*"$/.test(text) ? text.slice(1, -1) : text
  return /^[0-9a-fA-F]*$/.test(bare) && isRecordSize(bare.length / 2) ? decodeHex(bare) : decodeBase64Url(bare)
}

/** Records of graphs of degree d have 178 (work), 210 (header) or 214 (work response) + 36 d bytes. */
function isRecordSize(bytes: number): boolean {
  return [178, 210, 214].some((base) => bytes >= base && (bytes - base) % 36 === 0)
}

/** Every field of a header, work or work response, with what follows from them. Throws FormatError. */
export function describe(bytes: Uint8Array) {
  if ((bytes.length - 210) % 36 === 0 && bytes.length >= 210) {
    const header = decodeHeader(bytes)
    const work = bytes.subarray(0, bytes.length - 32)
    const hash = encodeBase64Url(header.hash)
    return { type: 'header', ...properties(work, header), hash, hashMatches: equalBytes(blockHash(work), header.hash) }
  }
  if ((bytes.length - 178) % 36 !== 0 || bytes.length < 178) {
    throw new FormatError(
      'length',
      bytes.length,
      `${bytes.length} bytes; expected 318 (header), 286 (work) or 322 (work response)`,
    )
  }
  // A work response of one degree is as long as work of the next: the number of adjacents tells them apart.
  if (adjacentCountAt(bytes, 36 + 48) === (bytes.length - 214) / 36) {
    const { bytes: work, fields } = decodeWorkResponse(bytes)
    return { type: 'workResponse', ...properties(work, fields) }
  }
  if (bytes.length === 322 && adjacentCountAt(bytes, 48) !== 4) decodeWorkResponse(bytes)
  return { type: 'work', ...properties(bytes, decodeWork(bytes)) }
}

function adjacentCountAt(bytes: Uint8Array, offset: number): number {
  return bytes[offset] | (bytes[offset + 1] << 8)
}

function properties(work: Uint8Array, fields: WorkFields) {
  const pow = powHash(work)
  return {
    ...workToJson(fields),
    target: encodeHex(u256LE(fields.target)),
    version: fields.version,
    powHash: encodeHex(pow),
    blockHash: encodeBase64Url(blockHash(work)),
    difficulty: difficultyOf(fields.target),
    level: levelOf(fields.target),
    solved: meets(pow, fields.target),
  }
}

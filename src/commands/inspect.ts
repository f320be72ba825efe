/** `newcut inspect`: headers, works and work responses as JSON, one object a line. */
import { existsSync, statSync } from 'node:fs'
import { brokenGenesisRules, brokenOwnRules, isGenesis } from '#client/node/verify.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { encodeBase64Url, encodeHex, equalBytes, u256LE } from '#ground/base/bytes.ts'
import { describeError, FormatError, fileProblem, NewcutError, operatingError } from '#ground/base/errors.ts'
import { stringifyJson } from '#ground/base/json.ts'
import { MAX_INPUT_BYTES, readUserFile } from '#ground/base/user-file.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import { forkStateOf } from '#ground/chain/fork.ts'
import {
  decodeHeader,
  decodeWork,
  degreeOfSize,
  type Header,
  headerLayout,
  WORK_PREFIX_BYTES,
  type WorkFields,
} from '#ground/chain/header.ts'
import { workToJson } from '#ground/chain/header-json.ts'
import { type NetworkCode, namesOfCode } from '#ground/chain/known-networks.ts'
import { completeNetwork, graphAt, type Network, type NetworkDefinition } from '#ground/chain/network.ts'
import { meets, powHash } from '#ground/chain/pow.ts'
import { difficultyOf, levelOf } from '#ground/chain/target.ts'
import type { HeaderRule } from '#ground/chain/validate.ts'
import { decodeWorkResponse } from '#ground/chain/work.ts'
import { commandErrors } from './input/errors.ts'
import { recordsOf, recordsOfArgument } from './input/inspect-input.ts'
import { networksOf } from './input/network-files.ts'

/**
 * `input` is text, a file, or `-` for stdin. Resolves with exit code 1 if a part is unreadable.
 * @param file of the network of the records
 * @throws NewcutError BAD_CONFIG for a file that cannot be used
 */
export async function runInspect(input: string, file: string | undefined, context: CommandContext): Promise<number> {
  const [network] = await networksOf(file === undefined ? [] : [file])
  return inspect(input, context.input, { out: printerTo(context.out), err: printerTo(context.err) }, network)
}

export interface InspectOutput {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
}

/**
 * Prints the records of the input: text, a file (lines, a JSON answer of a node, or the bytes of one record), or `-` for
 * stdin. Returns exit code 1 if a part is unreadable, otherwise 0.
 * @param network network of the records, if its file is given
 */
export function inspect(
  input: string,
  stdin: () => Uint8Array,
  { out, err }: InspectOutput,
  network?: NetworkDefinition,
): number {
  const isFile = input === '-' || (existsSync(input) && statSync(input).isFile())
  const named = codeOf(network)
  const records = isFile ? recordsOf(readContent(input, stdin), named) : recordsOfArgument(input.trim(), named)
  let code = 0
  for (const { place, read } of records) {
    try {
      const { bytes, format } = read()
      const { type, ...fields } = describe(bytes, network)
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
    throw operatingError(
      commandErrors.unreadableFile,
      { path: input, why: fileProblem(error), advice: 'newcut inspect - reads stdin' },
      error,
    )
  }
}

const codeOf = (network: NetworkDefinition | undefined): NetworkCode | undefined =>
  network?.code === undefined ? undefined : { name: network.name, code: network.code }

/**
 * Every field of a header, work or work response, with hashes and difficulty derived from them.
 * @param network its rules are checked for headers, as far as its file has them
 * @throws FormatError
 */
export function describe(bytes: Uint8Array, network?: NetworkDefinition) {
  if (degreeOfSize(bytes.length, 'header') !== null) {
    const header = decodeHeader(bytes)
    const work = bytes.subarray(0, bytes.length - 32)
    const hash = encodeBase64Url(header.hash)
    const hashMatches = equalBytes(blockHash(work), header.hash)
    const whole = network && completeNetwork(network)
    const rules = whole && { brokenRules: brokenRulesOf(header, whole) }
    return { type: 'header', ...properties(work, header, network), hash, hashMatches, ...rules }
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
    return { type: 'workResponse', ...properties(work, fields, network) }
  }
  if (degreeOfSize(bytes.length, 'workResponse') === 3 && adjacentCountAt(bytes, adjacentCount) !== 4) {
    decodeWorkResponse(bytes)
  }
  return { type: 'work', ...properties(bytes, decodeWork(bytes), network) }
}

function adjacentCountAt(bytes: Uint8Array, offset: number): number {
  return bytes[offset] | (bytes[offset + 1] << 8)
}

/** Rules that the header breaks whatever its parents are: a record has none. */
function brokenRulesOf(header: Header, network: Network): HeaderRule[] {
  const rules = { network, isKnown: true, checkPow: true, checkTargets: true }
  const alone = brokenOwnRules(header, rules)
  if (header.chainId >= graphAt(network, Number(header.height)).adjacents.length) return [...alone, 'chain']
  if (isGenesis(header, network)) return [...alone, ...brokenGenesisRules(header, rules)]
  // A block names the adjacents of the graph at the height of its parent (PROTOCOL.md D).
  const adjacents = graphAt(network, Number(header.height) - 1).adjacents[header.chainId] ?? []
  const fits = adjacents.length === header.adjacents.size && adjacents.every((chain) => header.adjacents.has(chain))
  return fits ? alone : [...alone, 'adjacents']
}

function properties(work: Uint8Array, fields: WorkFields, network: NetworkDefinition | undefined) {
  const pow = powHash(work)
  const { number: forkNumber, votes: forkVotes } = forkStateOf(fields.featureFlags)
  return {
    ...workToJson(fields, { network: codeOf(network) }),
    // Both halves of featureFlags; votes in thousandths.
    forkNumber,
    forkVotes,
    target: encodeHex(u256LE(fields.target)),
    version: fields.version,
    // Bytes have a code only, and several networks may have the same.
    networks: namesOfCode(fields.version, network && [network]),
    powHash: encodeHex(pow),
    blockHash: encodeBase64Url(blockHash(work)),
    difficulty: difficultyOf(fields.target),
    level: levelOf(fields.target),
    solved: meets(pow, fields.target),
  }
}

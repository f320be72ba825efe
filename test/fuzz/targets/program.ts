/** Inputs at the edges of the program: command line, files, child processes and the page. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { checkAuthorities } from '../../../src/client/node/authorities.ts'
import type { NodeClient } from '../../../src/client/node/client.ts'
import { readJsonArgument } from '../../../src/commands/input/code-argument.ts'
import { signingKeys } from '../../../src/commands/input/signing-keys.ts'
import { inspect } from '../../../src/commands/inspect.ts'
import { keyLines } from '../../../src/commands/keygen.ts'
import { decodePayloadRecord } from '../../../src/devnet/store/payload-record.ts'
import { configLines, resolveConfig } from '../../../src/faces/cli/config-file.ts'
import { mineOptions } from '../../../src/faces/cli/options/mine.ts'
import type { OptionSpec } from '../../../src/faces/cli/options/row.ts'
import { optionTables } from '../../../src/faces/cli/options/table.ts'
import type { ValueKind } from '../../../src/faces/cli/values.ts'
import { accountIn, chainIn, solvedFields } from '../../../src/faces/web/mine-page/read.ts'
import { Refused } from '../../../src/faces/web/mine-page/refused.ts'
import { NewcutError } from '../../../src/ground/base/errors.ts'
import { stringifyJson } from '../../../src/ground/base/json.ts'
import { decodeHeader, decodeWork } from '../../../src/ground/chain/header.ts'
import { headerToJson } from '../../../src/ground/chain/header-json.ts'
import { readAnswer } from '../../../src/mining/engine/external.ts'
import { decodeResult, RESULT_BYTES } from '../../../src/mining/engine/gpu/layout.ts'
import { LineReader, MAX_LINE_CHARACTERS, parseReport } from '../../../src/mining/engine/gpu/messages.ts'
import { DEFAULT_TUNING, readTuning, writeTuning } from '../../../src/mining/engine/gpu/tuning.ts'
import { Journal } from '../../../src/mining/journal/journal.ts'
import { sealJournalLine } from '../../../src/mining/journal/line-seal.ts'
import { applyLine, type JournalLine, parseLine } from '../../../src/mining/journal/record.ts'
import { parseCards } from '../../../src/mining/sensors/nvidia.ts'
import { isUnfinished, readRecords, simplyReadRecords } from '../../journal/records.ts'
import { certificates, headers, works } from '../seeds.ts'
import {
  bytesOf,
  expect,
  isNewcutError,
  isRangeError,
  jsonBytes,
  type Reader,
  type Target,
  textOf,
  textTarget,
} from '../target.ts'

const hash = 'A'.repeat(43)
const at = '2026-01-02T03:04:05.678Z'
const lines = [
  {
    ...{ at, hash, step: 'found', network: 'mainnet01', account: 'k:ab', issuer: 'node', chain: 1, height: 2 },
    ...{ device: 'cpu', effort: 1.5, difficulty: 1e6, work: 'A'.repeat(382) },
  },
  { at, hash, step: 'handed-in' },
  { at, hash, step: 'confirmed', depth: 3 },
  { at, hash, step: 'rejected', reason: 'stale', message: 'too late' },
  { at, hash, step: 'reward', amount: '1.5' },
]
const adapter = {
  ...{ name: 'card', backend: 'vulkan', vendor: 'v', architecture: 'a', device: 'd', driver: '1', software: false },
  limits: { invocationsPerWorkgroup: 256, workgroupsPerDimension: 65535, storageBufferBytes: 1e9 },
}
const reports = [
  { type: 'adapters', adapters: [{ ...adapter, alike: 1 }] },
  { type: 'ready', adapter, tuning: DEFAULT_TUNING },
  { type: 'began', sequence: 1 },
  { type: 'batch', sequence: 1, nonces: 65536, serviceMs: 12.5, candidates: ['00112233445566ff'] },
  { type: 'failed', message: 'lost', hopeless: true },
]
const miner = { account: 'k:ab', predicate: 'keys-all', 'public-keys': ['ab'.repeat(32)] }
const refuses = (error: unknown) => error instanceof Refused || isNewcutError(error)

/** A target whose reader needs a folder for its files. */
function inFolder(
  name: string,
  seeds: readonly Uint8Array[],
  read: (folder: string, bytes: Uint8Array) => unknown,
): Target {
  return {
    name,
    open: (): Reader => {
      const folder = mkdtempSync(join(tmpdir(), 'newcut-fuzz-'))
      return {
        seeds,
        read: (bytes) => read(folder, bytes),
        close: async () => rmSync(folder, { recursive: true, force: true }),
      }
    },
  }
}

const configs = [
  `node: http://127.0.0.1:1848\naccount: k:${'ab'.repeat(32)}\npublic-key:\n  - ${'cd'.repeat(32)}\n`,
  'threads: 4 # a comment\nhttp: off\nlog: json\n',
  '{ "threads": 2, "engine": "cpu", "duration": "30s" }',
  'threads: &a [1, *a]\n',
  'log: &a text\n<<: { engine: *a }\n',
  '%YAML 1.1\n---\naccount: !!binary aGVsbG8=\nduration: 2020-01-01\n',
]
const kinds = [
  ...new Set(optionTables.flatMap((table) => Object.values(table).map((spec) => (spec as OptionSpec<unknown>).kind))),
] as ValueKind<unknown>[]
const optionTexts = [
  ...['30s', '1.5m', '500ms', '4', '100k', '2.5G', '1e6', 'simulated:100MH/s', 'constant:2s', 'true', 'off', 'text'],
  ...['0.00000001', '1e-8', 'http://127.0.0.1:1848', '[::1]:4148', 'ab'.repeat(32), `${'ab:'.repeat(31)}ab`, hash],
]

const headerHex = headers.slice(0, 3).map((bytes) => Buffer.from(bytes).toString('hex'))
const headerText = headers.slice(0, 3).map((bytes) => Buffer.from(bytes).toString('base64url'))
const headerObject = stringifyJson(headerToJson(decodeHeader(headers[0])))

/** RFC 8032, the first test vector. */
const secretKey = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'
const publicKey = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
const keyFiles = [
  `${keyLines({ publicKey, secretKey }).join('\n')}\n`,
  JSON.stringify({ publicKey, secretKey, account: `k:${publicKey}` }),
  `public: "${publicKey.toUpperCase()}"\r\nsecret: '${secretKey}'\r\n`,
]

const read = {
  config: (folder: string, bytes: Uint8Array) => {
    const file = join(folder, 'config.yaml')
    writeFileSync(file, bytes)
    configLines(mineOptions, resolveConfig(mineOptions, {}, {}, file))
  },
  tuning: (folder: string, bytes: Uint8Array) => {
    const file = join(folder, 'tuning.json')
    writeFileSync(file, bytes)
    for (const key of ['a|b', '__proto__', 'constructor']) readTuning(file, key)
    writeTuning(file, 'a|b', DEFAULT_TUNING)
    expect(readTuning(file, 'a|b')?.workgroup === DEFAULT_TUNING.workgroup, 'a written tuning is read')
  },
  keys: (folder: string, bytes: Uint8Array) => {
    const file = join(folder, 'key.txt')
    writeFileSync(file, bytes)
    try {
      const [{ account, key }] = signingKeys([file], 'mainnet01', () => undefined)
      expect(/^[0-9a-f]{64}$/.test(key.publicKey) && account === `k:${key.publicKey}`, 'a key and its account')
      expect(/^[0-9a-f]{128}$/.test(key.sign(bytes)), 'the key signs')
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      expect(!`${error.message} ${error.hint}`.includes(secretKey), 'an error repeats no secret key')
    }
  },
  journal: async (folder: string, bytes: Uint8Array) => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'blocks-2026-01.jsonl'), bytes)
    const read = await readRecords(folder)
    expect(isDeepStrictEqual(read, simplyReadRecords(folder)), 'the reader keeps what a simple one keeps')
    // The journal reads its own lines, whatever other lines say.
    rmSync(join(folder, 'blocks-2026-01.jsonl'))
    const journal = Journal.open(folder, { onTrouble: () => undefined, onRecovered: () => undefined })
    for (const line of [lines[0], { ...lines[3], message: textOf(bytes).slice(0, 2_000) }])
      journal.append(line as JournalLine)
    expect((await readRecords(folder)).damaged === 0, 'no line is damaged')
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
  },
}

/** node:tls can use the authorities that the check accepts. */
function judgeAuthorities(pem: string): void {
  checkAuthorities(pem, 'the file')
  createSecureContext({ ca: pem })
}

function judgeCards(output: string): void {
  const cards = parseCards(output)
  expect(cards.length <= output.split('\n').length, 'a line for each card')
  for (const { pci, celsius, fanPercent, watts } of cards) {
    const figures = [celsius, fanPercent, watts].filter((figure) => figure !== null)
    expect(
      figures.every((figure) => Number.isFinite(figure) && figure >= 0),
      'figures are numbers',
    )
    expect(pci === null || /^[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/.test(pci), 'a place on the bus')
  }
}

export const programTargets: readonly Target[] = [
  { ...inFolder('configuration in YAML', configs.map(bytesOf), read.config), share: 0.1, maxMs: 1_000 },
  textTarget('values of options', optionTexts, (text) => {
    for (const { parse, format } of kinds) {
      const value = parse(text)
      if (value !== undefined) format(value)
    }
  }),
  textTarget(
    'values of environment variables',
    optionTexts,
    (text) => {
      const variables = ['NEWCUT_NODE', 'NEWCUT_THREADS', 'NEWCUT_HTTP', 'NEWCUT_DURATION', text.slice(0, 40)]
      for (const name of variables) {
        try {
          configLines(mineOptions, resolveConfig(mineOptions, {}, { [name]: text }, undefined))
        } catch (error) {
          if (!isNewcutError(error)) throw error
        }
      }
    },
    { share: 0.1 },
  ),
  {
    name: 'input of inspect',
    open: () => ({
      seeds: [
        ...headers.slice(0, 2),
        ...works,
        ...[...headerHex, ...headerText].map(bytesOf),
        bytesOf(`${headerHex[0]}\n${headerText[1]}\n${headerObject}\n`),
        bytesOf(`{"limit":1,"items":[${headerObject},{"header":${headerObject}},"${headerText[0]}"],"next":null}`),
      ],
      read: (bytes) => inspect('-', () => bytes, { out: () => undefined, err: () => undefined }),
    }),
  },
  textTarget('argument of inspect', [...headerHex, ...headerText, headerObject], (text) =>
    inspect(text, () => new Uint8Array(), { out: () => undefined, err: () => undefined }),
  ),
  textTarget('JSON on the command line', ['{"a": 1}', '[1, 2]', '@/nowhere'], (text) =>
    text.startsWith('@') ? null : readJsonArgument(text, '--data'),
  ),
  textTarget(
    'lines of the journal',
    lines.flatMap((line) => [
      JSON.stringify(line),
      Buffer.from(sealJournalLine(JSON.stringify(line)))
        .toString()
        .trimEnd(),
    ]),
    (text) => {
      const line = parseLine(bytesOf(text))
      const record = line && applyLine(applyLine(undefined, lines[0] as JournalLine) ?? undefined, line)
      return record && isUnfinished(record, 6)
    },
  ),
  {
    ...inFolder(
      'files of the journal',
      [Buffer.concat(lines.map((line) => sealJournalLine(JSON.stringify(line)))), bytesOf('\n')],
      read.journal,
    ),
    share: 0.05,
  },
  {
    name: 'reports of a GPU process',
    share: 2,
    open: () => ({
      seeds: [...reports.map((report) => bytesOf(`${JSON.stringify(report)}\n`)), jsonBytes(reports)],
      // For a line that is too long.
      allows: isRangeError,
      read: (bytes) => {
        const reader = new LineReader()
        const text = textOf(bytes)
        const middle = Math.floor(text.length / 2)
        for (const piece of [text.slice(0, middle), text.slice(middle)]) {
          for (const line of reader.push(piece)) {
            expect(line.length <= MAX_LINE_CHARACTERS, 'lines have a limit')
            parseReport(line)
          }
        }
      },
    }),
  },
  {
    name: 'results of a GPU',
    share: 5,
    open: () => ({
      seeds: [new Uint8Array(16), new Uint8Array(64).fill(1)],
      read: (bytes) => {
        const words = new Uint32Array(RESULT_BYTES / 4)
        new Uint8Array(words.buffer).set(bytes.subarray(0, RESULT_BYTES))
        const result = decodeResult(words, words[0])
        expect(result !== null && result.nonces.length <= 1024, 'a result has at most 1,024 nonces')
      },
    }),
  },
  {
    ...inFolder('tuning files', [jsonBytes({ 'a|b': DEFAULT_TUNING, other: 1 }), jsonBytes([])], read.tuning),
    share: 0.05,
  },
  textTarget('output of external workers', ['00000000deadbeef', '00000000deadbeef 1000 2000\n', 'found'], (text) => {
    const answer = readAnswer(text)
    if (answer === null) return
    expect(answer.nonce >= 0n && answer.nonce < 1n << 64n, 'a nonce has 64 bits')
    expect(Number.isSafeInteger(answer.hashes), 'hashes are counted exactly')
  }),
  {
    name: 'account for the gateway of the page',
    open: () => ({ seeds: [jsonBytes(miner)], allows: refuses, read: accountIn }),
  },
  {
    name: 'solved work for the gateway of the page',
    share: 10,
    open: () => ({
      seeds: [...works, headers[0].subarray(0, 286)],
      allows: refuses,
      read: (bytes) =>
        expect(solvedFields(bytes).chainId === decodeWork(bytes).chainId, 'fields are those of the work'),
    }),
  },
  textTarget(
    'chain for the gateway of the page',
    ['0', '19', '7'],
    (text) => chainIn({ info: { nodeChains: ['0', '7', '19'] } } as unknown as NodeClient, text),
    { allows: refuses },
  ),
  textTarget(
    'authorities in PEM form',
    [...certificates, certificates.join('\n'), `# a comment\r\n${certificates[0].replaceAll('\n', '\r\n')}`],
    judgeAuthorities,
    { share: 0.3 },
  ),
  { ...inFolder('files of keys', keyFiles.map(bytesOf), read.keys), share: 0.2 },
  textTarget(
    'output of nvidia-smi',
    [
      'NVIDIA H200, 00000000:5D:00.0, 57, [N/A], 612.34\nNVIDIA GeForce RTX 4090, 00000000:01:00.0, 66, 43, 301.5\n',
      'Failed to initialize NVML: Driver/library version mismatch\n',
    ],
    judgeCards,
    { share: 2 },
  ),
  {
    name: 'payload records of a database',
    share: 20,
    open: () => ({
      seeds: [Buffer.concat([new Uint8Array(96), Uint8Array.of(1, 0, 0, 0, 65, 2, 0, 0, 0, 66, 66)])],
      allows: isRangeError,
      read: decodePayloadRecord,
    }),
  },
]

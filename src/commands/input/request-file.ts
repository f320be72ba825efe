/**
 * Request files: a command to build and sign, or one that is built and lacks signatures (INTERFACE.md, "Command" and
 * "Command payload"). YAML or JSON.
 */
import { dirname, resolve } from 'node:path'
import type { Capability } from '#client/wallet/capability.ts'
import { commandText, creationTimeAt, freshNonce, type OpenDraft, type Payload } from '#client/wallet/command.ts'
import { type SigningKey, signingKey } from '#client/wallet/keys.ts'
import { gasPrice } from '#faces/cli/values.ts'
import { decodeHash, encodeBase64Url } from '#ground/base/bytes.ts'
import { operatingError } from '#ground/base/errors.ts'
import {
  type ExactJson,
  exactJsonText,
  fieldsOf,
  isJsonObject,
  type JsonFields,
  NumberText,
  parsePlainJson,
} from '#ground/base/json.ts'
import { blake2b256 } from '#ground/chain/blake2b.ts'
import { fileText } from './code-argument.ts'
import { commandErrors } from './errors.ts'
import { readExactYaml } from './exact-yaml.ts'

/** A command whose signatures may be missing. */
export interface OpenCommand {
  /** File that it came from. */
  readonly path: string
  readonly cmd: string
  /** Request key. */
  readonly hash: string
  readonly networkId: string
  readonly chain: number
  /** Seconds in which a block may include it. */
  readonly ttl: number
  readonly signers: readonly CommandSigner[]
  /** Signature of each signer, or null. */
  readonly sigs: readonly (string | null)[]
  /** Key pairs of the file. */
  readonly keys: readonly SigningKey[]
}

interface CommandSigner {
  readonly pubKey: string
  readonly scheme?: string | null
  readonly addr?: string | null
}

/** Values that a request may leave out. */
export interface RequestDefaults {
  /** Null if there is none: then a request needs `networkId`. */
  readonly networkId: string | null
  readonly nowMs: number
}

const HASH = 'a hash of 43 characters of base64url'

/**
 * Reads one request file.
 * @throws NewcutError BAD_INPUT with the file, the place and what would be right
 */
export function readRequestFile(path: string, defaults: RequestDefaults): OpenCommand {
  return readRequest(fileText(path), path, defaults)
}

/**
 * Reads the text of a request file.
 * @param path for errors, and for files beside it
 * @throws like readRequestFile
 */
export function readRequest(text: string, path: string, defaults: RequestDefaults): OpenCommand {
  const json = readExactYaml(text, path)
  if (!isJsonObject(json)) throw operatingError(commandErrors.notRequest, { file: path })
  const reader = new FileReader(path, json)
  return reader.has('cmd') ? builtCommand(reader) : requestedCommand(reader, defaults)
}

/** Typed access to the fields of a file. Each method throws NewcutError BAD_INPUT. */
class FileReader {
  readonly path: string
  readonly fields: JsonFields
  readonly #place: string

  constructor(path: string, fields: JsonFields, place = '') {
    this.path = path
    this.fields = fields
    this.#place = place
  }

  has(name: string): boolean {
    return this.fields[name] != null
  }

  fail(name: string, expected: string): never {
    throw operatingError(commandErrors.wrongRequestField, { file: this.path, field: `${this.#place}${name}`, expected })
  }

  text(name: string, expected = 'a text'): string {
    const value = this.fields[name]
    return typeof value === 'string' ? value : this.fail(name, expected)
  }

  /** A whole number; as a text too. */
  wholeNumber(name: string, expected = 'a whole number of at least 0'): number {
    const value = this.fields[name]
    const text = typeof value === 'bigint' || typeof value === 'string' ? String(value) : ''
    return /^\d{1,15}$/.test(text) ? Number(text) : this.fail(name, expected)
  }

  list(name: string): readonly FileReader[] {
    const value = this.fields[name] ?? []
    if (!Array.isArray(value)) return this.fail(name, 'a list')
    return value.map((item: ExactJson, i) =>
      isJsonObject(item)
        ? new FileReader(this.path, item, `${this.#place}${name}.${i}.`)
        : this.fail(`${name}.${i}`, 'an object'),
    )
  }

  object(name: string): FileReader {
    const value = this.fields[name]
    return isJsonObject(value)
      ? new FileReader(this.path, value, `${this.#place}${name}.`)
      : this.fail(name, 'an object')
  }

  /** Text of a file that a field names, beside this file. */
  fileOf(name: string): string {
    return fileText(resolve(dirname(this.path), this.text(name, 'the name of a file')))
  }

  expectNames(known: readonly string[]): void {
    const unknown = Object.keys(this.fields).find((name) => !known.includes(name))
    if (unknown !== undefined) this.fail(unknown, `none: known are ${known.join(', ')}`)
  }
}

const COMMON = ['type', 'data', 'dataFile', 'publicMeta', 'networkId', 'nonce', 'keyPairs', 'signers']
const EXEC = ['code', 'codeFile', ...COMMON]
const CONT = ['pactTxHash', 'step', 'rollback', 'proof', ...COMMON]

function requestedCommand(reader: FileReader, { networkId, nowMs }: RequestDefaults): OpenCommand {
  const isCont = reader.has('pactTxHash') || reader.fields.type === 'cont'
  reader.expectNames(isCont ? CONT : EXEC)
  const meta = reader.object('publicMeta')
  meta.expectNames(['chainId', 'sender', 'gasLimit', 'gasPrice', 'ttl', 'creationTime'])
  const price = meta.fields.gasPrice
  const pairs = reader.list('keyPairs').map(pairOf)
  const signers = [...reader.list('signers').map(signerOf), ...pairs.map(({ signer }) => signer)]
  if (signers.length === 0) reader.fail('signers', 'the public keys that sign, or keyPairs')
  const draft: OpenDraft = {
    networkId:
      reader.has('networkId') || networkId === null ? reader.text('networkId', 'the name of a network') : networkId,
    chain: meta.wholeNumber('chainId', 'a chain, such as "0"'),
    payload: isCont ? continuationOf(reader) : executionOf(reader),
    signers,
    sender: meta.text('sender', 'the account that pays for gas'),
    gasLimit: meta.wholeNumber('gasLimit'),
    gasPrice:
      gasPrice.parse(price instanceof NumberText ? price.text : String(price)) ??
      meta.fail('gasPrice', gasPrice.expected),
    ttl: meta.wholeNumber('ttl', 'a whole number of seconds'),
    creationTime: meta.has('creationTime') ? meta.wholeNumber('creationTime') : creationTimeAt(nowMs),
    nonce: reader.has('nonce') ? reader.text('nonce') : freshNonce(nowMs),
  }
  return commandWith(
    reader.path,
    commandText(draft),
    signers.map(() => null),
    pairs.map(({ key }) => key),
  )
}

function executionOf(reader: FileReader): Payload {
  if (reader.has('code') === reader.has('codeFile')) reader.fail('code', 'either code or codeFile')
  return { code: reader.has('code') ? reader.text('code') : reader.fileOf('codeFile'), data: dataOf(reader) }
}

function continuationOf(reader: FileReader): Payload {
  const pactId = reader.text('pactTxHash', HASH)
  if (!isHash(pactId)) reader.fail('pactTxHash', HASH)
  const rollback = reader.fields.rollback ?? false
  if (typeof rollback !== 'boolean') return reader.fail('rollback', 'true or false')
  const proof = reader.has('proof') ? reader.text('proof') : null
  return { pactId, step: reader.wholeNumber('step'), rollback, proof, data: dataOf(reader) }
}

/** JSON text of the data. */
function dataOf(reader: FileReader): string {
  if (!reader.has('dataFile')) return exactJsonText(reader.fields.data ?? {})
  if (reader.has('data')) reader.fail('data', 'either data or dataFile')
  return exactJsonText(readExactYaml(reader.fileOf('dataFile'), reader.text('dataFile')))
}

type SignerFactory = OpenDraft['signers'][number]

function signerOf(reader: FileReader): SignerFactory {
  reader.expectNames(['public', 'caps'])
  return { key: { publicKey: publicIn(reader) }, capabilities: capsOf(reader) }
}

function pairOf(reader: FileReader): { readonly key: SigningKey; readonly signer: SignerFactory } {
  reader.expectNames(['public', 'secret', 'caps'])
  const secret = reader.text('secret', '64 hex digits')
  if (!/^[0-9a-fA-F]{64}$/.test(secret)) reader.fail('secret', '64 hex digits')
  const key = signingKey(secret)
  if (key.publicKey !== publicIn(reader)) reader.fail('public', `${key.publicKey}, which belongs to the secret key`)
  return { key, signer: { key, capabilities: capsOf(reader) } }
}

function publicIn(reader: FileReader): string {
  const text = reader.text('public', '64 hex digits')
  return /^[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : reader.fail('public', '64 hex digits')
}

function capsOf(reader: FileReader): Capability[] {
  return reader.list('caps').map((cap) => {
    cap.expectNames(['name', 'args'])
    const args = cap.fields.args ?? []
    if (!Array.isArray(args)) return cap.fail('args', 'a list')
    return { name: cap.text('name', 'a name such as coin.GAS'), args: args as readonly ExactJson[] }
  })
}

/** A command that is built: its text decides all, and its signatures may be missing. */
function builtCommand(reader: FileReader): OpenCommand {
  reader.expectNames(['hash', 'cmd', 'sigs'])
  const command = commandWith(reader.path, reader.text('cmd'), [], [])
  if (reader.has('hash') && reader.text('hash') !== command.hash)
    reader.fail('hash', `${command.hash}, the hash of cmd`)
  const sigs = reader.fields.sigs ?? []
  const listed = Array.isArray(sigs)
    ? (sigs as readonly ExactJson[])
    : command.signers.map(({ pubKey }) => fieldsOf(sigs)[pubKey] ?? null)
  if (listed.length > command.signers.length)
    reader.fail('sigs', `at most ${command.signers.length}, one for each signer`)
  return { ...command, sigs: command.signers.map((_, i) => sigOf(reader, listed[i] ?? null, i)) }
}

/** The text of a signature, or null if it is missing. */
function sigOf(reader: FileReader, item: ExactJson, i: number): string | null {
  const value = isJsonObject(item) ? (item.sig ?? null) : item
  if (value === null || typeof value === 'string') return value
  return reader.fail(`sigs.${i}`, 'null, or an object with sig')
}

function commandWith(
  path: string,
  cmd: string,
  sigs: readonly (string | null)[],
  keys: readonly SigningKey[],
): OpenCommand {
  const hash = encodeBase64Url(blake2b256(new TextEncoder().encode(cmd)))
  const { networkId, meta, signers } = partsOf(path, cmd)
  return { path, cmd, hash, networkId, chain: Number(meta.chainId), ttl: meta.ttl, signers, sigs, keys }
}

interface CommandParts {
  readonly networkId: string
  readonly meta: { readonly chainId: string; readonly ttl: number }
  readonly signers: readonly CommandSigner[]
}

function partsOf(path: string, cmd: string): CommandParts {
  const notCommand = { file: path, field: 'cmd', expected: 'the JSON of a command' }
  const commandError = () => operatingError(commandErrors.wrongRequestField, notCommand)
  let parts: Partial<CommandParts>
  try {
    parts = parsePlainJson(cmd) as Partial<CommandParts>
  } catch {
    throw commandError()
  }
  const { networkId, meta, signers } = parts ?? {}
  const isWhole = typeof networkId === 'string' && /^\d{1,4}$/.test(meta?.chainId ?? '') && Number.isFinite(meta?.ttl)
  if (!isWhole || !Array.isArray(signers)) throw commandError()
  return parts as CommandParts
}

function isHash(text: string): boolean {
  try {
    decodeHash(text, 'hash')
    return true
  } catch {
    return false
  }
}

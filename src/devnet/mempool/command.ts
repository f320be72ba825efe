/**
 * Signed commands as the memory pool takes them (PROTOCOL.md E.2), with the rules by which live nodes refuse a
 * transaction before any contract runs. A fault is a text that says what is wrong and what would be right.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { TSchema } from 'typebox'
import { decodeHash, decodeHex } from '../../core/bytes.ts'
import { isCommandHash } from '../../core/command-hash.ts'
import { describeError, FormatError } from '../../core/errors.ts'
import { Command } from '../../schema/bodies.ts'
import { CommandPayload, type Signer } from '../../schema/commands.ts'
import { validatorOf } from '../../schema/validator.ts'

/** Gas that all transactions of a block together may ask for. */
export const MAX_BLOCK_GAS = 150_000
/** Lowest gas price that is taken. */
const MIN_GAS_PRICE = 1e-8
/** Gas prices are multiples of 10^-12. */
const GAS_PRICE_DECIMALS = 12
/** Longest time to live: two days. */
const MAX_TTL_SECONDS = 172_800
/** How far ahead of the node's clock a command's creation time may be. */
const MAX_CREATION_AHEAD_SECONDS = 95
/** Most signatures of a command. */
const MAX_SIGNATURES = 100

/** A command that passed every check. */
export interface Transaction {
  /** Request key: the hash of the command as in JSON. */
  readonly key: string
  /** The transaction as it goes into a payload: JSON text of the command in the spelling of live nodes. */
  readonly bytes: Uint8Array
  readonly gasLimit: number
  readonly gasPrice: number
  readonly expiresAtMs: number
}

/** Where and when a command is to be executed. */
export interface Destination {
  /** Name of the network. */
  readonly network: string
  readonly chain: number
  readonly nowMs: number
}

interface Parsed {
  readonly command: Command
  readonly hash: Uint8Array
  readonly cmd: Uint8Array
  readonly payload: CommandPayload
}

/** What is wrong with a command, and what would be right. */
export class Fault {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

const encoder = new TextEncoder()

/** Reads and checks a command. */
export function readCommand(text: string, destination: Destination): Transaction | Fault {
  const parsed = parse(text)
  if (parsed instanceof Fault) return parsed
  // Signatures come last, because they take most time.
  const fault = hashFault(parsed) ?? placeFault(parsed, destination) ?? gasFault(parsed) ?? signaturesFault(parsed)
  if (fault !== null) return new Fault(fault)
  const { meta } = parsed.payload
  const { hash, sigs, cmd } = parsed.command
  return {
    key: hash,
    bytes: encoder.encode(JSON.stringify({ hash, sigs: sigs.map((each) => ({ sig: each?.sig })), cmd })),
    gasLimit: meta.gasLimit,
    gasPrice: meta.gasPrice,
    expiresAtMs: 1000 * (meta.creationTime + meta.ttl),
  }
}

function parse(text: string): Parsed | Fault {
  const command = parseAs<Command>(text, Command, '')
  if (command instanceof Fault) return command
  // A lone surrogate has no UTF-8 bytes, so such a text has no hash.
  if (/\p{Surrogate}/u.test(command.cmd)) return new Fault('/cmd: holds half of a surrogate pair, which is no text')
  const payload = parseAs<CommandPayload>(command.cmd, CommandPayload, '/cmd')
  if (payload instanceof Fault) return payload
  try {
    return { command, hash: decodeHash(command.hash, '/hash'), cmd: encoder.encode(command.cmd), payload }
  } catch (error) {
    if (error instanceof FormatError) return new Fault(error.message)
    throw error
  }
}

function parseAs<T>(text: string, schema: TSchema, place: string): T | Fault {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return new Fault(`${place || 'the command'}: no JSON: ${describeError(error)}`)
  }
  const validator = validatorOf(schema)
  return validator.accepts(json)
    ? (json as T)
    : new Fault(validator.complaint(json, place).replace(/^the whole/, 'the command'))
}

function hashFault({ command, hash, cmd }: Parsed): string | null {
  if (isCommandHash(hash, cmd)) return null
  return `/hash: ${command.hash} is not the hash of cmd, neither by BLAKE2b-256 nor by BLAKE2s-256`
}

/** Network, chain and time. */
function placeFault({ payload }: Parsed, { network, chain, nowMs }: Destination): string | null {
  const { networkId, meta } = payload
  if (networkId !== network) return `/cmd/networkId: ${JSON.stringify(networkId)}; this network is ${network}`
  if (meta.chainId !== String(chain))
    return `/cmd/meta/chainId: ${JSON.stringify(meta.chainId)}; this is chain ${chain}`
  if (meta.ttl > MAX_TTL_SECONDS) return `/cmd/meta/ttl: ${meta.ttl} s; at most ${MAX_TTL_SECONDS}`
  const now = Math.floor(nowMs / 1000)
  if (meta.creationTime > now + MAX_CREATION_AHEAD_SECONDS) {
    return `/cmd/meta/creationTime: ${meta.creationTime} is more than ${MAX_CREATION_AHEAD_SECONDS} s ahead of ${now}`
  }
  if (1000 * (meta.creationTime + meta.ttl) <= nowMs) {
    return `/cmd/meta: expired at ${meta.creationTime + meta.ttl} (creationTime + ttl); it is ${now}`
  }
  return null
}

function gasFault({ payload, cmd }: Parsed): string | null {
  const { exec, cont } = payload.payload
  if ((exec === undefined) === (cont === undefined)) return '/cmd/payload: expected either exec or cont'
  const { gasLimit, gasPrice } = payload.meta
  if (gasLimit > MAX_BLOCK_GAS) return `/cmd/meta/gasLimit: ${gasLimit}; at most ${MAX_BLOCK_GAS}, that of a block`
  if (gasPrice < MIN_GAS_PRICE) return `/cmd/meta/gasPrice: ${gasPrice}; at least ${MIN_GAS_PRICE}`
  if (Number(gasPrice.toFixed(GAS_PRICE_DECIMALS)) !== gasPrice) {
    return `/cmd/meta/gasPrice: ${gasPrice} has more than ${GAS_PRICE_DECIMALS} decimal places`
  }
  const gas = sizeGas(cmd.length - (cont?.proof?.length ?? 0))
  if (gas >= gasLimit) return `/cmd/meta/gasLimit: ${gasLimit}; ${cmd.length} bytes of cmd alone cost ${gas}`
  return null
}

/** Gas for the size of a command, without the proof of a continuation. Only this gas limits the size of commands. */
function sizeGas(bytes: number): number {
  const linear = 0.01 * bytes
  return Math.ceil(linear + (linear / 512) ** 7)
}

function signaturesFault({ command: { sigs }, payload: { signers }, hash }: Parsed): string | null {
  if (sigs.length !== signers.length)
    return `/sigs: ${sigs.length} for ${signers.length} signers; one for each, in order`
  if (sigs.length > MAX_SIGNATURES) return `/sigs: ${sigs.length}; at most ${MAX_SIGNATURES}`
  for (const [i, signer] of signers.entries()) {
    const fault = signatureFault(sigs[i]?.sig, signer, hash, i)
    if (fault !== null) return fault
  }
  return null
}

/** What is wrong with the signature of signer number `i`: of the 32 bytes of the hash, not of `cmd`. null: nothing. */
export function signatureFault(sig: string | undefined, signer: Signer, hash: Uint8Array, i: number): string | null {
  const { pubKey, scheme = null, addr = null } = signer
  if (scheme !== null && scheme !== 'ED25519') {
    return `/cmd/signers/${i}/scheme: ${JSON.stringify(scheme)}; this node checks signatures of scheme ED25519 only`
  }
  if (!/^[0-9a-fA-F]{64}$/.test(pubKey)) return `/cmd/signers/${i}/pubKey: not 64 hex digits, an ED25519 public key`
  if (addr !== null && addr !== pubKey) return `/cmd/signers/${i}/addr: differs from pubKey`
  if (sig === undefined) return `/sigs/${i}: null; the command is not signed by ${pubKey}`
  if (!/^[0-9a-fA-F]{128}$/.test(sig)) return `/sigs/${i}/sig: not 128 hex digits, an ED25519 signature`
  if (verify(null, hash, ed25519Key(pubKey), decodeHex(sig))) return null
  return `/sigs/${i}/sig: no signature of the hash by ${pubKey}`
}

function ed25519Key(hex: string): KeyObject {
  const x = Buffer.from(hex, 'hex').toString('base64url')
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}

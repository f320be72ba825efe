/** Values of a case's `make` steps: signed commands, solved work, slices of bytes and repeated items. */
import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import { withNonce } from '#ground/chain/header.ts'
import { solves } from '#ground/chain/pow.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import { decodeWorkResponse } from '#ground/chain/work.ts'
import { readCapability } from '../wallet/capability.ts'
import type { Payload } from '../wallet/command.ts'
import { signedCommand } from '../wallet/keys.ts'
import { knownKey } from '../wallet/known-keys.ts'
import type { CaseStep } from './case-file.ts'

/** The case cannot run at this node. The message says why. */
export class CaseSkipped extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = new.target.name
  }
}

/** A case whose `with` cannot be used. */
export class WrongInput extends Error {
  constructor(message: string) {
    super(message)
    this.name = new.target.name
  }
}

/** Maximum hashes that the runner tries for a solution: a few seconds. */
const MAX_HASHES = 1n << 22n

type MakeInput = Readonly<Record<string, unknown>>

/** Values of a command that its case does not set. */
interface CommandDefaults {
  readonly network: string
  /** Seconds since 1970 on the node's clock. */
  readonly nowS: number
  /** A text that no other command of this run has. */
  readonly nonce: string
}

/** @returns the value of a `make` step. @throws CaseSkipped, WrongInput, FormatError, NewcutError for a capability */
export function makeValue(kind: NonNullable<CaseStep['make']>, input: MakeInput, defaults: CommandDefaults): unknown {
  if (kind === 'command') return makeCommand(input, defaults)
  if (kind === 'repeat') return repeatItem(input)
  const bytes = decodeBase64Url(String(input.bytes), 'with.bytes')
  if (kind === 'slice')
    return encodeBase64Url(bytes.subarray(Number(input.from ?? 0), Number(input.to ?? bytes.length)))
  return makeSolution(bytes, kind === 'solution')
}

/** Maximum items of a list that a case repeats: more would fill the memory. */
const MAX_ITEMS = 1_000_000

function repeatItem({ item, count }: MakeInput): unknown[] {
  const items = Number(count)
  if (!Number.isInteger(items) || items < 0 || items > MAX_ITEMS) {
    throw new WrongInput(`with.count is ${count}, expected 0 to ${MAX_ITEMS}`)
  }
  return Array<unknown>(items).fill(item)
}

function makeCommand(input: MakeInput, { network, nowS, nonce }: CommandDefaults) {
  const signers = (input.signers ?? []) as readonly { readonly key: string; readonly caps?: readonly string[] }[]
  return signedCommand({
    networkId: String(input.network ?? network),
    chain: Number(input.chain),
    payload: payloadOf(input),
    signers: signers.map(({ key, caps = [] }) => {
      const known = knownKey(key)
      if (known === null) throw new WrongInput(`${key} is not an account of development networks`)
      return { key: known.key, capabilities: caps.map(readCapability) }
    }),
    sender: String(input.sender ?? 'sender00'),
    gasLimit: Number(input.gasLimit ?? 2500),
    gasPrice: String(input.gasPrice ?? '0.00000001'),
    ttl: Number(input.ttl ?? 600),
    creationTime: nowS + Number(input.after ?? -15),
    nonce: String(input.nonce ?? nonce),
  })
}

function payloadOf(input: MakeInput): Payload {
  const data = JSON.stringify(input.data ?? {})
  if (input.code !== undefined) return { code: String(input.code), data }
  const { pact, step, rollback, proof } = input
  if (pact === undefined) throw new WrongInput('a command needs code or pact')
  const continued = { pactId: String(pact), step: Number(step ?? 1), rollback: rollback === true }
  return { ...continued, proof: proof === undefined ? null : String(proof), data }
}

/** The header of a work response with a nonce that solves it, or with one that does not. */
function makeSolution(response: Uint8Array, isSolved: boolean) {
  const { bytes, fields } = decodeWorkResponse(response)
  const hashes = difficultyOf(fields.target)
  if (hashes === null || hashes > MAX_HASHES / 4n) throw new CaseSkipped(`work needs ${hashes ?? 'too many'} hashes`)
  for (let nonce = 0n; nonce < MAX_HASHES; nonce++) {
    const solved = withNonce(bytes, nonce)
    if (solves(solved) !== isSolved) continue
    const { chainId: chain, height } = fields
    return { bytes: encodeBase64Url(solved), chain, height: Number(height), hash: encodeBase64Url(blockHash(solved)) }
  }
  throw new CaseSkipped(`no solution in ${MAX_HASHES} hashes`)
}

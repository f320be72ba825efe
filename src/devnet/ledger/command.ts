/** What a signed command says, with values and exact numbers of the contract language (PROTOCOL.md E.2). */

import type { Environment } from '../../contracts/machine/environment.ts'
import type { Decimal } from '../../contracts/values/decimal.ts'
import { CapabilityToken, UNIT, type Value } from '../../contracts/values/value.ts'
import { valueFromJson } from '../../contracts/values/wire.ts'
import { commandSizeOf } from '../../core/command-size.ts'
import { FormatError } from '../../core/errors.ts'
import { type GasModel, sizeGas } from '../../core/gas.ts'
import { type ExactJson, NumberText } from '../../core/json.ts'
import { validatorOf } from '../../schema/validator.ts'
import { decimalOf, wholeNumberOf } from '../command/numbers.ts'
import { payloadFault } from '../command/read.ts'
import { CommandPayload } from '../command/shape.ts'
import type { SignedCommand } from '../command/signed-command.ts'
import type { VerifierUse } from './verifiers/verifier.ts'

export interface Exec {
  readonly kind: 'exec'
  readonly code: string
  readonly data: Value
}

export interface Cont {
  readonly kind: 'cont'
  readonly pactId: string
  readonly step: number
  readonly isRollback: boolean
  /** base64url; null: the step before ran on this chain. */
  readonly proof: string | null
  readonly data: Value
}

export interface PublicMeta {
  readonly chainId: string
  readonly sender: string
  readonly gasLimit: number
  readonly gasPrice: Decimal
  /** Seconds. */
  readonly ttl: number
  /** Seconds since the UNIX epoch. */
  readonly creationTime: number
}

export interface ContractCommand {
  /** Request key. */
  readonly key: string
  readonly payload: Exec | Cont
  /** Public key -> capabilities that its signature is limited to; none: it signs everything. */
  readonly signers: Environment['signers']
  /** The same by address, where a signer names one: so signers count before release 5.4.1 of the language. */
  readonly signersByAddress: Environment['signers']
  /** In the order of the command. */
  readonly verifiers: readonly VerifierUse[]
  readonly meta: PublicMeta
  /** Gas for its size. */
  readonly sizeGas: number
}

type JsonObject = { readonly [key: string]: ExactJson }

/**
 * Reads a command whose `cmd` is `parsed`, and whose size costs gas by `gasModel`. `metaOf`: its metadata, from what is
 * said of them. Throws FormatError.
 */
export function readContractCommand(
  { hash: key, sigs, cmd }: SignedCommand,
  gasModel: GasModel,
  parsed: ExactJson,
  metaOf: (meta: JsonObject) => PublicMeta = readMeta,
): ContractCommand {
  const json = objectAt(parsed, 'cmd')
  const { accepts, complaint } = validatorOf(CommandPayload)
  if (metaOf === readMeta && !accepts(json)) throw new FormatError('cmd', 0, complaint(json))
  const fault = payloadFault(json as unknown as CommandPayload)
  if (fault !== null) throw new FormatError('cmd', 0, fault)
  const payload = readPayload(objectAt(json.payload, 'payload'))
  const proof = payload.kind === 'cont' ? payload.proof : null
  const schemes = listAt(json.signers, 'signers').map((signer, i) => schemeAt(signer, `signers/${i}`))
  return {
    key,
    payload,
    signers: signersFrom(json.signers, () => null),
    signersByAddress: signersFrom(json.signers, ({ addr }) => addr ?? null),
    verifiers: verifiersFrom(json.verifiers),
    meta: metaOf(objectAt(json.meta, 'meta')),
    sizeGas: sizeGas(commandSizeOf({ cmd, proof, sigs, schemes }), gasModel),
  }
}

function readPayload({ exec, cont }: JsonObject): Exec | Cont {
  if (exec !== undefined && exec !== null) {
    const { code, data } = objectAt(exec, 'payload/exec')
    return { kind: 'exec', code: textAt(code, 'payload/exec/code'), data: dataOf(data) }
  }
  const { pactId, step, rollback, proof, data } = objectAt(cont, 'payload/cont')
  return {
    kind: 'cont',
    pactId: textAt(pactId, 'payload/cont/pactId'),
    step: integerAt(step, 'payload/cont/step'),
    isRollback: rollback === true,
    proof: proof === undefined || proof === null ? null : textAt(proof, 'payload/cont/proof'),
    data: dataOf(data),
  }
}

const dataOf = (data: ExactJson | undefined) => (data === undefined ? UNIT : valueFromJson(data))

function readMeta(meta: JsonObject): PublicMeta {
  return {
    chainId: textAt(meta.chainId, 'meta/chainId'),
    sender: textAt(meta.sender, 'meta/sender'),
    gasLimit: integerAt(meta.gasLimit, 'meta/gasLimit'),
    gasPrice: decimalAt(meta.gasPrice, 'meta/gasPrice'),
    ttl: integerAt(meta.ttl, 'meta/ttl'),
    creationTime: integerAt(meta.creationTime, 'meta/creationTime'),
  }
}

/**
 * Public keys, or what `nameOf` says of a signer, with the capabilities that their signatures are limited to. One who
 * signs twice signs for both lists.
 */
function signersFrom(
  json: ExactJson | undefined,
  nameOf: (signer: JsonObject) => ExactJson | null,
): Map<string, CapabilityToken[]> {
  const found = new Map<string, CapabilityToken[]>()
  for (const [i, item] of listAt(json, 'signers').entries()) {
    const signer = objectAt(item, `signers/${i}`)
    const key = textAt(signer.pubKey, `signers/${i}/pubKey`)
    const address = nameOf(signer)
    const name = address === null ? key : textAt(address, `signers/${i}/addr`)
    const tokens = clistAt(signer, `signers/${i}`)
    const before = found.get(name)
    // A list without limits wins: it signs everything.
    const isFree = tokens.length === 0 || before?.length === 0
    found.set(name, isFree ? [] : [...(before ?? []), ...tokens])
  }
  return found
}

/** The scheme of a signer; null: it names none. */
function schemeAt(json: ExactJson | undefined, place: string): string | null {
  const { scheme } = objectAt(json, place)
  return scheme === undefined || scheme === null ? null : textAt(scheme, `${place}/scheme`)
}

function verifiersFrom(json: ExactJson | undefined): VerifierUse[] {
  return listAt(json, 'verifiers').map((item, i) => {
    const place = `verifiers/${i}`
    const use = objectAt(item, place)
    const name = textAt(use.name, `${place}/name`)
    const granted = clistAt(use, place)
    if (use.proof === undefined) throw new FormatError(`${place}/proof`, 0, 'missing; expected a value')
    return { name, proof: valueFromJson(use.proof), granted }
  })
}

function clistAt({ clist }: JsonObject, place: string): CapabilityToken[] {
  return listAt(clist, `${place}/clist`).map((each) => tokenAt(each, `${place}/clist`))
}

/** A capability as signers and verifiers list it: `{"name": "m.CAP", "args": []}`. Throws FormatError. */
export function tokenAt(json: ExactJson, place: string): CapabilityToken {
  const { name, args } = objectAt(json, place)
  return new CapabilityToken(textAt(name, `${place}/name`), listAt(args, `${place}/args`).map(valueFromJson))
}

function objectAt(json: ExactJson | undefined, place: string): JsonObject {
  if (typeof json === 'object' && json !== null && !Array.isArray(json) && !(json instanceof NumberText)) {
    return json as JsonObject
  }
  throw new FormatError(place, 0, 'not an object')
}

/** A list; none where there is nothing. */
function listAt(json: ExactJson | undefined, place: string): readonly ExactJson[] {
  if (json === undefined || json === null) return []
  if (Array.isArray(json)) return json
  throw new FormatError(place, 0, 'not a list')
}

function textAt(json: ExactJson | undefined, place: string): string {
  if (typeof json === 'string') return json
  throw new FormatError(place, 0, 'not a text')
}

function decimalAt(json: ExactJson | undefined, place: string): Decimal {
  const number = decimalOf(json)
  if (number !== null) return number
  throw new FormatError(place, 0, 'not a number')
}

function integerAt(json: ExactJson | undefined, place: string): number {
  const integer = wholeNumberOf(json)
  if (integer !== null) return integer
  throw new FormatError(place, 0, 'not a whole number')
}

/**
 * Builds the parts of a Command from JSON that matches shape.ts. All functions throw FormatError for an invalid value.
 */
import { FormatError } from '#ground/base/errors.ts'
import type { ExactJson } from '#ground/base/json.ts'
import { SLH_DSA_KEY_PREFIX, slhDsaSchemes } from '#ground/chain/slh-dsa.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import { CapabilityToken, UNIT, type Value } from '#language/contracts/values/value.ts'
import { valueFromJson } from '#language/contracts/values/wire.ts'
import { CommandCode } from './code.ts'
import type { Cont, Exec, Grants, PublicMeta, VerifierUse } from './command.ts'
import { readJsonDecimal, readJsonInteger, wholeNumberOf } from './numbers.ts'
import { type CapabilityShape, type ContentsShape, ContShape, type PublicMetaShape, type SignerShape } from './shape.ts'

/** An error in `cmd`. `complaint` is the path of the bad part and the reason. */
export class MalformedCommand extends FormatError {
  readonly complaint: string

  constructor(complaint: string) {
    super('cmd', 0, complaint)
    this.complaint = complaint
  }
}

/**
 * Builds the payload. If `exec` is present, `cont` is ignored, as in live nodes.
 * @throws MalformedCommand if neither is present, or `cont` does not match its shape
 */
export function payloadFrom({ exec, cont }: ContentsShape['payload']): Exec | Cont {
  if (exec) return { kind: 'exec', code: new CommandCode(exec.code), data: dataFrom(exec.data, '/payload/exec/data') }
  if (cont === undefined || cont === null) throw new MalformedCommand('/payload: expected either exec or cont')
  const { accepts, complaint } = validatorOf(ContShape)
  if (!accepts(cont)) throw new MalformedCommand(complaint(cont, '/payload/cont'))
  const { pactId, step, rollback, proof = null, data } = cont as unknown as ContShape
  return {
    kind: 'cont',
    pactId,
    isRollback: rollback,
    proof,
    step: expectPart(readJsonInteger(step)),
    data: dataFrom(data, '/payload/cont/data'),
  }
}

const dataFrom = (json: ExactJson | undefined, place: string) => (json === undefined ? UNIT : valueAt(json, place))

/** Builds the metadata of a public command. */
export function metaFrom({ chainId, sender, gasLimit, gasPrice, ttl, creationTime }: PublicMetaShape): PublicMeta {
  return {
    chainId,
    sender,
    gasPrice: expectPart(readJsonDecimal(gasPrice)),
    gasLimit: expectPart(wholeNumberOf(gasLimit)),
    ttl: expectPart(wholeNumberOf(ttl)),
    creationTime: expectPart(wholeNumberOf(creationTime)),
  }
}

/** Asserts that the part is not null: the schema accepted it with the same function. */
function expectPart<T>(part: T | null): T {
  if (part === null) throw new Error('a part of a command is not what its shape says')
  return part
}

/** Collects the capabilities of all signers, by public key and by address. */
export function grantsFrom(signers: readonly SignerShape[]): { readonly byKey: Grants; readonly byAddress: Grants } {
  const granted = signers.map(({ clist }, i) => tokensFrom(clist, `/signers/${i}/clist`))
  const byKey = mergeGrants(signers.map((signer, i) => [keyOf(signer), granted[i]]))
  if (signers.every(({ addr }) => (addr ?? null) === null)) return { byKey, byAddress: byKey }
  return { byKey, byAddress: mergeGrants(signers.map((signer, i) => [signer.addr ?? keyOf(signer), granted[i]])) }
}

/** The key of a signer as keysets have it. */
const keyOf = ({ pubKey, scheme }: SignerShape) =>
  slhDsaSchemes.has(scheme ?? '') ? SLH_DSA_KEY_PREFIX + pubKey : pubKey

/** Merges the lists of a signer that occurs twice. An empty list has no limit, so it wins. */
function mergeGrants(signers: readonly (readonly [name: string, tokens: readonly CapabilityToken[]])[]): Grants {
  const found = new Map<string, CapabilityToken[]>()
  for (const [name, tokens] of signers) {
    const before = found.get(name)
    // Appends in place: a command may name the same signer thousands of times.
    if (before === undefined) found.set(name, [...tokens])
    else if (tokens.length === 0) before.length = 0
    else if (before.length > 0) for (const token of tokens) before.push(token)
  }
  return found
}

export function verifiersFrom(verifiers: ContentsShape['verifiers']): VerifierUse[] {
  return (verifiers ?? []).map(({ name, proof, clist }, i) => ({
    name,
    proof: valueAt(proof, `/verifiers/${i}/proof`),
    granted: tokensFrom(clist, `/verifiers/${i}/clist`),
  }))
}

/** Reads a list of capabilities. @throws FormatError */
export function tokensFrom(clist: SignerShape['clist'], place: string): CapabilityToken[] {
  return (clist ?? []).map((each, i) => tokenFrom(each, `${place}/${i}`))
}

function tokenFrom({ name, args }: CapabilityShape, place: string): CapabilityToken {
  return new CapabilityToken(
    name,
    args.map((arg, i) => valueAt(arg, `${place}/args/${i}`)),
  )
}

function valueAt(json: ExactJson, place: string): Value {
  try {
    return valueFromJson(json)
  } catch (error) {
    if (error instanceof FormatError)
      throw new MalformedCommand(`${place}: ${error.message.replace(/^.*? at offset 0: /, '')}`)
    throw error
  }
}

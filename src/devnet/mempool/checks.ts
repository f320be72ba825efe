/**
 * Checks that refuse a command before any contract runs (PROTOCOL.md E.3), in the words and the order of live nodes.
 */

import { isCommandHash } from '#ground/chain/command-hash.ts'
import { type GasModel, NO_PRICE, sizeGas } from '#ground/chain/gas.ts'
import type { Decimal } from '#language/contracts/values/decimal.ts'
import type { Command, PrivateMeta } from '../command/command.ts'
import type { CommandCheck } from '../ledger/execute-payload.ts'
import type { NetworkRules } from '../rules/network-rules.ts'
import type { ReadonlyExemptions } from '../store/exemptions.ts'
import { blockTerms, type GasTerms } from './gas-terms.ts'
import { signaturesFaultUnless } from './impersonation.ts'
import { type SignatureRules, signaturesFault } from './signatures.ts'

/** Gas prices are multiples of 10^-12. */
const GAS_PRICE_DECIMALS = 12
/** Longest time to live: two days. */
const MAX_TTL_SECONDS = 172_800
/** The creation time of a command must be less than this ahead of the clock of the node. */
const MAX_CREATION_AHEAD_SECONDS = 10
/** Maximum signatures of a command (PROTOCOL.md E.3). */
const MAX_SIGNATURES = 100

/** Network, chain and time for which a command is checked. */
interface Destination {
  /** Name of the network. */
  readonly network: string
  readonly chain: number
  readonly nowMs: number
  /** Gas charge for the size of a command there. */
  readonly gasModel: GasModel
  /** Gas limit of a block there. */
  readonly blockGas: number
}

const encoder = new TextEncoder()

export const EXPIRED = 'Transaction time-to-live is expired'

/** @returns what is wrong with gas or time, or null */
export function termsFault(
  { meta }: Command,
  { nowMs, gas }: Pick<Destination, 'nowMs'> & { readonly gas: GasTerms },
): string | null {
  const { gasLimit, gasPrice, ttl, creationTime } = meta
  const fault = gasFault(gasLimit, gasPrice, gas)
  if (fault !== null) return fault
  const nowSeconds = nowMs / 1000
  if (creationTime >= nowSeconds + MAX_CREATION_AHEAD_SECONDS) {
    return 'Transaction creation time too far in the future'
  }
  return ttl <= 0 || creationTime + ttl <= nowSeconds ? EXPIRED : null
}

function gasFault(gasLimit: number, gasPrice: Decimal, { blockLimit, minPrice }: GasTerms): string | null {
  if (gasLimit > blockLimit) return `Transaction gas limit exceeds block gas limit (${blockLimit})`
  if (gasPrice.places > GAS_PRICE_DECIMALS) {
    const rule = `It should be rounded to at most ${GAS_PRICE_DECIMALS} decimal places.`
    return `insert error: This transaction's gas price: ${gasPrice} is not correctly rounded. ${rule}`
  }
  if (gasPrice.compare(minPrice) < 0) {
    return `Transaction gas price (${gasPrice}) is below minimum gas price (${minPrice})`
  }
  return null
}

/** @returns what is wrong with network, chain or number of signatures, or null */
export function placeFault(
  { meta, networkId, sigs }: Command,
  { network, chain }: Pick<Destination, 'network' | 'chain'>,
): string | null {
  if (!/^\d{1,9}$/.test(meta.chainId)) return 'insert error: Unparsable ChainId'
  if (meta.chainId !== String(chain) || networkId !== network) {
    return 'Transaction metadata (chain id, chainweb version) conflicts with this endpoint'
  }
  return sigs.length > MAX_SIGNATURES ? 'insert error: Too many signatures' : null
}

/** Text of a command, with its hash and its signatures. */
type SignedText = Pick<Command, 'hash' | 'cmd' | 'sigs' | 'signers'>

/** Whether the hash of a command is that of its text. */
export const isSealed = ({ hash, cmd }: Pick<Command, 'hash' | 'cmd'>) => isCommandHash(hash, encoder.encode(cmd))

/** Checks hash, time to live, size and signatures; the slowest check comes last. @returns the reason, or null */
export function sealFault(
  command: Command,
  { gasModel }: Pick<Destination, 'gasModel'>,
  signatures: (command: Command) => string | null = signaturesFault,
): string | null {
  const { gasLimit, ttl } = command.meta
  if (!isSealed(command)) return 'Invalid transaction hash'
  if (ttl <= 0) return `${EXPIRED}: it is ${ttl} s, and must be at least 1 s`
  if (ttl > MAX_TTL_SECONDS) return `${EXPIRED}: it is ${ttl} s, and may be ${MAX_TTL_SECONDS} s`
  const gas = sizeGas(command.size, gasModel)
  const isCheap = gas <= gasLimit
  const isPriced = gas < NO_PRICE
  // The signatures say which scheme has no price.
  const fault = isCheap || !isPriced ? signatures(command) : null
  if (fault !== null) return `Invalid transaction sigs: ${fault}`
  if (isCheap) return null
  return `Transaction gas limit (${gasLimit}) is below the gas for the size of the command (${gas})`
}

/**
 * Checks a command in a block, except for its creation time, which is checked against the parent.
 * @returns why no block may hold it, or null
 */
function blockFault(
  command: Command,
  destination: Omit<Destination, 'nowMs'>,
  signatures: (command: Command) => string | null = signaturesFault,
): string | null {
  const { gasLimit, gasPrice } = command.meta
  const early = gasFault(gasLimit, gasPrice, blockTerms(destination)) ?? placeFault(command, destination)
  return early ?? sealFault(command, destination, signatures)
}

/** @returns what is wrong with hash or signatures, in the words of /local, or null */
export function localSignaturesFault(
  command: SignedText,
  signatures: (command: SignedText) => string | null = signaturesFault,
): string | null {
  return isSealed(command) ? signatures(command) : 'The hash of the payload was invalid.'
}

/**
 * Checks a command for /local with preflight. `nowSeconds` is the time of the parent block.
 * @returns every rule of a block that the command breaks, in the words of live nodes
 */
export function preflightFaults(
  { meta, networkId, sigs }: Command,
  {
    network,
    chain,
    nowSeconds,
    blockLimit,
  }: Pick<Destination, 'network' | 'chain'> & Pick<GasTerms, 'blockLimit'> & { readonly nowSeconds: number },
): string[] {
  const { gasLimit, gasPrice, ttl, creationTime } = meta
  const isInTime = ttl > 0 && ttl <= MAX_TTL_SECONDS && creationTime >= 0 && nowSeconds < creationTime + ttl
  const rules: readonly [boolean, string][] = [
    [meta.chainId === String(chain), 'Chain id mismatch'],
    [gasLimit <= blockLimit, 'Transaction Gas limit exceeds block gas limit'],
    [gasPrice.places <= GAS_PRICE_DECIMALS, 'Gas price decimal precision too high'],
    [networkId === network, 'Network id mismatch'],
    [sigs.length <= MAX_SIGNATURES, 'Signature list size too big'],
    [isInTime, 'Tx time outside of valid range'],
  ]
  return rules.filter(([isKept]) => !isKept).map(([, text]) => text)
}

/** @returns why a private command is refused, or null */
export function privateFault(
  command: Command<PrivateMeta>,
  { network, gasModel, blockGas, ...rules }: Pick<Destination, 'network' | 'gasModel' | 'blockGas'> & SignatureRules,
): string | null {
  const { networkId, sigs, size } = command
  if (networkId !== network) return `Network id mismatch: it is ${JSON.stringify(networkId)}, and should be ${network}`
  if (sigs.length > MAX_SIGNATURES) return 'Signature list size too big'
  const gas = sizeGas(size, gasModel)
  if (gas > blockGas) return `the gas for its size (${gas}) is above that of a block (${blockGas})`
  return localSignaturesFault(command, (sealed) => signaturesFault(sealed, undefined, rules))
}

/**
 * @param exemptions commands whose signatures are not checked
 * @returns the check of commands in blocks of a network
 */
export function commandCheck({ network, on }: NetworkRules, exemptions: ReadonlyExemptions): CommandCheck {
  return (command, parent) => {
    const rules = on(parent)
    const { gasModel, blockGas } = rules
    const signatures = signaturesFaultUnless(exemptions, rules)
    return blockFault(command, { network: network.name, chain: parent.chainId, gasModel, blockGas }, signatures)
  }
}

/** Gas: bought before a command runs, for all that it may use, and settled after it (COMMANDS of the network: gas). */
import { evalError } from '../../contracts/errors.ts'
import { type ContractEvent, type Environment, emptyEnvironment } from '../../contracts/machine/environment.ts'
import type { Machine } from '../../contracts/machine/machine.ts'
import type { Layer } from '../../contracts/machine/state.ts'
import { Decimal } from '../../contracts/values/decimal.ts'
import { hashBytes } from '../../contracts/values/hash.ts'
import { type CapabilityToken, Guard, type Value } from '../../contracts/values/value.ts'
import { concatBytes, decodeHash } from '../../core/bytes.ts'
import type { MinerAccount } from '../../core/payload.ts'
import type { Command } from '../command/command.ts'
import { type BlockContext, chainDataOf } from './block-context.ts'
import { blockRules, callCoin, coinToken, machineOn } from './runner.ts'
import { grantedByName } from './verifiers/verifier.ts'

/** Thousandths of gas that buying may use; it is not paid for. */
const BUYING_LIMIT = 1_500_000
/** Decimal places of an amount of coins. */
export const COIN_PLACES = 12

const encoder = new TextEncoder()
const BOUGHT = encoder.encode('-buygas')

/** What the code of a command can ask for. */
export function environmentOf(context: BlockContext, command: Command): Environment {
  const { payload, verifiers, key, meta } = command
  const { sender, gasLimit, gasPrice } = meta
  return {
    data: payload.data,
    signers: signersOf(context, command),
    verifiers: grantedByName(verifiers),
    hash: key,
    chain: { ...chainDataOf(context), sender, gasLimit: BigInt(gasLimit), gasPrice },
    rules: blockRules(context.release),
  }
}

/** Since release 5.4.1 of the language a signer counts under the public key; before, under the address if there is one. */
function signersOf({ release }: BlockContext, command: Command): Environment['signers'] {
  return release.isLanguage541 ? command.grants : command.grantsByAddress
}

/** Price of so much gas, rounded to what a coin can be divided into. */
export function priceOf(gas: number, { meta }: Command): Decimal {
  return meta.gasPrice
    .mul(Decimal.of(BigInt(gas)))
    .round(COIN_PLACES)
    .normalise()
}

/** Takes the price of all the gas that a command may use from its sender. Throws ContractError. */
export function buyGas(layer: Layer, context: BlockContext, command: Command): void {
  const environment = environmentOf(context, command)
  const machine = machineOn(
    {
      ...environment,
      // Hardly any contract that pays asks for it.
      get hash() {
        return hashBytes(concatBytes(decodeHash(command.key), BOUGHT))
      },
      data: dataForPayer(command),
      signers: signersWhoPay(environment, command),
      // They run once the gas is bought.
      verifiers: new Map(),
    },
    layer,
    { used: 0, limit: BUYING_LIMIT },
  )
  const buy = () => {
    callCoin(machine, 'buy-gas', [command.meta.sender, priceOf(command.meta.gasLimit, command)])
  }
  machine.capabilities.granting([coinToken('GAS')], () => withPayer(machine, gasPayerOf(command), buy))
}

/** Whether a capability lets a contract pay for the gas of others. */
export const isGasPayer = ({ name }: CapabilityToken) => name.endsWith('.GAS_PAYER')

/** The capability of a contract that pays for others; null: the sender pays. */
function gasPayerOf({ grants }: Command): CapabilityToken | null {
  const payers = [...grants.values()].flat().filter(isGasPayer)
  if (payers.length > 1) throw evalError('Multiple gas payer capabilities')
  return payers[0] ?? null
}

function withPayer(machine: Machine, payer: CapabilityToken | null, buy: () => void): void {
  if (payer === null) buy()
  else machine.capabilities.with(payer, buy, true)
}

/** A signature for coin.GAS also counts for the debit, while gas is bought. */
function signersWhoPay({ signers }: Environment, { meta }: Command): Environment['signers'] {
  const paying = new Map<string, readonly CapabilityToken[]>()
  for (const [key, tokens] of signers) {
    const pays = tokens.some(({ name }) => name === 'coin.GAS')
    paying.set(key, pays ? [...tokens, coinToken('DEBIT', meta.sender)] : tokens)
  }
  return paying
}

/** A contract that pays may look at what it pays for. */
function dataForPayer({ payload }: Command): Value {
  const user = payload.data instanceof Map ? (payload.data as ReadonlyMap<string, Value>) : new Map<string, Value>()
  const about: (readonly [string, Value])[] =
    payload.kind === 'exec'
      ? [
          ['tx-type', 'exec'],
          ['exec-code', [payload.code.text]],
          ['exec-user-data', payload.data],
        ]
      : [
          ['tx-type', 'cont'],
          ['cont-pact-id', payload.pactId],
          ['cont-step', BigInt(payload.step)],
          ['cont-is-rollback', payload.isRollback],
          ['cont-user-data', payload.data],
          ['cont-has-proof', payload.proof !== null],
        ]
  return new Map<string, Value>([...user, ...about])
}

/** Pays the miner for the gas that was used, and gives the rest back. Returns the events. Throws ContractError. */
export function redeemGas(
  layer: Layer,
  context: BlockContext,
  command: Command,
  { miner, gas }: { readonly miner: MinerAccount; readonly gas: number },
): readonly ContractEvent[] {
  const fee = new Map<string, Value>([['fee', priceOf(gas, command)]])
  const machine = machineOn(
    { ...environmentOf(context, command), data: fee, signers: new Map(), verifiers: new Map() },
    layer,
    {
      used: 0,
      limit: Number.POSITIVE_INFINITY,
    },
  )
  const paid = priceOf(command.meta.gasLimit, command)
  machine.capabilities.granting([coinToken('GAS')], () =>
    callCoin(machine, 'redeem-gas', [miner.account, guardOf(miner), command.meta.sender, paid]),
  )
  return machine.events
}

/** The guard of a miner's account. */
export function guardOf({ predicate, publicKeys }: MinerAccount): Guard {
  return new Guard({ kind: 'keyset', keys: [...new Set(publicKeys)].sort(), predicate })
}

/** Pays the reward of a block. Returns the events. Throws ContractError. */
export function payReward(
  layer: Layer,
  context: BlockContext,
  miner: MinerAccount,
  reward: Decimal,
): readonly ContractEvent[] {
  const machine = machineOn(
    {
      ...emptyEnvironment,
      hash: context.parentHash,
      chain: { ...chainDataOf(context), sender: 'coinbase' },
      rules: blockRules(context.release),
    },
    layer,
    { used: 0, limit: Number.POSITIVE_INFINITY },
  )
  machine.capabilities.granting([coinToken('COINBASE')], () =>
    callCoin(machine, 'coinbase', [miner.account, guardOf(miner), reward]),
  )
  return machine.events
}

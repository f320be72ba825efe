/** Gas: bought before a command runs, for all that it may use, and settled after it (COMMANDS of the network: gas). */
import { evalError } from '../../contracts/errors.ts'
import type { Run } from '../../contracts/machine/ast.ts'
import { granting, withCapability } from '../../contracts/machine/capabilities.ts'
import {
  type BlockScope,
  type EmittedEvent,
  type Environment,
  emptyEnvironment,
  freeGas,
  type Message,
} from '../../contracts/machine/environment.ts'
import type { Layer } from '../../contracts/machine/state.ts'
import { Decimal } from '../../contracts/values/decimal.ts'
import { hashBytes } from '../../contracts/values/hash.ts'
import { type CapabilityToken, Guard, type Value } from '../../contracts/values/value.ts'
import { concatBytes, decodeHash } from '../../core/bytes.ts'
import type { MinerAccount } from '../../core/payload.ts'
import type { Command } from '../command/command.ts'
import { type BlockContext, blockDataOf } from './block-context.ts'
import { blockRules, callCoin, coinToken, evaluatorOn } from './runner.ts'
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
    block: blockScopeOf(context),
    message: {
      data: payload.data,
      signers: signersOf(context, command),
      verifiers: grantedByName(verifiers),
      hash: key,
      sender,
      gasLimit: BigInt(gasLimit),
      gasPrice,
    },
  }
}

function blockScopeOf(context: BlockContext): BlockScope {
  return { chain: blockDataOf(context), rules: blockRules(context.release) }
}

/** Since release 5.4.1 of the language a signer counts under the public key; before, under the address if there is one. */
function signersOf({ release }: BlockContext, command: Command): Message['signers'] {
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
  const { block, message } = environmentOf(context, command)
  const paying: Message = {
    ...message,
    // Hardly any contract that pays asks for it.
    get hash() {
      return hashBytes(concatBytes(decodeHash(command.key), BOUGHT))
    },
    data: dataForPayer(command),
    signers: signersWhoPay(message, command),
    // They run once the gas is bought.
    verifiers: new Map(),
  }
  const evaluator = evaluatorOn({ block, message: paying }, layer, { used: 0, limit: BUYING_LIMIT })
  const buy = () => {
    callCoin(evaluator, 'buy-gas', [command.meta.sender, priceOf(command.meta.gasLimit, command)])
  }
  granting(evaluator, [coinToken('GAS')], () => withPayer(evaluator, gasPayerOf(command), buy))
}

/** Whether a capability lets a contract pay for the gas of others. */
export const isGasPayer = ({ name }: CapabilityToken) => name.endsWith('.GAS_PAYER')

/** The capability of a contract that pays for others; null: the sender pays. */
function gasPayerOf({ grants }: Command): CapabilityToken | null {
  const payers = [...grants.values()].flat().filter(isGasPayer)
  if (payers.length > 1) throw evalError('Multiple gas payer capabilities')
  return payers[0] ?? null
}

function withPayer(run: Run, payer: CapabilityToken | null, buy: () => void): void {
  if (payer === null) buy()
  else withCapability(run, payer, buy, true)
}

/** A signature for coin.GAS also counts for the debit, while gas is bought. */
function signersWhoPay({ signers }: Message, { meta }: Command): Message['signers'] {
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
): readonly EmittedEvent[] {
  const fee = new Map<string, Value>([['fee', priceOf(gas, command)]])
  const { block, message } = environmentOf(context, command)
  const settling = { ...message, data: fee, signers: new Map(), verifiers: new Map() }
  const evaluator = evaluatorOn({ block, message: settling }, layer, freeGas())
  const paid = priceOf(command.meta.gasLimit, command)
  granting(evaluator, [coinToken('GAS')], () =>
    callCoin(evaluator, 'redeem-gas', [miner.account, guardOf(miner), command.meta.sender, paid]),
  )
  return evaluator.transaction.events
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
): readonly EmittedEvent[] {
  const message = { ...emptyEnvironment.message, hash: context.parentHash, sender: 'coinbase' }
  const evaluator = evaluatorOn({ block: blockScopeOf(context), message }, layer, freeGas())
  granting(evaluator, [coinToken('COINBASE')], () =>
    callCoin(evaluator, 'coinbase', [miner.account, guardOf(miner), reward]),
  )
  return evaluator.transaction.events
}

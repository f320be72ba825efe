/**
 * Builds and signs commands, and brings them into the chain through the client of `newcut/node`.
 *
 * | task | start with |
 * |---|---|
 * | sign | {@link signingKey}, {@link SigningKey}; on development networks {@link knownKey} |
 * | read the chain | {@link ask}, {@link accountOn} |
 * | transfer coins | {@link readAmount}, {@link planTransfer}, {@link CommandSender} |
 * | transfer coins between chains | {@link planTransfer} with `targetChain`, {@link crossingOf}, {@link completeCrossing} |
 * | submit any command | {@link CommandRequest}, {@link FeeTerms}, {@link CommandSender.submitAndWait} |
 * | build a command for another client | {@link Draft}, {@link signedCommand}, {@link readCapability} |
 * | write a call as code | {@link callsOf}, with the types of `newcut types` |
 * | work with values of the language | {@link Value}, {@link Decimal}, {@link valueFromJson}, {@link showValue} |
 *
 * Amounts are exact {@link Decimal}s. A command that fails throws {@link CommandFailed}; a command that is in no block
 * after the maximum wait throws a `NewcutError` with the code `NO_RESULT`.
 *
 * @example Transfer 1.5 coins on chain 0 of a development network.
 * ```ts
 * import { NodeClient } from 'newcut/node'
 * import { accountOn, CommandFailed, knownKey, planTransfer, readAmount, CommandSender } from 'newcut/wallet'
 *
 * const client = await NodeClient.connect({ url: 'http://127.0.0.1:1848' })
 * const sender = knownKey('sender00')
 * if (sender === null) throw new Error('no such key')
 * try {
 *   const transfer = { from: sender.account, to: 'sender01', amount: readAmount('1.5') }
 *   const request = await planTransfer(client, { transfer, chain: 0, keys: [sender.key] })
 *   const { gas } = await new CommandSender(client).submitAndWait(request)
 *   console.log(`gas ${gas}, new balance ${(await accountOn(client, 0, 'sender01'))?.balance}`)
 * } catch (error) {
 *   if (!(error instanceof CommandFailed)) throw error
 *   console.error(error.message)
 * } finally {
 *   await client.close()
 * }
 * ```
 * @module newcut/wallet
 */
export { Decimal } from '#language/contracts/values/decimal.ts'
export { showValue } from '#language/contracts/values/print.ts'
export type { RowSchema, TableRef, Type as DeclaredType } from '#language/contracts/values/value.ts'
export {
  CapabilityToken,
  Guard,
  type GuardKind,
  ModuleRef,
  type ObjectValue,
  Time,
  UNIT,
  type Unit,
  type Value,
} from '#language/contracts/values/value.ts'
export { valueFromJson, valueToJson } from '#language/contracts/values/wire.ts'
export type { FailedCommand } from './advice.ts'
export { type Account, type AskOptions, accountOn, ask, type Question } from './ask.ts'
export { type Capability, GAS, type LiteralJson, readCapability } from './capability.ts'
export { commandText, type OpenDraft, type Payload, type SignedCommand } from './command.ts'
export {
  type CommandRequest,
  CommandSender,
  type CommandSenderOptions,
  type CommandStep,
  type FeeTerms,
  type Terms,
} from './command-sender.ts'
export { type ArgumentsOf, type CallArgument, callsOf } from './contract-call.ts'
export { type Crossing, completeCrossing, crossingOf } from './crossing.ts'
export { CommandFailed } from './failure.ts'
export { type Draft, type Signer, type SigningKey, signedCommand, signingKey } from './keys.ts'
export { knownKey, type NamedKey } from './known-keys.ts'
export { planTransfer, type TransferRequest } from './plan.ts'
export { type Keyset, keysetOf, readAmount, type Transfer } from './transfer.ts'
export type { WalletNode } from './wallet-node.ts'

/**
 * The door of `newcut/wallet`: commands built, signed and brought into the chain through the client of `newcut/node`.
 * What is public is chosen here; code of this package imports the files behind it.
 */
export { Decimal } from '../contracts/values/decimal.ts'
export { showValue } from '../contracts/values/print.ts'
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
} from '../contracts/values/value.ts'
export { valueFromJson, valueToJson } from '../contracts/values/wire.ts'
export { type Account, type AskOptions, accountOn, ask, type Question } from './ask.ts'
export { type Capability, GAS, readCapability } from './capability.ts'
export { commandText, type Draft, type Payload, type SignedCommand, type Signer, signedCommand } from './command.ts'
export {
  type CommandRequest,
  CommandSender,
  type CommandSenderOptions,
  type CommandStep,
  type Terms,
} from './command-sender.ts'
export { type Crossing, completeCrossing, crossingOf } from './crossing.ts'
export { CommandFailed } from './failure.ts'
export { type SigningKey, signingKey } from './keys.ts'
export { knownKey, type NamedKey } from './known-keys.ts'
export type { LiteralJson } from './literal.ts'
export { planTransfer, type TransferRequest } from './plan.ts'
export { type Keyset, keysetOf, readAmount, type Transfer } from './transfer.ts'
export type { WalletNode } from './wallet-node.ts'

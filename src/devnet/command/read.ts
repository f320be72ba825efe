/** Signed commands as they come from outside, read (PROTOCOL.md E.2). */

import { Decimal } from '../../contracts/values/decimal.ts'
import { decodeHash } from '../../core/bytes.ts'
import { commandSizeOf } from '../../core/command-size.ts'
import { describeError, FormatError } from '../../core/errors.ts'
import { type GasModel, sizeGas } from '../../core/gas.ts'
import { parseExactJson } from '../../core/json.ts'
import { Command } from '../../schema/bodies.ts'
import type { TSchema } from '../../schema/typebox.ts'
import { validatorOf } from '../../schema/validator.ts'
import { decimalOf, wholeNumberOf } from './numbers.ts'
import { CommandPayload, NextStep, PrivateCommandPayload } from './shape.ts'
import { valueFault } from './values.ts'

/** A command that passed every check. */
export interface Transaction {
  /** Request key: the hash of the command as in JSON. */
  readonly key: string
  /** The transaction as it goes into a payload: JSON text of the command in the spelling of live nodes. */
  readonly bytes: Uint8Array
  /** JSON text of what was signed; it is in `bytes` too. */
  readonly cmd: string
  readonly sigs: Command['sigs']
  readonly gasLimit: number
  readonly gasPrice: number
  readonly expiresAtMs: number
}

/** A command whose parts have the right shape; whether it may be executed is another question. */
export interface ReadCommand<Payload = CommandPayload> {
  readonly command: Command
  /** 32 bytes; whether they are the hash of `cmd` is not checked yet. */
  readonly hash: Uint8Array
  /** UTF-8. */
  readonly cmd: Uint8Array
  readonly payload: Payload
}

/** The numbers of a command's metadata; times in seconds. */
export interface Terms {
  readonly gasLimit: number
  readonly gasPrice: Decimal
  readonly ttl: number
  readonly creationTime: number
}

/** What is wrong with a command, and what would be right. */
export class Fault {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

const encoder = new TextEncoder()

/** Reads the JSON text of a command. */
export function readCommandText(text: string): ReadCommand | Fault {
  const command = parseAs<Command>(text, Command, '')
  return command instanceof Fault ? command : readCommand(command)
}

/** Reads what is in a command. */
export function readCommand(command: Command): ReadCommand | Fault {
  return read<CommandPayload>(command, CommandPayload)
}

/** As readCommand, for a command whose metadata names the nodes that execute it. */
export function readPrivateCommand(command: Command): ReadCommand<PrivateCommandPayload> | Fault {
  return read<PrivateCommandPayload>(command, PrivateCommandPayload)
}

function read<Payload extends Pick<CommandPayload, 'payload' | 'signers'>>(
  command: Command,
  schema: TSchema,
): ReadCommand<Payload> | Fault {
  // A lone surrogate has no UTF-8 bytes, so such a text has no hash.
  if (/\p{Surrogate}/u.test(command.cmd)) return new Fault('/cmd: holds half of a surrogate pair, which is no text')
  const payload = parseAs<Payload>(command.cmd, schema, '/cmd')
  if (payload instanceof Fault) return payload
  const fault = payloadFault(payload) ?? valueFault(payload)
  if (fault !== null) return new Fault(`/cmd${fault}`)
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
    json = parseExactJson(text)
  } catch (error) {
    return new Fault(`${place || 'the command'}: no JSON: ${describeError(error)}`)
  }
  const validator = validatorOf(schema)
  return validator.accepts(json)
    ? (json as T)
    : new Fault(validator.complaint(json, place).replace(/^the whole/, 'the command'))
}

/** Why a command neither runs code nor continues a pact; null: it does. */
export function payloadFault({ payload: { exec, cont } }: Pick<CommandPayload, 'payload'>): string | null {
  if (exec) return null
  if (cont === undefined || cont === null) return '/payload: expected either exec or cont'
  const { accepts, complaint } = validatorOf(NextStep)
  return accepts(cont) ? null : complaint(cont, '/payload/cont')
}

/** The step of a pact that a command of the right shape asks for; null: it runs code. */
export const stepOf = ({ payload: { exec, cont } }: Pick<CommandPayload, 'payload'>) =>
  exec ? null : (cont as unknown as NextStep)

/** The numbers of a command, however they are spelled. */
export function termsOf({ payload: { meta } }: ReadCommand): Terms {
  const whole = (json: unknown) => wholeNumberOf(json) ?? Number.NaN
  return {
    gasLimit: whole(meta.gasLimit),
    gasPrice: decimalOf(meta.gasPrice) ?? Decimal.of(-1n),
    ttl: whole(meta.ttl),
    creationTime: whole(meta.creationTime),
  }
}

/** Gas for the size of a command. Only this gas limits the size of commands. */
export function sizeGasOf(
  { command: { cmd, sigs }, payload }: ReadCommand<Pick<CommandPayload, 'payload' | 'signers'>>,
  model: GasModel,
): number {
  const proof = stepOf(payload)?.proof ?? null
  return sizeGas(commandSizeOf({ cmd, proof, sigs, schemes: payload.signers.map(({ scheme }) => scheme) }), model)
}

/** The transaction of a command that passed every check. */
export function transactionOf(read: ReadCommand): Transaction {
  const { gasLimit, gasPrice, ttl, creationTime } = termsOf(read)
  const { hash, sigs, cmd } = read.command
  return {
    key: hash,
    bytes: encoder.encode(JSON.stringify({ hash, sigs: sigs.map((each) => ({ sig: each?.sig })), cmd })),
    cmd,
    sigs,
    gasLimit,
    gasPrice: gasPrice.toNumber(),
    expiresAtMs: 1000 * (creationTime + ttl),
  }
}

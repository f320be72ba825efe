/** The only parser of signed commands (PROTOCOL.md E.2), for submitted commands and for transactions in blocks. */
import { decodeHash } from '#ground/base/bytes.ts'
import { describeError, FormatError } from '#ground/base/errors.ts'
import { parseExactJson } from '#ground/base/json.ts'
import { commandSizeOf } from '#ground/chain/command-size.ts'
import { Command as SignedCommand } from '#ground/schema/bodies.ts'
import type { TSchema } from '#ground/schema/typebox.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import type { Command, PrivateMeta, PublicMeta } from './command.ts'
import { grantsFrom, MalformedCommand, metaFrom, payloadFrom, verifiersFrom } from './parts.ts'
import { type ContentsShape, PrivateShape, PublicShape } from './shape.ts'

export type { SignedCommand }

/** Reason why a command does not parse, and the expected form. */
export class CommandFault {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

const decoder = new TextDecoder()

/** Parses the JSON text of a command. */
export function readCommandText(text: string): Command | CommandFault {
  const signed = parseAs<SignedCommand>(text, SignedCommand, '')
  return signed instanceof CommandFault ? signed : readCommand(signed)
}

/** Parses a transaction of a block. @throws Error if it does not parse, which no block allows */
export function readStored(transaction: Uint8Array): Command {
  const command = readCommandText(decoder.decode(transaction))
  if (command instanceof CommandFault) throw new Error(`a block holds what is no command: ${command.message}`)
  return command
}

/** Parses a command. Does not check its hash, its signatures or its code. */
export function readCommand(signed: SignedCommand): Command | CommandFault {
  return read<PublicShape, PublicMeta>(signed, PublicShape, metaFrom)
}

/** Like readCommand, for a private command, whose metadata names the nodes that execute it. */
export function readPrivateCommand(signed: SignedCommand): Command<PrivateMeta> | CommandFault {
  return read<PrivateShape, PrivateMeta>(signed, PrivateShape, (meta) => meta)
}

function read<Shape extends ContentsShape & { readonly meta: unknown }, Meta>(
  { hash, sigs, cmd }: SignedCommand,
  schema: TSchema,
  metaOf: (meta: Shape['meta']) => Meta,
): Command<Meta> | CommandFault {
  // A lone surrogate has no UTF-8 bytes, so the text has no hash.
  if (/\p{Surrogate}/u.test(cmd)) return new CommandFault('/cmd: holds half of a surrogate pair, which is no text')
  const contents = parseAs<Shape>(cmd, schema, '/cmd')
  if (contents instanceof CommandFault) return contents
  const { signers, verifiers, networkId = null, meta } = contents
  try {
    const payload = payloadFrom(contents.payload)
    const { byKey, byAddress } = grantsFrom(signers)
    const proof = payload.kind === 'cont' ? payload.proof : null
    return {
      key: hash,
      hash: decodeHash(hash, '/hash'),
      cmd,
      sigs,
      networkId,
      payload,
      meta: metaOf(meta),
      signers: signers.map(({ pubKey, scheme = null, addr = null }) => ({ pubKey, scheme, addr })),
      grants: byKey,
      grantsByAddress: byAddress,
      verifiers: verifiersFrom(verifiers),
      size: commandSizeOf({ cmd, proof, sigs, schemes: signers.map(({ scheme }) => scheme) }),
    }
  } catch (error) {
    if (error instanceof MalformedCommand) return new CommandFault(`/cmd${error.complaint}`)
    if (error instanceof FormatError) return new CommandFault(error.message)
    throw error
  }
}

function parseAs<T>(text: string, schema: TSchema, place: string): T | CommandFault {
  let json: unknown
  try {
    json = parseExactJson(text)
  } catch (error) {
    return new CommandFault(`${place || 'the command'}: no JSON: ${describeError(error)}`)
  }
  const { accepts, complaint } = validatorOf(schema)
  return accepts(json) ? (json as T) : new CommandFault(complaint(json, place).replace(/^the value/, 'the command'))
}

/**
 * Privileges of a command that the owner of the node gave by a control request. They stand in its text, beside its
 * payload.
 */
import { parseExactJson } from '#ground/base/json.ts'
import { Type } from '#ground/schema/typebox.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import type { CapabilityToken } from '#language/contracts/values/value.ts'
import { MalformedCommand, tokensFrom } from './parts.ts'
import { CapabilityShape } from './shape.ts'

interface CommandPrivileges {
  /** Modules on which the command has admin rights. */
  readonly admin: readonly string[]
  /** Capabilities that are granted from the start. */
  readonly capabilities: readonly CapabilityToken[]
  /** True if the bodies of these capabilities are asked. So it was in blocks of an earlier newcut. */
  readonly areAsked: boolean
}

/** Part of the text of a privileged command. Other commands may have it too, without any effect. */
const PrivilegedShape = Type.Object({
  privileged: Type.Object({
    admin: Type.Array(Type.String()),
    caps: Type.Array(CapabilityShape),
    areAsked: Type.Optional(Type.Boolean()),
  }),
})

interface PrivilegedText {
  readonly admin: readonly string[]
  readonly caps: CapabilityShape[]
  readonly areAsked?: boolean
}

/** Reads the privileges in the text of a command. @throws FormatError if it has none */
export function readPrivileges(cmd: string): CommandPrivileges {
  const json = parseExactJson(cmd)
  const { accepts, complaint } = validatorOf(PrivilegedShape)
  if (!accepts(json)) throw new MalformedCommand(complaint(json, ''))
  const { admin, caps, areAsked = true } = (json as unknown as { privileged: PrivilegedText }).privileged
  return { admin, capabilities: tokensFrom(caps, '/caps'), areAsked }
}

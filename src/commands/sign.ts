/** `newcut sign FILE...`: builds the command of a request file, adds signatures, and prints it. It asks no node. */

import type { Config } from '#faces/cli/config.ts'
import type { signOptions } from '#faces/cli/options/wallet.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { yaml } from '#faces/cli/yaml.ts'
import { operatingError } from '#ground/base/errors.ts'
import { commandErrors } from './input/errors.ts'
import { type OpenCommand, readRequestFile } from './input/request-file.ts'
import { addSignatures, mergeCommands } from './input/request-signatures.ts'
import { signingKeys } from './input/signing-keys.ts'

/** @throws NewcutError BAD_INPUT for files that are none, BAD_OPTION for keys that cannot sign */
export async function runSign(
  [first, ...others]: readonly string[],
  { values }: Config<typeof signOptions>,
  { out, err, nowMs }: CommandContext,
): Promise<number> {
  if (first === undefined) throw operatingError(commandErrors.noRequestFile)
  const defaults = { networkId: null, nowMs: nowMs() }
  const read = (path: string) => readRequestFile(path, defaults)
  const command = mergeCommands([read(first), ...others.map(read)])
  const warn = (message: string) => printerTo(err)(`warning: ${message}`)
  const keys = values.key === undefined ? [] : signingKeys(values.key, command.networkId, warn)
  const signed = addSignatures(
    command,
    keys.map(({ key }) => key),
  )
  printerTo(out)(values.json ? jsonOf(signed) : yamlOf(signed))
  return 0
}

const partsOf = ({ hash, sigs, cmd }: OpenCommand) => ({ hash, sigs: sigs.map((sig) => sig && { sig }), cmd })
const jsonOf = (command: OpenCommand) => JSON.stringify(partsOf(command))
/** One line for `cmd`, so that its text stays as it is. */
const yamlOf = (command: OpenCommand) => yaml().stringify(partsOf(command), { lineWidth: 0 }).trimEnd()

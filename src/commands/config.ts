/** `newcut config`: the effective options of a command, as a configuration file. */
import type { CommandRow } from '#faces/cli/command-row.ts'
import type { Config } from '#faces/cli/config.ts'
import { configLines } from '#faces/cli/config-file.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { operatingError } from '#ground/base/errors.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { commandErrors } from './input/errors.ts'

/**
 * Prints the options of a command.
 * @param name of the command; `mine` by default
 * @throws NewcutError BAD_OPTION for a name that is not a command
 */
export async function runConfig(
  name: string | undefined,
  rows: readonly CommandRow[],
  config: Config<unknown>,
  { out }: CommandContext,
): Promise<number> {
  const print = printerTo(out)
  for (const line of configLines(optionsOf(name ?? 'mine', rows), config)) print(line)
  return 0
}

function optionsOf(name: string, rows: readonly CommandRow[]): CommandRow['options'] {
  const row = rows.find((each) => each.name === name)
  if (row !== undefined) return row.options
  const names = rows.map((each) => each.name)
  throw operatingError(commandErrors.unknownCommand, { name, guess: suggestName(name, names) })
}

/** `newcut config`: the effective options of a command, as a configuration file. */
import type { Config } from '#faces/cli/config.ts'
import { configLines } from '#faces/cli/config-file.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'

/** @param table options of the command */
export async function runConfig(
  table: Readonly<Record<string, unknown>>,
  config: Config<unknown>,
  { out }: CommandContext,
): Promise<number> {
  const print = printerTo(out)
  for (const line of configLines(table, config)) print(line)
  return 0
}

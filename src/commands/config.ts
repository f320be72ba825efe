/** `newcut config`: the effective options of `newcut mine`, as a configuration file. */
import { type Config, printConfig } from '../cli/config.ts'
import { mineOptions } from '../cli/options.ts'

export async function runConfig(config: Config<typeof mineOptions>): Promise<number> {
  process.stdout.write(printConfig(mineOptions, config))
  return 0
}

/** `newcut config`: the effective options of `newcut mine`, as a configuration file. */
import { type Config, configLines } from '../cli/config.ts'
import { mineOptions } from '../cli/options.ts'

export async function runConfig(config: Config<typeof mineOptions>, print: (line: string) => void): Promise<number> {
  for (const line of configLines(mineOptions, config)) print(line)
  return 0
}

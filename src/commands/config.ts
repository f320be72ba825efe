/** `newcut config`: the effective options of `newcut mine`, as a configuration file. */
import { type Config, configLines } from '../cli/config.ts'
import { mineOptions } from '../cli/options/mine.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'

export async function runConfig(config: Config<typeof mineOptions>, { out }: Surroundings): Promise<number> {
  const print = printerTo(out)
  for (const line of configLines(mineOptions, config)) print(line)
  return 0
}

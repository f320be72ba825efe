/** `newcut test` in a folder. */
import { run } from '../cli/run.ts'

export interface ContractRun {
  readonly status: number | null
  /** Lines of stdout. */
  readonly lines: readonly string[]
  readonly stderr: string
}

/** The text with `T` in the place of each time, and of the spaces before it. */
export const withoutTimes = (text: string) => text.replace(/ +\d[\d.]* (?:ms|s|min \d+ s)\b/g, ' T')

/** Runs `newcut test` with the folder as the working directory of this process meanwhile. */
export async function contractIn(folder: string, args: readonly string[]): Promise<ContractRun> {
  const before = process.cwd()
  process.chdir(folder)
  try {
    const { code, out, err } = await run(['test', ...args])
    return { status: code, lines: withoutTimes(out).trimEnd().split('\n'), stderr: err }
  } finally {
    process.chdir(before)
  }
}

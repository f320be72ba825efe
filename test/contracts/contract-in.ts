/** `newcut test` in a folder. */
import { run } from '../cli/run.ts'

export interface ContractRun {
  readonly status: number | null
  /** Lines of stdout. */
  readonly lines: readonly string[]
  readonly stderr: string
}

/** Runs `newcut test` with the folder as the working directory of this process meanwhile. */
export async function contractIn(folder: string, args: readonly string[]): Promise<ContractRun> {
  const before = process.cwd()
  process.chdir(folder)
  try {
    const { code, out, err } = await run(['test', ...args])
    return { status: code, lines: out.trimEnd().split('\n'), stderr: err }
  } finally {
    process.chdir(before)
  }
}

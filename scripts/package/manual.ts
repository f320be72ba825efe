/** Writes the manual page of the package: dist/newcut.1, made from the commands. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commandRows } from '../../src/commands/commands.ts'
import { programOf } from '../../src/faces/cli/program.ts'
import { manualPage } from '../docs/man.ts'
import { ROOT } from '../root.ts'

const nowhere = { write: () => true }

/** The environment of commands. The page needs only their tables, and runs none. */
const nothingAround = {
  version: '',
  environment: {},
  out: nowhere,
  err: nowhere,
  nowMs: () => 0,
  input: () => new Uint8Array(),
  untilStopped: <T>(task: (stopped: AbortSignal) => Promise<T>) => task(new AbortController().signal),
}

/** The page as text. */
export function manualText(): string {
  return manualPage(programOf(nothingAround, commandRows, { code: 0, format: 'text' }, null))
}

/** Writes the page into `root`, the folder of package.json. @returns the file */
export function writeManual(root: string = ROOT): string {
  const file = join(root, 'dist/newcut.1')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, manualText())
  return file
}

/** Writes the page and prints one line. @returns the exit code: 2 if there are arguments */
export function packageManual(args: readonly string[]): number {
  if (args.length > 0) {
    console.error(`manual: it takes no arguments, and not ${args.join(' ')}`)
    return 2
  }
  console.log(`manual: ${writeManual()}`)
  return 0
}

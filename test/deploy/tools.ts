/** Shared by the tests of deploy/: paths, YAML parsing, and external checkers. */

import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { childEnv } from '../children.ts'
import { PROGRAM_PATH } from '../needs.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** The text of a project file. */
export const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Paths of all files in a project folder, relative to the project root. */
export function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .toSorted()
}

/** The documents of a YAML text, with `<<` merged. Throws an Error for the first problem. */
export function yamlDocuments(text: string): unknown[] {
  return parseAllDocuments(text, { merge: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    return document.toJS()
  })
}

/** Runs a program in a folder with nothing but PATH, `env` and, if given, `input`. */
export function runTool(
  file: string,
  args: readonly string[],
  { cwd = root, env = {}, input }: { cwd?: string; env?: Record<string, string>; input?: string } = {},
): SpawnSyncReturns<string> {
  const options = { encoding: 'utf8' as const, cwd, env: { PATH: PROGRAM_PATH, ...env } }
  return spawnSync(file, args, input === undefined ? options : { ...options, input })
}

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-deploy-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/**
 * Runs the health check of the container; resolves with its exit code. It is asynchronous, since the checked server may
 * run in this process.
 */
export function healthCheck(args: readonly string[]): Promise<number | null> {
  const script = join(root, 'deploy/container/health.js')
  const child = spawn(process.execPath, [script, ...args], { env: childEnv, stdio: 'inherit' })
  return new Promise((resolve) => child.on('close', resolve))
}

/** Copies the runnable program: the files of the npm package and its dependencies, without those of other machines. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root folder; compiled files lie one level deeper than their sources. */
export const ROOT = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../' : '../../../', import.meta.url))

/** Files that a rig does not need: drivers of other machines, and sources. */
const USELESS = /(^|\/)(webgpu\/dist\/(?!linux)|classic-level\/(deps|prebuilds\/(?!linux)))|\.(map|md|markdown|d\.ts)$/

/** Copies the program into a new folder. Throws Error if npm fails. */
export function copyProgram(to: string): void {
  const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(
    npm('pack', '--dry-run', '--json', '--ignore-scripts'),
  )
  for (const { path } of files) {
    mkdirSync(dirname(join(to, path)), { recursive: true })
    cpSync(join(ROOT, path), join(to, path))
  }
  const folders = npm('ls', '--omit=dev', '--all', '--parseable').trim().split('\n')
  // Nested packages are copied with their parents; missing ones are optional and for other machines.
  const packages = folders
    .map((path) => relative(ROOT, path))
    .filter((path) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path))
  for (const path of packages) {
    if (!existsSync(join(ROOT, path))) continue
    const filter = (source: string) => !USELESS.test(relative(ROOT, source))
    cpSync(join(ROOT, path), join(to, path), { recursive: true, filter })
  }
}

function npm(...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('npm', args, {
    ...{ cwd: ROOT, encoding: 'utf8' as const, maxBuffer: 64 * 1024 * 1024 },
    env: { ...process.env, npm_config_loglevel: 'error' },
  })
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${error?.message ?? stderr}`)
  return stdout
}

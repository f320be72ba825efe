/** Finds files that a run leaves in the checkout. Tests write to temporary folders only. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The files that git neither has nor ignores; empty without git. */
export function untrackedFiles(): string[] {
  const args = ['ls-files', '-z', '--others', '--exclude-standard']
  const { stdout, status } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.split('\0').filter((path) => path !== '') : []
}

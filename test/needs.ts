/** What some tests need and not every machine has. Without it they are skipped, and the run says why and what helps. */
import { spawnSync } from 'node:child_process'
import { delimiter } from 'node:path'
import { describe, it, type TestContext } from 'vitest'

/** Debian's package of each program. */
const PACKAGES = {
  bash: 'bash',
  'docker-compose': 'docker-compose',
  jq: 'jq',
  curl: 'curl',
  kubectl: 'kubernetes-client',
  logrotate: 'logrotate',
  'nats-server': 'nats-server',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  'qemu-aarch64': 'qemu-user',
  script: 'bsdutils',
  tar: 'tar',
  'systemd-analyze': 'systemd',
  yamllint: 'yamllint',
  zsh: 'zsh',
  fish: 'fish',
} as const

export type Program = keyof typeof PACKAGES

/** Debian has servers where users without special rights do not look. */
export const PROGRAM_PATH = [process.env.PATH, '/usr/sbin', '/sbin'].filter(Boolean).join(delimiter)

const known = new Map<Program, string | null>()

/** Why these programs cannot be used, and how to install them; null: all of them are here. */
export function lackOf(...programs: readonly Program[]): string | null {
  const lacks = programs.map(lackOfOne).filter((lack) => lack !== null)
  return lacks.length === 0 ? null : lacks.join('; ')
}

function lackOfOne(program: Program): string | null {
  let lack = known.get(program)
  if (lack === undefined) {
    const isHere = spawnSync('sh', ['-c', `command -v ${program}`], { env: { PATH: PROGRAM_PATH } }).status === 0
    lack = isHere ? null : `${program} is not installed: apt-get install ${PACKAGES[program]}`
    known.set(program, lack)
  }
  return lack
}

/** A block of tests, or one test that is skipped with the reason `lack`; null: nothing is lacking. */
export function describeWith(lack: string | null, title: string, options: { timeout?: number }, tests: () => void): void
export function describeWith(lack: string | null, title: string, tests: () => void): void
export function describeWith(
  lack: string | null,
  title: string,
  ...[first, second]: [() => void] | [{ timeout?: number }, () => void]
): void {
  if (lack !== null) it(title, (context) => context.skip(lack))
  else if (typeof first === 'function') describe(title, first)
  else if (second !== undefined) describe(title, first, second)
}

/** One test, or its skip with the reason `lack`; null: nothing is lacking. */
export function itWith(
  lack: string | null,
  title: string,
  test: (context: TestContext) => unknown,
  timeoutMs?: number,
): void {
  it(title, lack === null ? test : (context) => context.skip(lack), timeoutMs)
}

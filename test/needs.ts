/**
 * Programs that some tests need and not every machine has. Without them the tests are skipped, and the run says why and
 * what to install.
 */
import { spawnSync } from 'node:child_process'
import { delimiter } from 'node:path'
import { describe, it, type TestContext } from 'vitest'

/** Program -> its Debian package. */
const PACKAGES = {
  bash: 'bash',
  'docker-compose': 'docker-compose',
  jq: 'jq',
  curl: 'curl',
  genhtml: 'lcov',
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

/** Debian installs servers in folders that are not on the path of ordinary users. */
export const PROGRAM_PATH = [process.env.PATH, '/usr/sbin', '/sbin'].filter(Boolean).join(delimiter)

const known = new Map<Program, string | null>()

/** @returns why these programs cannot be used and how to install them, or null if all are installed */
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

/** A block of tests. If `lack` is not null, one test that is skipped with `lack` as the reason. */
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

/** One test. If `lack` is not null, it is skipped with `lack` as the reason. */
export function itWith(
  lack: string | null,
  title: string,
  test: (context: TestContext) => unknown,
  timeoutMs?: number,
): void {
  it(title, lack === null ? test : (context) => context.skip(lack), timeoutMs)
}

/** Limits a command and its children to half a core: by cgroup, by cpulimit, or by a competing process on one core. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Throttle {
  /** Description for people. */
  readonly how: string
  /** Prefix of the command. */
  readonly prefix: readonly string[]
  readonly end: () => void
}

const PERIOD_US = 100_000

/** Throws Error if none of the three is available. */
export function halfACore(): Throttle {
  const throttle = controlGroup() ?? cpulimit() ?? rival()
  if (throttle !== null) return throttle
  throw new Error('half a core takes a writable control group, cpulimit (apt-get install cpulimit) or taskset')
}

/** cgroup v2 has all controllers in one tree, v1 a tree for each. */
function controlGroup(): Throttle | null {
  const isUnified = existsSync('/sys/fs/cgroup/cgroup.controllers')
  const folder = join(isUnified ? '/sys/fs/cgroup' : '/sys/fs/cgroup/cpu', `newcut-tests-${process.pid}`)
  try {
    mkdirSync(folder)
    if (isUnified) writeFileSync(join(folder, 'cpu.max'), `${PERIOD_US / 2} ${PERIOD_US}`)
    else {
      writeFileSync(join(folder, 'cpu.cfs_period_us'), String(PERIOD_US))
      writeFileSync(join(folder, 'cpu.cfs_quota_us'), String(PERIOD_US / 2))
    }
  } catch (error) {
    // The kernel, a container or missing rights forbid it.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    if (existsSync(folder)) rmdirSync(folder)
    return null
  }
  const enter = `echo $$ > '${folder}/cgroup.procs' && exec "$@"`
  const end = () => {
    try {
      rmdirSync(folder)
    } catch (error) {
      // The kernel releases ended processes with a delay.
      process.stderr.write(`${folder} is left behind: ${(error as Error).message}\n`)
    }
  }
  return { how: 'control group', prefix: ['sh', '-c', enter, 'sh'], end }
}

function cpulimit(): Throttle | null {
  if (spawnSync('cpulimit', ['--help']).error !== undefined) return null
  return { how: 'cpulimit', prefix: ['cpulimit', '-q', '-l', '50', '-i', '--'], end: () => undefined }
}

/** One core, shared with a busy loop. */
function rival(): Throttle | null {
  if (spawnSync('taskset', ['--help']).error !== undefined) return null
  const onFirstCore = ['taskset', '-c', '0']
  const loop: ChildProcess = spawn('taskset', ['-c', '0', process.execPath, '-e', 'for (;;) {}'], { stdio: 'ignore' })
  process.on('exit', () => loop.kill('SIGKILL'))
  return { how: 'a rival on the same core', prefix: onFirstCore, end: () => void loop.kill('SIGKILL') }
}

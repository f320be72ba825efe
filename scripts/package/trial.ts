/**
 * Tries the packed package as a new user would: npm installs the file into an empty folder, and the commands of the
 * README run there. Whatever a step prints to stderr, such as a warning, makes it fail.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

interface TrialOptions {
  readonly tarball: string
  /** The program `node`. */
  readonly node: string
  /** Whether the programs of this machine are in the path, with its C compiler. */
  readonly hasCompiler: boolean
}

export interface Step {
  readonly name: string
  readonly seconds: number
  readonly out: string
  /** Why it failed: the exit code, what it printed to stderr, or a text that is missing. Null if it passed. */
  readonly fault: string | null
}

/** An empty folder where the package is installed, with a path and a home of its own. */
export class Trial {
  readonly #folder = mkdtempSync(join(tmpdir(), 'newcut-trial-'))
  readonly #options: TrialOptions
  readonly #env: Readonly<Record<string, string>>

  constructor(options: TrialOptions) {
    this.#options = options
    const bin = join(this.#folder, 'bin')
    for (const name of ['bin', 'home', 'project']) mkdirSync(join(this.#folder, name))
    symlinkSync(realpathSync(options.node), join(bin, 'node'))
    // npm and its links need these. The path of the machine may have a compiler.
    for (const tool of ['npm', 'sh', 'env', 'ls', 'cat', 'uname'])
      symlinkSync(realpathSync(placeOf(tool)), join(bin, tool))
    const { PATH = '' } = process.env
    this.#env = {
      // As npm and npx run programs of a project.
      PATH: [join(this.project, 'node_modules/.bin'), bin, ...(options.hasCompiler ? [PATH] : [])].join(delimiter),
      HOME: join(this.#folder, 'home'),
    }
  }

  /** The folder of the user. */
  get project(): string {
    return join(this.#folder, 'project')
  }

  /** Whether the path has a C compiler. */
  get seesCompiler(): boolean {
    return spawnSync('cc', ['--version'], { env: this.#env }).status === 0
  }

  /** Installs the package. */
  install(): Step {
    const args = [
      'install',
      this.#options.tarball,
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      '--foreground-scripts',
    ]
    // npm reaches its registry by the settings of this machine.
    const { CC: _, ...own } = process.env
    return this.run('npm install', 'npm', args, /^\s*added 2 packages/, { ...own, PATH: this.#env.PATH })
  }

  /** Runs the command as npm links it. */
  newcut(args: readonly string[], wanted: RegExp): Step {
    return this.run(`newcut ${args.join(' ')}`, 'newcut', args, wanted)
  }

  run(
    name: string,
    program: string,
    args: readonly string[],
    wanted: RegExp,
    env: NodeJS.ProcessEnv = this.#env,
  ): Step {
    const startMs = performance.now()
    const { status, signal, stdout, stderr } = spawnSync(program, args, {
      cwd: this.project,
      env,
      encoding: 'utf8',
      timeout: MAX_STEP_MS,
    })
    const seconds = (performance.now() - startMs) / 1000
    const ended = status === 0 ? null : `it ended with ${status ?? signal}`
    const said = stderr ? `it printed ${JSON.stringify(stderr.slice(0, MAX_TEXT))}` : null
    const lack = wanted.test(stdout) ? null : `${wanted} is missing in ${JSON.stringify(stdout.slice(-MAX_TEXT))}`
    const faults = [ended, said, lack].filter((fault) => fault !== null)
    return { name, seconds, out: stdout, fault: faults.length === 0 ? null : faults.join(', ') }
  }

  /** Kilobytes that the installation takes on disk, in blocks of 4 KiB. */
  installedKiB(): number {
    return diskKiB(join(this.project, 'node_modules'))
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }
}

/** Limit of one step: it may compile, and the machine may be busy. */
const MAX_STEP_MS = 600_000
/** Length of texts in a fault. */
const MAX_TEXT = 500
const BLOCK_BYTES = 4096

/** The commands of a new user, in order. */
export function tryPackage(trial: Trial): readonly Step[] {
  const mine = ['mine', '--threads', '1', '--http', 'off', '--state', 'off', '--blocks', '1', '--block-delay', '1s']
  const steps: (() => Step)[] = [
    () => trial.install(),
    () => trial.newcut(['--version'], /^\d+\.\d+\.\d+\n$/),
    () =>
      trial.newcut(
        ['devnet', '--port', '0', '--difficulty', '1000', '--exec', 'newcut devnet mine 1'],
        /^made 20 blocks/m,
      ),
    () => trial.newcut(mine, /accepted[^\n]*\(1\/0\/0\)/),
  ]
  const done: Step[] = []
  for (const step of steps) {
    done.push(step())
    // Without the package there is nothing to try.
    if (done[0].fault !== null) break
  }
  return done
}

function placeOf(tool: string): string {
  return spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim()
}

function diskKiB(path: string): number {
  if (!existsSync(path)) return 0
  const stats = lstatSync(path)
  const own = (Math.ceil(stats.size / BLOCK_BYTES) * BLOCK_BYTES) / 1024
  return stats.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + diskKiB(join(path, name)), own) : own
}

/**
 * `npm run test:busy`: runs the quick set on a busy machine and on half a core. A test that fails here depends on the
 * machine's speed and is a bug.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { halfACore, type Throttle } from './half-a-core.ts'
import { durationText } from './text.ts'

const HELP = `npm run test:busy [-- OPTION ...]
  --runs N     runs beside two endless loops for each core (10)
  --half N     runs with half a core for everything (3)
`

const main = fileURLToPath(new URL('main.js', import.meta.url))

function wanted(): { readonly runs: number; readonly half: number } {
  try {
    const { values } = parseArgs({
      options: {
        runs: { type: 'string', default: '10' },
        half: { type: 'string', default: '3' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) {
      process.stdout.write(HELP)
      process.exit(0)
    }
    const count = (name: 'runs' | 'half') => {
      if (/^\d{1,4}$/.test(values[name])) return Number(values[name])
      throw new Error(`--${name} ${values[name]}: expected a whole number, such as 10`)
    }
    return { runs: count('runs'), half: count('half') }
  } catch (error) {
    process.stderr.write(`${(error as Error).message.split('\n')[0]}\n${HELP}`)
    process.exit(2)
  }
}

/** The current run. */
let current: ChildProcess | null = null

/** Runs the quick set. Resolves with whether it passed. */
async function passes(title: string, throttle: Throttle | null): Promise<boolean> {
  const startMs = performance.now()
  const [command, ...args] = [...(throttle?.prefix ?? []), process.execPath, main]
  const child = spawn(command, args, { stdio: 'inherit' })
  current = child
  const code = await new Promise((resolve) => child.on('exit', resolve))
  current = null
  const verdict = code === 0 ? 'passed' : 'FAILED'
  process.stdout.write(`== ${title}: ${verdict} in ${durationText(performance.now() - startMs)}\n`)
  return code === 0
}

async function run(): Promise<number> {
  const { runs, half } = wanted()
  let failed = 0
  const loops: ChildProcess[] = []
  const quieten = () => {
    for (const loop of loops.splice(0)) loop.kill('SIGKILL')
  }
  process.on('exit', () => {
    quieten()
    current?.kill('SIGTERM')
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))
  for (let i = 0; i < 2 * availableParallelism() && runs > 0; i++) {
    loops.push(spawn(process.execPath, ['-e', 'for (;;) {}'], { stdio: 'ignore' }))
  }
  for (let i = 1; i <= runs; i++) {
    if (!(await passes(`run ${i} of ${runs} beside ${loops.length} endless loops`, null))) failed++
  }
  quieten()
  const throttle = half > 0 ? halfACore() : null
  for (let i = 1; i <= half; i++) {
    if (!(await passes(`run ${i} of ${half} on half a core (${throttle?.how})`, throttle))) failed++
  }
  throttle?.end()
  process.stdout.write(`${runs + half - failed} runs passed, ${failed} failed\n`)
  return failed === 0 ? 0 : 1
}

process.exitCode = await run()

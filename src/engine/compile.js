/**
 * Compiles a native part that newcut can do without. npm runs the scripts that use it when newcut is installed, before
 * there is any compiled TypeScript.
 */
import { spawnSync } from 'node:child_process'

const MAX_COMPILE_MS = 60_000
const OPTIONS = ['-std=gnu11', '-O2', '-shared', '-fPIC', '-fvisibility=hidden']

/** null when `output` is built of `source`, else why it is not. `compiler` may have options of its own. */
function compile(compiler, { source, output, options = [] }) {
  const [command, ...first] = compiler.split(/\s+/)
  const args = [...first, ...OPTIONS, ...options, '-o', output, source]
  const run = spawnSync(command, args, { encoding: 'utf8', timeout: MAX_COMPILE_MS })
  if (run.error?.code === 'ENOENT') return `there is no C compiler ${command}`
  if (run.error !== undefined) return run.error.message
  if (run.status === 0) return null
  const complaints = run.stderr.split('\n').filter((line) => line !== '')
  return `${compiler} failed: ${complaints.find((line) => line.includes('error')) ?? complaints[0] ?? 'it printed no reason'}`
}

/**
 * Provides a part and says in one line what became of it: an installation goes on without. `build` is given a function
 * that compiles `{ source, output, options }`, and returns null or why there is no such part, as that function does.
 */
export function provide(part, build) {
  const compiler = process.env.CC?.trim() || 'cc'
  let failure
  try {
    failure = build((order) => compile(compiler, order))
  } catch (error) {
    failure = error.message.split('\n')[0]
  }
  console.log(`newcut: ${failure === null ? `${part} compiled with ${compiler}` : `no ${part}: ${failure}`}`)
}

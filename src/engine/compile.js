/**
 * Compiles optional native parts. npm runs the scripts that use it at installation, before there is any compiled
 * TypeScript.
 */
import { spawnSync } from 'node:child_process'

const MAX_COMPILE_MS = 60_000
const OPTIONS = ['-std=gnu11', '-O2', '-shared', '-fPIC', '-fvisibility=hidden']

/**
 * Compiles `source` to `output`.
 * @param compiler command, perhaps with options
 * @returns null on success, or the failure
 */
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
 * Builds a part and prints the result in one line. A failure does not stop the installation.
 * @param build gets a function that compiles `{ source, output, options }`; returns its result: null or the failure
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

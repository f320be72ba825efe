/**
 * Compiles the native kernel. npm runs this when newcut is installed, before there is any compiled TypeScript; where it
 * did not, newcut runs it at first use, with the file to write as its argument. When it fails it says so in one line
 * and exits without an error: newcut then uses WebAssembly.
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAX_COMPILE_MS = 120_000
const source = fileURLToPath(new URL('./kernel.c', import.meta.url))
/** native-kernel.ts loads it from there. */
const output = process.argv[2] ?? fileURLToPath(new URL('../../../../build/newcut-kernel.node', import.meta.url))
/** Renamed into place when complete: several processes may build, and load, at once. */
const draft = `${output}.${process.pid}`

/** null when it is built, else why it is not. */
function build(compiler) {
  // Remove the old file first, so that none is left if this fails. A process that has it loaded keeps it.
  rmSync(output, { force: true })
  mkdirSync(dirname(output), { recursive: true })
  const { include_dir: include } = createRequire(import.meta.url)('node-api-headers')
  // With -O2 the kernel is 0.85 to 0.90 as fast; -fno-tree-vectorize makes no difference.
  const options = ['-std=gnu11', '-O3', '-shared', '-fPIC', '-fvisibility=hidden', '-I', include]
  // Node's own functions are found when Node loads the file. Only the linker of macOS must be told so.
  if (process.platform === 'darwin') options.push('-undefined', 'dynamic_lookup')
  const [command, ...first] = compiler.split(/\s+/)
  const run = spawnSync(command, [...first, ...options, '-o', draft, source], {
    encoding: 'utf8',
    timeout: MAX_COMPILE_MS,
  })
  if (run.status === 0) {
    renameSync(draft, output)
    return null
  }
  rmSync(draft, { force: true })
  if (run.error?.code === 'ENOENT') return `there is no C compiler ${command}`
  if (run.error !== undefined) return run.error.message
  const complaints = run.stderr.split('\n').filter((line) => line !== '')
  const complaint = complaints.find((line) => line.includes('error')) ?? complaints[0] ?? 'it printed no reason'
  return `${compiler} failed: ${complaint}`
}

function report(compiler) {
  try {
    const failure = build(compiler)
    return failure === null ? `native kernel compiled with ${compiler}` : `no native kernel: ${failure}`
  } catch (error) {
    return `no native kernel: ${error.message.split('\n')[0]}`
  }
}

console.log(`newcut: ${report(process.env.CC?.trim() || 'cc')}`)

/**
 * Compiles the native kernel. npm runs this script at installation, before there is any compiled TypeScript. Without
 * arguments it compiles only if the package has no kernel for this machine. With an output file as its argument it
 * always compiles, and passes further arguments to the compiler. newcut does so at first use if npm ran no scripts, and
 * `npm run package` does so for other machines. A failure is one line of output and no error: newcut then uses WebAssembly.
 */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAX_COMPILE_MS = 120_000
const [, , wanted, ...further] = process.argv
const require = createRequire(import.meta.url)
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))
const source = path('./kernel.c')
const machine = `${process.platform}-${process.arch}`
/** Both paths are also in native-files.ts. */
const prebuilt = path(`../../../../prebuilds/${machine}/newcut-kernel.node`)
const output = wanted ?? path('../../../../build/newcut-kernel.node')
/** Renamed to the output when complete, because several processes may build and load at once. */
const draft = `${output}.${process.pid}`

/** The same as sourcesMark in native-files.ts. */
function sourcesMark() {
  const hash = createHash('sha256')
  for (const name of ['kernel.c', 'sweep.h', 'ports.h', 'build.js']) hash.update(readFileSync(path(`./${name}`)))
  return `newcut kernel of ${hash.digest('hex')}`
}

/** Whether the package has a kernel for this machine that was built from these sources and loads. */
function hasPrebuilt() {
  if (!existsSync(prebuilt) || !readFileSync(prebuilt).includes(sourcesMark())) return false
  try {
    require(prebuilt)
    return true
  } catch (error) {
    console.log(`newcut: the prebuilt native kernel does not load: ${error.message.split('\n')[0]}`)
    return false
  }
}

/** @returns null on success, or why there is no kernel */
function build(compiler) {
  // Remove the old file first, so that a failure leaves none. A process that has loaded it keeps it.
  rmSync(output, { force: true })
  mkdirSync(dirname(output), { recursive: true })
  const { include_dir: include } = require('node-api-headers')
  // -O2 reaches 0.85 to 0.90 of this speed; -fno-tree-vectorize makes no difference.
  const options = ['-std=gnu11', '-O3', '-shared', '-fPIC', '-fvisibility=hidden', '-I', include]
  options.push(`-DSOURCES="${sourcesMark()}"`)
  // Symbols of Node.js are resolved at load time. Only the linker of macOS needs an option for that.
  if (process.platform === 'darwin') options.push('-undefined', 'dynamic_lookup')
  const [command, ...first] = compiler.split(/\s+/)
  const run = spawnSync(command, [...first, ...options, '-o', draft, source, ...further], {
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
    if (wanted === undefined && hasPrebuilt()) return `native kernel: prebuilt for ${machine}`
    const failure = build(compiler)
    return failure === null ? `native kernel compiled with ${compiler}` : `no native kernel: ${failure}`
  } catch (error) {
    return `no native kernel: ${error.message.split('\n')[0]}`
  }
}

console.log(`newcut: ${report(process.env.CC?.trim() || 'cc')}`)

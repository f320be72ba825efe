/**
 * Compiles what writes to the sockets of many rigs at once, where sockets are as POSIX has them. npm runs this when newcut
 * is installed. Without it each socket is written to by itself, which takes longer.
 */

import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { provide } from '../../compile.js'

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))
/** native-send.ts loads it. */
const output = path('../../../../build/newcut-send.node')
/** Renamed into place when complete: a process may be loading the file. */
const draft = `${output}.${process.pid}`

function build(compile) {
  rmSync(output, { force: true })
  mkdirSync(dirname(output), { recursive: true })
  const { include_dir: include } = createRequire(import.meta.url)('node-api-headers')
  const options = ['-pthread', '-I', include]
  // Node's own functions are found when Node loads the file. Only the linker of macOS must be told so.
  if (process.platform === 'darwin') options.push('-undefined', 'dynamic_lookup')
  const failure = compile({ source: path('./send.c'), output: draft, options })
  if (failure === null) renameSync(draft, output)
  else rmSync(draft, { force: true })
  return failure
}

if (process.platform !== 'win32') provide('sender', build)

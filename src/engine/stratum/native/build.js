/**
 * Compiles the native function that writes to many sockets at once, on systems with POSIX sockets. npm runs this script
 * at installation. Without the function, newcut writes to each rig separately, which takes longer.
 */

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { provide } from '../../compile.js'

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))
const folder = path('../../../../build/')
/** The name contains the hash of the sources, so that no other build is loaded. See builtFile in native-send.ts. */
const hash = createHash('sha256')
for (const name of ['send.c', 'build.js']) hash.update(readFileSync(path(`./${name}`)))
const output = `${folder}newcut-send-${hash.digest('hex').slice(0, 16)}.node`
/** Renamed to the output when complete, because a process may be loading the file. */
const draft = `${output}.${process.pid}`

function build(compile) {
  mkdirSync(folder, { recursive: true })
  const { include_dir: include } = createRequire(import.meta.url)('node-api-headers')
  const options = ['-pthread', '-I', include]
  // Symbols of Node.js are resolved at load time. Only the linker of macOS needs an option for that.
  if (process.platform === 'darwin') options.push('-undefined', 'dynamic_lookup')
  const failure = compile({ source: path('./send.c'), output: draft, options })
  if (failure !== null) rmSync(draft, { force: true })
  else {
    for (const old of readdirSync(folder).filter((name) => name.startsWith('newcut-send') && !draft.endsWith(name))) {
      rmSync(`${folder}${old}`, { force: true })
    }
    renameSync(draft, output)
  }
  return failure
}

if (process.platform !== 'win32') provide('function that writes to many rigs at once', build)

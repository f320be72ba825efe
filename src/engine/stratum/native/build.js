/**
 * Compiles what writes to the sockets of many rigs at once, where sockets are as POSIX has them. npm runs this when newcut
 * is installed. Without it rigs are written to one by one, which takes longer.
 */

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { provide } from '../../compile.js'

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))
const folder = path('../../../../build/')
/** The name tells the sources, so that no file of other sources is loaded. As builtFile of native-send.ts. */
const hash = createHash('sha256')
for (const name of ['send.c', 'build.js']) hash.update(readFileSync(path(`./${name}`)))
const output = `${folder}newcut-send-${hash.digest('hex').slice(0, 16)}.node`
/** Renamed into place when complete: a process may be loading the file. */
const draft = `${output}.${process.pid}`

function build(compile) {
  mkdirSync(folder, { recursive: true })
  const { include_dir: include } = createRequire(import.meta.url)('node-api-headers')
  const options = ['-pthread', '-I', include]
  // Node's own functions are found when Node loads the file. Only the linker of macOS must be told so.
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

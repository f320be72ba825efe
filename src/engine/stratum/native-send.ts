/** The native function that writes to many sockets, where it was compiled: native/build.js does so at installation. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { describeError } from '../../core/errors.ts'

/**
 * Writes a piece of `bytes` to each socket, without waiting. `pieces` has two entries for each descriptor: where its piece
 * starts, and how long it is. `sent` gets the bytes that the network took, 0 when there was an error.
 * Throws TypeError when lengths do not fit each other, or a piece is not within the bytes.
 */
export type SendAll = (
  descriptors: Int32Array,
  pieces: Uint32Array,
  bytes: Uint8Array,
  sent: Int32Array,
  threads: number,
) => void

/** In the folder with package.json: three above the sources and four above the compiled files. */
const ROOT = new URL(`${import.meta.url.endsWith('.ts') ? '' : '../'}../../../`, import.meta.url)
const SOURCES = new URL('src/engine/stratum/native/', ROOT)

export interface Sender {
  /** null: there is none for this machine. */
  readonly sendAll: SendAll | null
  /** Why the one that is there is of no use, as a sentence; null: it is, or there is none. */
  readonly fault: string | null
}

/** What native/build.js makes of these sources; '': they are not there. */
function builtFile(): string {
  const hash = createHash('sha256')
  for (const name of ['send.c', 'build.js']) {
    const file = new URL(name, SOURCES)
    if (!existsSync(file)) return ''
    hash.update(readFileSync(file))
  }
  return fileURLToPath(new URL(`build/newcut-send-${hash.digest('hex').slice(0, 16)}.node`, ROOT))
}

export function loadSender(file: string = builtFile()): Sender {
  if (!existsSync(file)) return { sendAll: null, fault: null }
  try {
    return { sendAll: createRequire(import.meta.url)(file).sendAll, fault: null }
  } catch (error) {
    const [reason] = describeError(error).split('\n')
    return { sendAll: null, fault: `rigs are written to one by one, since ${file} does not load: ${reason}` }
  }
}

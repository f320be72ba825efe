/** Loads the native function that writes to many sockets, if native/build.js compiled it at installation. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { describeError } from '../../core/errors.ts'

/**
 * Writes a part of `bytes` to each socket, without waiting.
 * @param pieces two entries per descriptor: start and length of its part
 * @param sent receives the number of bytes that the network accepted, 0 after an error
 * @throws TypeError if lengths do not match, or a part is outside the bytes
 */
export type SendAll = (
  descriptors: Int32Array,
  pieces: Uint32Array,
  bytes: Uint8Array,
  sent: Int32Array,
  threads: number,
) => void

/** The folder of package.json: three levels above the sources, four above the compiled files. */
const ROOT = new URL(`${import.meta.url.endsWith('.ts') ? '' : '../'}../../../`, import.meta.url)
const SOURCES = new URL('src/engine/stratum/native/', ROOT)

export interface Sender {
  /** Null if there is none for this machine. */
  readonly sendAll: SendAll | null
  /** Why the existing file is unusable, as a sentence, or null if it is usable or missing. */
  readonly fault: string | null
}

/** The output of native/build.js for these sources, or an empty text if they are missing. */
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

/** The native function that writes to many sockets, if it was compiled at installation. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describeError } from '#ground/base/errors.ts'
import { installedFile, type NativePart } from '../native/part.ts'

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

export const SEND: NativePart = {
  name: 'send',
  title: 'function that writes to many rigs at once',
  folder: 'src/mining/engine/stratum/native',
  units: ['send.c'],
  headers: [],
  options: ['-O2', '-pthread'],
  extension: 'node',
  output: 'build',
}

interface Sender {
  /** Null if there is none for this machine. */
  readonly sendAll: SendAll | null
  /** Why the existing file is unusable, as a sentence, or null if it is usable or missing. */
  readonly fault: string | null
}

export function loadSender(file: string = installedFile(SEND)): Sender {
  if (!existsSync(file)) return { sendAll: null, fault: null }
  try {
    return { sendAll: createRequire(import.meta.url)(file).sendAll, fault: null }
  } catch (error) {
    const [reason] = describeError(error).split('\n')
    return { sendAll: null, fault: `rigs are written to one by one, since ${file} does not load: ${reason}` }
  }
}

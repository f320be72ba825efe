/** The native function that writes to many sockets, if it was compiled at installation or after an earlier start. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join, sep } from 'node:path'
import { describeError } from '#ground/base/errors.ts'
import type { EnvironmentVariables } from '../cache-folder.ts'
import { cachedFile, compilerOf, INSTALL_SCRIPT, installedFile, lookUp, type NativePart } from '../native/part.ts'

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

/** The file of the installation, or that in the user's cache, where nobody else can have written. */
function senderFile(): string {
  const cached = cachedFile(SEND, process.env)
  return !existsSync(installedFile(SEND)) && lookUp(cached) === 'usable' ? cached : installedFile(SEND)
}

/**
 * Loads the function. If there is none, it is compiled in the background, and the next start has it.
 * @param compile starts the compiler
 */
export function provideSender(file: string = senderFile(), compile: () => void = compileLater): Sender {
  if (!existsSync(file)) {
    compile()
    return { sendAll: null, fault: null }
  }
  try {
    return { sendAll: createRequire(import.meta.url)(file).sendAll, fault: null }
  } catch (error) {
    const [reason] = describeError(error).split('\n')
    return { sendAll: null, fault: `rigs are written to one by one, since ${file} does not load: ${reason}` }
  }
}

/** Compiles the function into the user's cache, in a process of its own. Without a C compiler nothing happens. */
function compileLater(): void {
  const { env, platform } = process
  const file = cachedFile(SEND, env)
  if (platform === 'win32' || lookUp(file) !== 'absent' || !isInPath(compilerOf(env), env)) return
  const options = { env, stdio: 'ignore', detached: true } as const
  const child = spawn(process.execPath, [INSTALL_SCRIPT, SEND.name, file], options)
  child.on('error', () => undefined)
  child.unref()
}

function isInPath(command: string, { PATH = '' }: EnvironmentVariables): boolean {
  const [name] = command.split(/\s+/)
  return name.includes(sep) ? existsSync(name) : PATH.split(delimiter).some((folder) => existsSync(join(folder, name)))
}

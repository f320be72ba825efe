/**
 * The only reader of files that a user names. It reads regular files up to a size: a named pipe would wait for its writer,
 * and a device such as /dev/zero has no end.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, type Stats, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { basename, dirname } from 'node:path'
import { suggestName } from './similar-names.ts'

/** Maximum size of a file by default: it is held in memory. Keys, certificates, configuration and cuts are far smaller. */
const MAX_USER_FILE_BYTES = 16 * 1024 * 1024
/** Maximum size of a contract or test file: the reader of the language holds all of its forms. */
export const MAX_CODE_BYTES = 4_000_000
/** Maximum input of a command that reads records, such as an answer of a node with many headers. */
export const MAX_INPUT_BYTES = 256 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024

/** A file that newcut does not read, because of its kind or its size. */
class UnsuitableFileError extends Error {}

/**
 * Reads a regular file, directly or through a link.
 * @throws UnsuitableFileError, or the error of the file system; `fileProblem` describes both
 */
export function readUserFile(path: string, maxBytes: number = MAX_USER_FILE_BYTES): Buffer {
  const file = openUserFile(path)
  try {
    if (fstatSync(file).size > maxBytes) throw tooLongError(maxBytes)
    return readBounded(file, maxBytes)
  } finally {
    closeSync(file)
  }
}

/** The text of a file, in UTF-8. @throws like readUserFile */
export function readUserText(path: string, maxBytes?: number): string {
  return readUserFile(path, maxBytes).toString('utf8')
}

/**
 * Opens a regular file for reading.
 * @returns a descriptor, which the caller closes
 * @throws like readUserFile
 */
export function openUserFile(path: string): number {
  // Opening a device may do something, and opening a pipe waits: look first.
  expectRegular(statsOf(path))
  // Another program may put a pipe in its place now. Windows has no such flag.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    expectRegular(fstatSync(file))
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** @throws an error of the file system that can suggest a file, for `fileProblem` */
function statsOf(path: string): Stats {
  try {
    return statSync(path)
  } catch (error) {
    throw Object.assign(error as Error, { suggest: () => suggestFile(path) })
  }
}

/** @returns a question for the file beside a missing one that has the most similar name; empty if there is none */
export function suggestFile(path: string): string {
  try {
    return suggestName(basename(path), readdirSync(dirname(path)))
  } catch {
    return ''
  }
}

/**
 * Reads a descriptor to its end, such as that of stdin.
 * @throws UnsuitableFileError beyond the size
 */
export function readBounded(file: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = []
  let size = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    const count = readSync(file, chunk, 0, CHUNK_BYTES, null)
    if (count === 0) return Buffer.concat(chunks, size)
    size += count
    if (size > maxBytes) throw tooLongError(maxBytes)
    chunks.push(chunk.subarray(0, count))
  }
}

const tooLongError = (maxBytes: number) => new UnsuitableFileError(`it has more than ${maxBytes} bytes`)

function expectRegular(stats: Stats): void {
  if (stats.isFile() || isNullDevice(stats)) return
  if (stats.isDirectory()) throw Object.assign(new UnsuitableFileError('it is a folder'), { code: 'EISDIR' })
  throw new UnsuitableFileError(`it is ${kindOf(stats)}, not a regular file`)
}

/** Whether it is /dev/null, which people name for an empty file. */
function isNullDevice(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === statSync(devNull, { throwIfNoEntry: false })?.rdev
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'a named pipe'
  return stats.isSocket() ? 'a socket' : 'a device'
}

/**
 * The index of a large journal: the table of its records in a file beside it, so that a start reads only the lines
 * after it. It holds nothing that the journal does not. A damaged, foreign or outdated one is ignored.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { stepNames } from '#ground/chain/solution.ts'
import { type Static, Type, Value } from '#ground/schema/typebox.ts'
import type { Disk } from './disk.ts'
import { RecordTable, SEGMENT_BYTES } from './record-table.ts'
import type { ScannedFile, ScanResult } from './scan.ts'

/** Name of the file in the folder of the journal. */
export const CHECKPOINT_NAME = 'blocks.index'
/** Format of the file. Another number makes newcut rewrite it. */
const FORMAT = 2
/** `newcut-journal-index 2`, the length of the head, the SHA-256 of all that follows. */
const MARK = /^newcut-journal-index (\d+) (\d{1,12}) ([0-9a-f]{64})$/
const MARK_BYTES = 120
/** Bytes before the end of the indexed part of a file by which it is recognised. */
const END_BYTES = 4096
/** Number that is stored with the byte order of this machine. */
const BYTE_ORDER = new Uint8Array(Uint16Array.of(1).buffer)[0]

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const IndexHead = Type.Object({
  steps: Type.Array(Type.String()),
  byteOrder: Count,
  rows: Count,
  damaged: Count,
  early: Type.Array(Count),
  origins: Type.Array(Type.Object({ network: Type.String(), account: Type.String() })),
  files: Type.Array(Type.Object({ name: Type.String(), size: Count, changedMs: Type.Number(), end: Type.String() })),
})
type IndexHead = Static<typeof IndexHead>

/**
 * Writes the index.
 * @throws the error of the file system
 */
export function saveCheckpoint(folder: string, disk: Disk, { table, files, damaged, early }: ScanResult): void {
  const head: IndexHead = {
    steps: [...stepNames],
    byteOrder: BYTE_ORDER,
    rows: table.rows,
    damaged,
    early: [...early],
    origins: table.origins,
    files: files.map((file) => ({ ...file, ...signatureOf(folder, disk, file) })),
  }
  const headBytes = Buffer.from(JSON.stringify(head))
  const parts = [headBytes, ...table.bytes]
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  const mark = `newcut-journal-index ${FORMAT} ${headBytes.length} ${hash.digest('hex')}`
  disk.replace(join(folder, CHECKPOINT_NAME), [Buffer.from(`${mark.padEnd(MARK_BYTES - 1)}\n`), ...parts])
}

/**
 * Reads the index of these files.
 * @returns null if there is none, or if it does not fit the files
 */
export function loadCheckpoint(folder: string, disk: Disk, names: readonly string[]): ScanResult | null {
  const path = join(folder, CHECKPOINT_NAME)
  try {
    if (disk.factsOf(path) === null) return null
    const content = contentOf(path, disk)
    if (content === null || !fitsFiles(folder, disk, content.head.files, names)) return null
    const { rows, origins, files, damaged, early } = content.head
    return { table: new RecordTable(rows, content.segments, origins), files, damaged, early }
  } catch (error) {
    // An index that cannot be read is as good as none. The journal itself is read next, and its errors are reported.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return null
  }
}

function contentOf(path: string, disk: Disk): { readonly head: IndexHead; readonly segments: Uint8Array[] } | null {
  const size = disk.factsOf(path)?.size ?? 0
  const first = new Uint8Array(MARK_BYTES)
  disk.readAt(path, first, 0)
  const mark = MARK.exec(Buffer.from(first).toString('latin1').trimEnd())
  if (mark === null || Number(mark[1]) !== FORMAT) return null
  const headLength = Number(mark[2])
  const count = (size - MARK_BYTES - headLength) / SEGMENT_BYTES
  if (count < 0 || !Number.isInteger(count)) return null
  const hash = createHash('sha256')
  const headBytes = new Uint8Array(headLength)
  disk.readAt(path, headBytes, MARK_BYTES)
  hash.update(headBytes)
  const segments: Uint8Array[] = []
  for (let i = 0; i < count; i++) {
    const bytes = new Uint8Array(SEGMENT_BYTES)
    disk.readAt(path, bytes, MARK_BYTES + headLength + i * SEGMENT_BYTES)
    hash.update(bytes)
    segments.push(bytes)
  }
  if (hash.digest('hex') !== mark[3]) return null
  // The hash is right: this is what newcut wrote.
  const head: unknown = JSON.parse(Buffer.from(headBytes).toString())
  if (!Value.Check(IndexHead, head)) return null
  const isOurs = head.byteOrder === BYTE_ORDER && head.steps.join() === stepNames.join()
  return isOurs ? { head, segments } : null
}

/** Whether the files are those of the index, and only the last of them has grown. */
function fitsFiles(folder: string, disk: Disk, files: IndexHead['files'], names: readonly string[]): boolean {
  return files.every((file, i) => {
    if (names[i] !== file.name) return false
    const { size, changedMs } = disk.factsOf(join(folder, file.name)) ?? { size: 0, changedMs: 0 }
    if (size < file.size || (size > file.size && i < files.length - 1)) return false
    if (size === file.size && changedMs !== file.changedMs) return false
    return endOf(folder, disk, file) === file.end
  })
}

function signatureOf(folder: string, disk: Disk, file: ScannedFile): Pick<IndexHead['files'][0], 'changedMs' | 'end'> {
  const changedMs = disk.factsOf(join(folder, file.name))?.changedMs ?? 0
  return { changedMs, end: endOf(folder, disk, file) }
}

/** Hash of the last indexed bytes of a file. */
function endOf(folder: string, disk: Disk, { name, size }: ScannedFile): string {
  const bytes = new Uint8Array(Math.min(size, END_BYTES))
  disk.readAt(join(folder, name), bytes, size - bytes.length)
  return createHash('sha256').update(bytes).digest('hex')
}

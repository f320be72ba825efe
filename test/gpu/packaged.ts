/** The archives of the package @sparticuz/chromium, unpacked once into test/node_modules/.cache. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { requireJudge } from '../judge.ts'

export const NOT_PACKAGED =
  'the package @sparticuz/chromium is missing, or has nothing for this machine: npm run judges installs it'

/** Unpacks an archive once. @returns its folder, or null if there is no archive for this machine */
export function unpacked(archive: string): string | null {
  const root = packageFolder()
  if (root === null || process.platform !== 'linux' || process.arch !== 'x64') return null
  const folder = join(root, '..', '..', '.cache', 'newcut-test', archive)
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true })
  // Renamed into place when complete, because tests may run in parallel.
  const draft = mkdtempSync(`${folder}-`)
  const content = brotliDecompressSync(readFileSync(join(root, 'bin', archive)))
  const files = archive.endsWith('.tar.br') ? tarFiles(content) : [{ name: basename(archive, '.br'), bytes: content }]
  for (const { name, bytes } of files) {
    const path = join(draft, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes, { mode: 0o755 })
  }
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

function packageFolder(): string | null {
  try {
    let folder = dirname(requireJudge.resolve('@sparticuz/chromium'))
    // Versions of the package differ in the depth of the module below the folder with the archives.
    while (!existsSync(join(folder, 'bin')) && basename(folder) !== 'chromium') folder = dirname(folder)
    return folder
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}

/** Files of a tar archive (POSIX ustar): header blocks of 512 bytes, size in octal at offset 124, content, padding. */
function* tarFiles(archive: Uint8Array): Generator<{ name: string; bytes: Uint8Array }> {
  const text = (from: number, bytes: number) => {
    return Buffer.from(archive.subarray(from, from + bytes))
      .toString('latin1')
      .replace(/\0.*$/s, '')
  }
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8)
    const name = text(at, 100)
    if (text(at + 156, 1) === '0' && !basename(name).startsWith('..')) {
      yield { name, bytes: archive.subarray(at + 512, at + 512 + size) }
    }
    at += 512 + 512 * Math.ceil(size / 512)
  }
}

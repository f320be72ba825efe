/**
 * A software driver for the GPU tests: SwiftShader from the development dependency @sparticuz/chromium, unpacked once
 * into node_modules/.cache. With NEWCUT_TEST_GPU=system tests use the driver of the machine instead.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { listAdapters } from '../../src/engine/gpu/adapters.ts'

export interface TestDriver {
  /** Environment of the child processes; null: there is no driver, and `reason` says why. */
  readonly env: Readonly<Record<string, string>> | null
  readonly reason: string
}

const require = createRequire(import.meta.url)

export const NOT_PACKAGED = 'the package @sparticuz/chromium is missing, or has nothing for this machine'

/** Finds the driver and checks that it offers an adapter. Prints the reason where it does not. */
export async function testDriver(): Promise<TestDriver> {
  const driver = await findDriver()
  if (driver.env === null) process.stderr.write(`GPU tests skipped: ${driver.reason}\n`)
  return driver
}

async function findDriver(): Promise<TestDriver> {
  const env = process.env.NEWCUT_TEST_GPU === 'system' ? {} : softwareDriverEnv()
  if (typeof env === 'string') return { env: null, reason: env }
  const { problem } = await listAdapters({ env })
  return problem === null ? { env, reason: '' } : { env: null, reason: problem }
}

/** Environment variables that lead to SwiftShader, or why there is none. */
function softwareDriverEnv(): Record<string, string> | string {
  const folder = unpacked('swiftshader.tar.br')
  if (folder === null) return NOT_PACKAGED
  return {
    VK_ICD_FILENAMES: join(folder, 'vk_swiftshader_icd.json'),
    LD_LIBRARY_PATH: [folder, process.env.LD_LIBRARY_PATH].filter((path) => path).join(':'),
  }
}

/**
 * Unpacks an archive of @sparticuz/chromium, once, and returns its folder; null when there is none for this machine.
 */
export function unpacked(archive: string): string | null {
  const root = packageFolder()
  if (root === null || process.platform !== 'linux' || process.arch !== 'x64') return null
  const folder = join(root, '..', '..', '.cache', 'newcut-test', archive)
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true })
  // Renamed into place when complete, since tests may run side by side.
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
    let folder = dirname(require.resolve('@sparticuz/chromium'))
    // Versions differ in how deep the module lies below the folder with the archives.
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

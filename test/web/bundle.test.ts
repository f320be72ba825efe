/** The scripts that the build makes of the modules of a page. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Bundles one module of this text. @returns its script */
async function bundle(text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const module = join(folder, 'main.js')
  writeFileSync(module, text)
  const { bundlePage } = await import(/* @vite-ignore */ join(root, 'scripts/build/bundle.js'))
  await bundlePage({ main: module }, join(folder, 'served'))
  return readFileSync(join(folder, 'served/main.js'), 'utf8')
}

const built = (module: string) => JSON.stringify(join(root, 'dist/src', module))

it('a page gets modules of the house and their packages in its script', async () => {
  const script = await bundle(`import { encodeHex } from ${built('base/bytes.js')}\nglobalThis.run = encodeHex`)
  expect(script).toMatch(/toString\(16\)/)
  expect(script).not.toMatch(/\b(import|require)\b/)
})

it.each([
  ['import { readFileSync } from "node:fs"', 'node:fs'],
  ['import { join } from "path"', 'path'],
  [`import { signingKey } from ${built('wallet/keys.js')}`, 'node:crypto'],
  [`import { readUserFile } from ${built('base/user-file.js')}`, 'node:os'],
])('a page with a module of Node.js is refused: %s', async (text, name) => {
  await expect(bundle(text)).rejects.toThrow(`a page cannot load ${name}, which `)
})

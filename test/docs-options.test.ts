import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { optionsDocument } from './docs-options.ts'

const main = fileURLToPath(new URL('../dist/src/main.js', import.meta.url))
const document = fileURLToPath(new URL('../docs/OPTIONS.md', import.meta.url))

const helpOf = (...words: string[]) =>
  execFileSync(process.execPath, [main, ...words, '--help-all'], { encoding: 'utf8', env: { NO_COLOR: '1' } })

it('OPTIONS.md matches the option tables; npm run docs:tables rewrites it', async () => {
  await expect(optionsDocument(helpOf)).toMatchFileSnapshot(document)
})

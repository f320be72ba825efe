import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { run } from './cli/run.ts'
import { optionsDocument } from './docs-options.ts'

const document = fileURLToPath(new URL('../docs/OPTIONS.md', import.meta.url))

const helpOf = async (...words: string[]) => (await run([...words, '--help-all'])).out

it('OPTIONS.md matches the option tables; npm run docs:tables rewrites it', async () => {
  await expect(await optionsDocument(helpOf)).toMatchFileSnapshot(document)
})

import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { optionsDocument } from '../scripts/docs/options.ts'

const document = fileURLToPath(new URL('../docs/OPTIONS.md', import.meta.url))

it('OPTIONS.md matches the option tables; npm run docs:tables rewrites it', async () => {
  await expect(optionsDocument()).toMatchFileSnapshot(document)
})

/** The page runs the project's own modules: the server serves all that it needs and nothing else, and none needs Node. */
import { expect, it } from 'vitest'
import { readMinePage } from '../../../src/faces/web/mine-page/files.ts'
import { entriesOf, foreignIn, loadedBy, scriptsIn } from '../modules.ts'

const assets = readMinePage()
const { text: page = '', policy } = assets.get('/mine') ?? {}

it('the server serves exactly the scripts that the mining page loads, and they use only what browsers have', () => {
  const entries = entriesOf(page)
  expect(entries).toHaveLength(1)
  expect(loadedBy(assets, ...entries)).toEqual(scriptsIn(assets).toSorted())
  expect(foreignIn(assets)).toEqual([])
})

it('the mining page loads nothing from elsewhere, and its policy allows nothing else', () => {
  const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link)
  expect(links.length).toBeGreaterThan(2)
  expect(links.filter((link) => !assets.has(link))).toEqual([])
  expect(policy).toMatch(/^default-src 'self'; base-uri /)
  for (const { text } of assets.values())
    expect(text).not.toMatch(/@import|url\(|https?:\/\/(?!www\.w3\.org\/2000\/svg)\S+\.(js|css)/)
})

it('the files of the mining page are within the size limit', () => {
  const bytes = [...assets.values()].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  expect(bytes).toBeLessThan(400_000)
})

/**
 * The page runs the project's own modules: the server serves all that it needs and nothing else, and none needs Node.
 */
import { expect, it } from 'vitest'
import { ENTRY, HASH_MODULES, MODULES, readMinePage } from '../../../src/web/mine-page/files.ts'
import { foreignTo, HASHES, reachedFrom } from '../modules.ts'

it('the server serves exactly the modules that the page reaches', () => {
  const served = [...MODULES, ...HASH_MODULES.map((name) => HASHES + name)]
  expect(reachedFrom(ENTRY)).toEqual(served.toSorted())
})

it('all of them use only what browsers have', () => {
  expect(foreignTo(MODULES)).toEqual([])
})

it('the page loads nothing from elsewhere, and its import map is the one that its policy allows', () => {
  const assets = readMinePage()
  const { text: page = '', policy } = assets.get('/mine') ?? {}
  const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link)
  expect(links.length).toBeGreaterThan(2)
  expect(links.filter((link) => !assets.has(link))).toEqual([])
  expect(policy).toMatch(/^default-src 'self'; script-src 'self' 'sha256-[\w+/]{43}='; /)
  for (const { text } of assets.values())
    expect(text).not.toMatch(/@import|url\(|https?:\/\/(?!www\.w3\.org\/2000\/svg)\S+\.(js|css)/)
})

it('the files are within the size limit of a page', () => {
  const bytes = [...readMinePage().values()].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  expect(bytes).toBeLessThan(400_000)
})

/** The files that the build makes for pages. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

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

it('the script of a page has modules of the house and their packages', async () => {
  const script = await bundle(`import { encodeHex } from ${built('ground/base/bytes.js')}\nglobalThis.run = encodeHex`)
  expect(script).toMatch(/toString\(16\)/)
  expect(script).not.toMatch(/\b(import|require)\b/)
})

it.each([
  ['import { readFileSync } from "node:fs"', 'node:fs'],
  ['import { join } from "path"', 'path'],
  [`import { signingKey } from ${built('client/wallet/keys.js')}`, 'node:crypto'],
  [`import { untilStopped } from ${built('ground/platform/shutdown.js')}`, 'node:os'],
])('the build refuses a page with a module of Node.js: %s', async (text, name) => {
  await expect(bundle(text)).rejects.toThrow(`a page cannot load ${name}, which `)
})

describe('a page of a node', () => {
  const template = readFileSync(join(root, 'src/faces/web/explorer/template.html'), 'utf8')
  const filled = async (name: string, facts: string) => {
    const { filledPage } = await import(/* @vite-ignore */ join(root, 'scripts/build/sites.js'))
    return String(filledPage(template, name, `<!--\n${facts}\n-->\n<main>content</main>\n`))
  }

  it('a page of a node has the frame of the template around its content, and marks its own link', async () => {
    const page = await filled('events', 'title: events\ndescription: Events: by name.')
    expect(page).toContain('<title>newcut · events</title>')
    expect(page).toContain('content="Events: by name."')
    expect(page).toContain('</a>Events</h1>')
    expect(page).toContain('src="/explorer/events-main.js"')
    expect(page).toContain('<main>content</main>')
    expect(page.match(/<a [^>]*aria-current[^>]*>/g)).toEqual(['<a href="/explorer/events" aria-current="page">'])
    expect(page).not.toMatch(/[{}]/)
  })

  it('a page of a node may belong to another page, and has the same links as all others', async () => {
    const page = await filled('one', 'title: one\ndescription: d\nin: /explorer/send')
    expect(page).toContain('<a href="/explorer/send" aria-current="page">')
    const linksOf = (text: string) => text.match(/<nav.*<\/nav>/s)?.[0].replace(' aria-current="page"', '')
    expect(linksOf(page)).toBe(linksOf(await filled('events', 'title: events\ndescription: d')))
  })

  it.each(['title: one', 'description: d', ''])(
    'a page of a node needs a title and a description, not only: %s',
    async (facts) => {
      await expect(filled('one', facts)).rejects.toThrow('page one: expected a title and a description')
    },
  )
})

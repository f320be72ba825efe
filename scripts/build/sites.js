/** Writes the HTML, the style sheets and the icon of each page into dist/src/faces/web/PAGE/served/, beside its scripts. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { pages } from './bundle.js'
import { dist, root } from './places.js'

/** Files that every page gets. */
const KIT = `${root}src/faces/web/kit/site`

/** Writes the files of all pages. The scripts must be there. */
export function writeSites() {
  for (const page of pages) {
    const source = `${root}src/faces/web/${page}/`
    const served = `${dist}src/faces/web/${page}/served/`
    mkdirSync(served, { recursive: true })
    for (const name of readdirSync(served)) if (!name.endsWith('.js')) rmSync(`${served}${name}`)
    for (const site of [KIT, `${source}site`]) cpSync(site, served, { recursive: true })
    if (!existsSync(`${source}template.html`)) continue
    const template = readFileSync(`${source}template.html`, 'utf8')
    for (const name of readdirSync(served).filter((each) => each.endsWith('.html'))) {
      const text = readFileSync(`${served}${name}`, 'utf8')
      writeFileSync(`${served}${name}`, filledPage(template, name.slice(0, -'.html'.length), text))
    }
  }
}

const HOME = '<a href="/"><img src="/explorer/icon.svg" alt="back to the network" width="30" height="30" /></a>'
/** A page that follows the node says so. */
const BODY = '<body data-link="gone">'
const LINK = '<p id="mode">connecting to the node</p>\n      <p id="link" role="status">connecting</p>'

/**
 * Fills the template of a page.
 * @param {string} template
 * @param {string} name
 * @param {string} text a comment with lines `fact: text`, then the content of the page. Facts: `title`, `description`;
 * `in`, the path of the page to which it belongs; `body`, attributes; `status`, what stands beside the title
 * @throws {Error} for a page without a title or a description
 */
export function filledPage(template, name, text) {
  const [, head = '', content = ''] = /^<!--\n([\s\S]*?)\n-->\n([\s\S]*)$/.exec(text) ?? []
  const given = Object.fromEntries(head.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)))
  if (!given.title || !given.description) throw new Error(`page ${name}: expected a title and a description`)
  const isHome = name === 'explorer'
  const heading = isHome
    ? '<img src="/explorer/icon.svg" alt="" width="30" height="30" />newcut'
    : `${HOME}${given.title[0].toUpperCase()}${given.title.slice(1)}`
  const script = isHome ? 'main' : `${name}-main`
  /** @type {Readonly<Record<string, string>>} */
  const facts = { status: LINK, ...given, heading, script, content }
  const path = given.in ?? (isHome ? '/' : `/explorer/${name}`)
  return template
    .replace(`        <a href="${path}">`, `        <a href="${path}" aria-current="page">`)
    .replace(BODY, facts.body === undefined ? BODY : `<body ${facts.body}>`)
    .replace(/\{(\w+)\}/g, (_, fact) => facts[fact])
}

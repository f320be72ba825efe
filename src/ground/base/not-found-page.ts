/** The page for a browser that asks for a path at which a server has nothing. Programs get the answer of their interface. */
import { createHash } from 'node:crypto'
import { findSimilarName } from './similar-names.ts'

const STYLE = `
:root { color-scheme: light dark }
body { margin: 0; background: light-dark(#f6f5f1, #0f1312); color: light-dark(#1d2321, #e6ebe8) }
body { font: 1rem/1.6 system-ui, sans-serif }
main { max-width: 38rem; margin: 12vh auto 0; padding: 0 1.25rem }
h1 { font-size: 1.4rem; letter-spacing: -0.015em }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
a { color: light-dark(#0f766e, #2dd4bf) }
nav { color: light-dark(#616965, #9aa5a0) }
`

/** The page loads nothing, and has no style but its own. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const MAX_SHOWN_PATH_LENGTH = 200

export interface ServedPage {
  readonly path: string
  /** Text of a link to it. */
  readonly name: string
}

interface HtmlAnswer {
  readonly headers: Readonly<Record<string, string>>
  readonly html: string
}

/** Whether an Accept header names HTML, as browsers do. Programs accept anything, or JSON. */
export function wantsPage(accept = ''): boolean {
  return accept.split(',').some((range) => /^\s*text\/html\s*(?:;(?!\s*q=0(?:\.0*)?\s*$)|$)/i.test(range))
}

/**
 * Writes the page.
 * @param pages what browsers can open here, the first page first
 * @param others other paths that are guesses too
 */
export function notFoundPage(url: string, pages: readonly ServedPage[], others: readonly string[] = []): HtmlAnswer {
  const path = url.split('?', 1)[0].slice(0, MAX_SHOWN_PATH_LENGTH)
  const guess = findSimilarName(
    path.replace(/(?<=.)\/+$/, ''),
    [...pages.map((page) => page.path), ...others].filter((each) => each !== path),
  )
  const links = pages.map((page) => linkTo(page.path, page.name)).join(' · ')
  const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>newcut · not found</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <style>${STYLE}</style>
  </head>
  <body>
    <main>
      <h1>There is nothing here</h1>
      <p>Nothing is served at <code>${escapeHtml(path)}</code>.</p>
${guess === null ? '' : `      <p>Did you mean ${linkTo(guess, guess)}?</p>\n`}      <nav aria-label="Pages">${links}</nav>
    </main>
  </body>
</html>
`
  return {
    headers: {
      'content-type': 'text/html;charset=utf-8',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      vary: 'accept',
    },
    html,
  }
}

const linkTo = (path: string, text: string) => `<a href="${escapeHtml(path)}">${escapeHtml(text)}</a>`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (each) => ENTITIES[each])

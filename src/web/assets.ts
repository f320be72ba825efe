/**
 * The files of the web pages, read once at the start and served from memory. The list of each page is fixed: no path of
 * a request reaches the file system. Pages run the compiled modules of the project as they are.
 */
import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'

/** A file, ready to be sent. */
export interface Asset {
  /** Its media type. */
  readonly type: string
  readonly text: string
  /** Content-Security-Policy of a page; absent for files that a page loads. */
  readonly policy?: string
}

/** Headers of everything that a page loads. */
export const SAFE_HEADERS = {
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html;charset=utf-8',
  css: 'text/css;charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript;charset=utf-8',
}

/**
 * The Content-Security-Policy of a page, with directives of its own. Everything that it loads or calls comes from its own
 * origin. No other site may frame it to have visitors click on it.
 */
export function policyWith(...directives: readonly string[]): string {
  const last = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]
  return ["default-src 'self'", ...directives, ...last].join('; ')
}

/** Reads a file, whose ending tells its type. Throws where the package is incomplete. */
export function fileAsset(file: URL): Asset {
  return { type: TYPES[file.pathname.split('.').at(-1) ?? ''], text: readFileSync(file, 'utf8') }
}

/** Reads a file of src/web, such as `explorer/site/explorer.html`. They lie in the sources, beside dist/. */
export function siteAsset(name: string): Asset {
  return fileAsset(new URL(`../../../src/web/${name}`, import.meta.url))
}

/** Reads compiled modules of src/, which are named without their ending. Returns them by their path below `folder`. */
export function moduleAssets(folder: string, names: readonly string[]): (readonly [string, Asset])[] {
  return names.map((name) => [`${folder}/${name}.js`, fileAsset(new URL(`../${name}.js`, import.meta.url))])
}

/** Answers with a file. Pages of other sites may not read it, whatever the server allows them elsewhere. */
export function sendAsset(reply: FastifyReply, { type, text, policy }: Asset): FastifyReply {
  reply.removeHeader('access-control-allow-origin').headers(SAFE_HEADERS)
  if (policy !== undefined) reply.header('content-security-policy', policy)
  return reply.type(type).send(text)
}

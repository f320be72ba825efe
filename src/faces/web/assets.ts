/**
 * Serves the files of the web pages from memory, so no request path reaches the file system. The build puts all files of
 * a page into one folder.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import type { CompressedText } from '#ground/base/http-answer.ts'

/** A file in memory. */
export interface Asset {
  /** Media type. */
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
 * Builds the Content-Security-Policy of a page. It loads and calls its own origin only, and no other site may frame it
 * (clickjacking).
 */
export function policyWith(...directives: readonly string[]): string {
  const last = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]
  return ["default-src 'self'", ...directives, ...last].join('; ')
}

/**
 * Reads a file; the extension gives its media type.
 * @throws if the package is incomplete
 */
export function fileAsset(file: URL): Asset {
  return { type: TYPES[file.pathname.split('.').at(-1) ?? ''], text: readFileSync(file, 'utf8') }
}

/**
 * Reads the files that the build has made for a page: HTML, style sheets, the icon and scripts.
 * @param page folder of src/faces/web
 * @param path path of the files
 * @param policy Content-Security-Policy of the HTML
 * @param pathOf path of an HTML file by its name without `.html`
 * @returns the files by their paths
 * @throws if the package is incomplete
 */
export function pageAssets(
  page: string,
  path: string,
  policy: string,
  pathOf: (name: string) => string,
): Map<string, Asset> {
  const folder = new URL(`${page}/served/`, import.meta.url)
  return new Map(
    readdirSync(folder).map((name) => {
      const asset = fileAsset(new URL(name, folder))
      const [, html] = /^(.*)\.html$/.exec(name) ?? []
      return html === undefined ? [`${path}/${name}`, asset] : [pathOf(html), { ...asset, policy }]
    }),
  )
}

/** Files of all pages, compressed. */
const compressed = new WeakMap<Asset, CompressedText>()

/**
 * Sends a file. Pages of other sites may not read it, even where the server allows them other routes.
 * @param vary headers of the request that decide about the answer
 */
export async function sendAsset(reply: FastifyReply, asset: Asset, vary = 'accept-encoding'): Promise<FastifyReply> {
  const { type, text, policy } = asset
  // Miners load it only with the first file that a browser asks for.
  const { CompressedText } = await import('#ground/base/http-answer.ts')
  const known = compressed.get(asset) ?? new CompressedText(text)
  compressed.set(asset, known)
  const { headers, body } = known.bodyFor(reply.request.headers['accept-encoding'])
  reply.removeHeader('access-control-allow-origin').headers({ ...SAFE_HEADERS, ...headers, vary })
  if (policy !== undefined) reply.header('content-security-policy', policy)
  return reply.type(type).send(body)
}

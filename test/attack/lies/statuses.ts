/** HTTP statuses and bodies that real gateways send. */

import type { Responder } from '../proxy.ts'
import { says } from '../responders.ts'

const page = (title: string) => `<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`
const HTML = { 'content-type': 'text/html' }

/** Maps a description of the response to its responder. */
export const statuses: Readonly<Record<string, () => Responder>> = {
  '301 to another path': () => says(301, '', { location: '/elsewhere' }),
  '302 to a login page': () => says(302, page('Login'), { ...HTML, location: 'http://127.0.0.1:1/login' }),
  '303 without a location': () => says(303),
  '304': () => says(304),
  '307 to itself': () => says(307, '', { location: '' }),
  '308 to a wrong address': () => says(308, '', { location: 'http://[::bad' }),
  '400 and a page': () => says(400, page('400 Bad Request'), HTML),
  '401 that asks for a password': () => says(401, '', { 'www-authenticate': 'Basic realm="\\"' }),
  "403 in the node's own words": () => says(403, 'Unauthorized Miner: k:00'),
  '403 and a page of a firewall': () => says(403, page('403 Forbidden'), HTML),
  '404 without a body': () => says(404),
  '404 and a page': () => says(404, page('404 Not Found'), HTML),
  '404 and JSON': () => says(404, '{"reason":"key not found","key":"x"}', { 'content-type': 'application/json' }),
  '405': () => says(405, '', { allow: 'POST' }),
  '407': () => says(407, '', { 'proxy-authenticate': 'Basic' }),
  '408': () => says(408),
  '410': () => says(410, 'Gone'),
  '413': () => says(413),
  '429 and a wait of a day': () => says(429, '', { 'retry-after': '86400' }),
  '451': () => says(451),
  '500 and text with escape sequences': () => says(500, '\x1b[2J\x1b]0;pwned\x07\u202e\u009b31m\r\n\x00'),
  '502 and a page': () => says(502, page('502 Bad Gateway'), HTML),
  '503 without a body': () => says(503),
  "503 in the node's own words": () => says(503, 'Too many work requests'),
  '503 and a wait of 10^12 s': () => says(503, '', { 'retry-after': '1000000000000' }),
  '504': () => says(504),
  '511': () => says(511, page('Captive portal'), HTML),
  '599': () => says(599),
}

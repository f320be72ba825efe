/** Lies at every endpoint: the node restarts, is overloaded, or another service answers in its place. */
import { liesAt, prefixTitles } from '../lie.ts'
import type { Endpoint, Responder } from '../proxy.ts'
import {
  altersBody,
  altersHeaders,
  breaksOff,
  closes,
  either,
  hangs,
  late,
  resets,
  says,
  sometimes,
  speaks,
} from '../responders.ts'

const PAGE = { 'content-type': 'text/html' }
const CHANGE_OF_NETWORK = '/chainweb/0.0/elsewhere'

const outages = prefixTitles('everything is answered', {
  'with 404 by what stands before the node': () => says(404, '<html>404 page not found</html>', PAGE),
  'with 404 and nothing': () => says(404),
  'with 502': () => says(502, '<html>502 Bad Gateway</html>', PAGE),
  'with 503': () => says(503, 'no server is available to handle this request'),
  'with 504': () => says(504),
  'with 500': () => says(500),
  'with 401': () => says(401, '', { 'www-authenticate': 'Basic realm="x"' }),
  'with 403 by a firewall': () => says(403, '<html>Access denied</html>', PAGE),
  'with 302 to a portal': () => says(302, '', { location: 'http://127.0.0.1:1/portal' }),
  'with 308 to itself': () => says(308, '', { location: '/' }),
  'with 200 and a page': () => says(200, '<html>Welcome</html>', PAGE),
  'with 200 and nothing': () => says(200),
  'with 204': () => says(204),
  'with 410': () => says(410),
  'with 429': () => says(429),
  'by closing the connection': () => closes,
  'by resetting the connection': () => resets,
  'with garbage': () => speaks('\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'),
})

const disturbances = {
  'every answer comes 200 ms late': () => exceptStreams(late(200)),
  'every answer closes its connection': () => exceptStreams(altersHeaders({ connection: 'close' })),
  'a third of all requests is closed': () => sometimes(0.33, closes),
  'a third of all requests is answered with 503': () => sometimes(0.33, says(503), 7),
  'a third of all requests is answered with 404': () => sometimes(0.33, says(404), 11),
  'a third of all answers breaks off': () => exceptStreams(sometimes(0.33, breaksOff, 5)),
  'a third of all answers has a bit flipped': () =>
    exceptStreams(
      sometimes(
        0.33,
        altersBody((body, { number }) => {
          const copy = Buffer.from(body)
          if (copy.length > 0) copy[number % copy.length] ^= 1 << (number % 8)
          return copy
        }),
        3,
      ),
    ),
  'a tenth of all requests is never answered': () => exceptStreams(sometimes(0.1, hangs, 9)),
}

const mixtures = {
  'work is answered with 404, and /info with another network': () =>
    either({ work: says(404), info: altersBody((body) => body.toString().replaceAll('development', 'elsewhere')) }),
  'the node moves its paths to another network': () => (exchange: Parameters<Responder>[0]) =>
    exchange.path.startsWith('/chainweb/') ? says(404, `try ${CHANGE_OF_NETWORK}`)(exchange) : null,
  'mining is disabled, in a node that is healthy': () =>
    either({ work: says(404), solved: says(404), updates: says(404) }),
  'the node forgets the account': () => either({ work: says(403, 'Unauthorized Miner: k:00') }),
  'the node is catching up': () => either({ work: says(503, 'no work'), updates: hangs, cut: hangs }),
  'work hangs and update streams are silent': () => either({ work: hangs, updates: hangs }),
  'nothing is answered': () => hangs,
}

/** The node is overloaded or far away. */
const slowness = {
  'the cut comes 1.2 s late, everything else 3 s late': () => slow(1_200, 3_000),
  'every answer comes 3 s late': () => slow(3_000, 3_000),
  'every answer comes 7 s late': () => slow(7_000, 7_000),
}

function slow(cutMs: number, othersMs: number): Responder {
  return exceptStreams((exchange) => late(exchange.endpoint === 'cut' ? cutMs : othersMs)(exchange))
}

function exceptStreams(respond: Responder): Responder {
  const streams: readonly Endpoint[] = ['updates']
  return (exchange) => (streams.includes(exchange.endpoint) ? null : respond(exchange))
}

/** Nobody knows whether the chains have these solutions, so the miner must not claim that they do. */
const unknown = prefixTitles('solutions are thrown away, and requests for them get', {
  404: () => either({ solved: says(204), cut: says(404), chain: says(404) }),
  503: () => either({ solved: says(204), cut: says(503), chain: says(503) }),
  403: () => either({ solved: says(204), cut: says(403), chain: says(403) }),
  'no answer': () => either({ solved: says(204), cut: closes, chain: closes }),
  garbage: () => either({ solved: says(204), cut: says(200, 'x'), chain: says(200, 'x') }),
  'no end': () => either({ solved: says(204), cut: hangs, chain: hangs }),
})

export const everythingLies = [
  ...liesAt('all', 'waits', outages),
  ...liesAt('all', 'waits', mixtures),
  ...liesAt('all', 'recovers', disturbances),
  ...liesAt('all', 'recovers', unknown),
  ...liesAt('all', 'keepsMining', slowness),
]

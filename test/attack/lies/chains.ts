/** Lies about the contents of the chains, which a miner reads to find its blocks. */
import { liesAt, prefixTitles } from '../lie.ts'
import type { Answer, Exchange, ProxyReply, Responder } from '../proxy.ts'
import {
  altersBody,
  altersHeaders,
  altersJson,
  breaksOff,
  closes,
  floods,
  hangs,
  JSON_TYPE,
  late,
  says,
  saysJson,
  speaks,
} from '../responders.ts'

interface Cut {
  readonly hashes: Readonly<Record<string, { readonly height: number; readonly hash: string }>>
}

const HASH = 'A'.repeat(43)

const heads = (change: (head: Cut['hashes'][string]) => unknown) =>
  altersJson<Cut>((cut) => ({
    ...cut,
    hashes: Object.fromEntries(Object.entries(cut.hashes).map(([chain, head]) => [chain, change(head)])),
  }))

const cut = prefixTitles('the cut', {
  'is answered with 404': () => says(404),
  'is answered with 403': () => says(403),
  'is answered with 500 and escape sequences': () => says(500, '\x1b[2J\x1b]0;pwned\x07'),
  'is answered with 503': () => says(503),
  'is answered with a redirection': () => says(302, '', { location: '/cut' }),
  'is answered with a page': () => says(200, '<html></html>', { 'content-type': 'text/html' }),
  'is answered by closing the connection': () => closes,
  'breaks off': () => breaksOff,
  'is never answered': () => hangs,
  'comes half a second late': () => late(500),
  'has no end': () => floods('[1,', { 'content-type': JSON_TYPE }),
  'is null': () => saysJson('null'),
  'is a list': () => saysJson([]),
  'is a number': () => saysJson('1e400'),
  'is half of its JSON': () => altersBody((body) => body.subarray(0, body.length / 2)),
  'is nested 100,000 deep': () => saysJson('['.repeat(100_000)),
  'has no chains': () => altersJson<Cut>((value) => ({ ...value, hashes: {} })),
  'has null in the place of its chains': () => altersJson<Cut>((value) => ({ ...value, hashes: null })),
  'has a million chains': () =>
    altersJson<Cut>((value) => ({
      ...value,
      hashes: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [i + 100, { height: 1, hash: HASH }])),
    })),
  'has height 0 on every chain': () => heads((head) => ({ ...head, height: 0 })),
  'has height 2^53 on every chain': () => heads((head) => ({ ...head, height: 2 ** 53 })),
  'has negative heights': () => heads((head) => ({ ...head, height: -1 })),
  'has heights that are texts': () => heads((head) => ({ ...head, height: '\x1b[2J' })),
  'has other hashes': () => heads((head) => ({ ...head, hash: HASH })),
  'has hashes that are none': () => heads((head) => ({ ...head, hash: '\x1b[31m' })),
  'has null in the place of every head': () => heads(() => null),
  'is the same for ever': () => {
    let first: Promise<Answer> | null = null
    return ({ forward }: Exchange): Promise<ProxyReply> => {
      first ??= forward()
      return first
    }
  },
})

const headers = prefixTitles('blocks', {
  'are not there, says 404': () => says(404, '{"reason":"key not found"}', { 'content-type': JSON_TYPE }),
  'are not there, says 404 without a body': () => says(404),
  'are refused with 403': () => says(403),
  'are answered with 500': () => says(500),
  'are answered with 503': () => says(503),
  'are answered with a redirection': () => says(301, '', { location: '/' }),
  'are answered with nothing': () => says(200),
  'are answered with zeros': () => says(200, new Uint8Array(318), { 'content-type': 'application/octet-stream' }),
  'are answered with a page': () => says(200, '<html></html>', { 'content-type': 'text/html' }),
  'are answered with another type': () => altersHeaders({ 'content-type': 'image/png' }),
  'are answered with escape sequences': () => says(400, '\x1b[2J\x1b]0;pwned\x07'),
  'are always the first one': () => {
    let first: Promise<Answer> | null = null
    return ({ forward }: Exchange): Promise<ProxyReply> => {
      first ??= forward()
      return first
    }
  },
  'lack their last byte': () => altersBody((body) => body.subarray(0, -1)),
  'have a bit flipped': () => altersBody((body) => Buffer.from(body).fill(body[body.length - 40] ^ 1, -40, -39)),
  'are never answered': () => hangs,
  'are answered by closing the connection': () => closes,
  'are answered with garbage': () => speaks('\x00\x01\x02\r\n'),
  'are answered without end': () => floods('x'.repeat(65_536), { 'content-type': 'application/octet-stream' }),
})

/** Adds unknown heads to the cut, so that the miner must query the chain to find its blocks. */
function asksForBlocks(respond: Responder): Responder {
  const beyond = heads(({ height }) => ({ height: height + 1, hash: HASH }))
  return (exchange) => (exchange.endpoint === 'cut' ? beyond(exchange) : respond(exchange))
}

export const chainLies = [
  ...liesAt(['cut'], 'keepsMining', cut),
  ...liesAt(['chain'], 'keepsMining', headers).map((lie) => ({
    ...lie,
    createResponder: () => asksForBlocks(lie.createResponder()),
  })),
  ...liesAt(['cut', 'chain'], 'keepsMining', {
    'neither cut nor blocks are there': () => says(404),
    'neither cut nor blocks are answered': () => hangs,
    'cut and blocks are answered with 503': () => says(503),
  }),
]

/** Lies that hold from the first request. */
import type { StartLie, StartProperty } from '../lie.ts'
import type { Responder } from '../proxy.ts'
import {
  altersJson,
  altersWork,
  breaksOff,
  closes,
  either,
  floods,
  hangs,
  JSON_TYPE,
  resets,
  says,
  saysJson,
  speaks,
} from '../responders.ts'

type Info = Readonly<Record<string, unknown>>

const waits: StartProperty = { kind: 'waits' }
const endsOrGoesOn: StartProperty = { kind: 'endsOrGoesOn' }
const PAGE = { 'content-type': 'text/html' }
const ESCAPES = '\x1b[2J\x1b]0;pwned\x07\u009b31m\u202edevelopment'

function liesOf(property: StartProperty, responders: Readonly<Record<string, () => Responder>>): StartLie[] {
  return Object.entries(responders).map(([title, createResponder]) => ({ title, property, createResponder }))
}

const info = (change: (value: Info) => unknown) => () => either({ info: altersJson<Info>(change) })
const infoWith = (members: Info) => info((value) => ({ ...value, ...members }))

/** Networks that a node cannot have, or whose properties contradict each other. */
const infos: Readonly<Record<string, () => Responder>> = {
  '/info has an empty graph history': infoWith({ nodeGraphHistory: [] }),
  '/info has a graph without chains': infoWith({ nodeGraphHistory: [[0, []]] }),
  '/info has a graph of chains without neighbours': infoWith({ nodeGraphHistory: [[0, [[0, []]]]] }),
  '/info has a graph in which a chain is its own neighbour': infoWith({ nodeGraphHistory: [[0, [[0, [0, 0, 0]]]]] }),
  '/info has a graph of degree 10': infoWith({ nodeGraphHistory: [[0, [[0, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]]]] }),
  '/info has a graph of degree 64': infoWith({
    nodeGraphHistory: [[0, [[0, Array.from({ length: 64 }, (_, i) => i + 1)]]]],
  }),
  '/info has a graph of degree 10,000': infoWith({
    nodeGraphHistory: [[0, [[0, Array.from({ length: 10_000 }, (_, i) => i + 1)]]]],
  }),
  '/info has a graph from a negative height on': infoWith({ nodeGraphHistory: [[-5, [[-1, [-2]]]]] }),
  '/info has a graph history of null': infoWith({ nodeGraphHistory: null }),
  '/info has a graph history of texts': infoWith({ nodeGraphHistory: 'petersen' }),
  '/info has no chains': infoWith({ nodeChains: [], nodeNumberOfChains: 0 }),
  '/info has chains that are no numbers': infoWith({ nodeChains: ['zero', ESCAPES] }),
  '/info has a negative number of chains': infoWith({ nodeNumberOfChains: -1 }),
  '/info has 10^9 chains by number': infoWith({ nodeNumberOfChains: 1_000_000_000 }),
  '/info has 5,000 chains by name': infoWith({ nodeChains: Array.from({ length: 5_000 }, (_, i) => String(i)) }),
  '/info has a chain beyond 2^32': infoWith({ nodeChains: ['4294967296', '18446744073709551616'] }),
  '/info has no block delay': infoWith({ nodeBlockDelay: 0 }),
  '/info has a negative block delay': infoWith({ nodeBlockDelay: -1 }),
  '/info has a block delay of 10^15 s': infoWith({ nodeBlockDelay: 1e21 }),
  '/info has a block delay that is a text': infoWith({ nodeBlockDelay: '30000000' }),
  '/info has an empty network name': infoWith({ nodeVersion: '' }),
  '/info has a network name with slashes': infoWith({ nodeVersion: '../../development' }),
  '/info has a network name of 50 kB': infoWith({ nodeVersion: `development${'x'.repeat(50_000)}` }),
  '/info has a network name that is a number': infoWith({ nodeVersion: 2 }),
  '/info is null': () => either({ info: saysJson('null') }),
  '/info is a list': () => either({ info: saysJson([]) }),
  '/info is an empty object': () => either({ info: saysJson({}) }),
  '/info is half of its JSON': () => either({ info: saysJson('{"nodeVersion":"development","nodeCh') }),
  '/info is nested 30,000 deep': () => either({ info: saysJson('['.repeat(30_000)) }),
  '/info has a prototype': () => either({ info: saysJson('{"__proto__":{"nodeVersion":"development"}}') }),
  '/info has no end': () => either({ info: floods('[1,', { 'content-type': JSON_TYPE }) }),
  '/info is no UTF-8': () =>
    either({ info: says(200, Uint8Array.of(0x22, 0xff, 0x22), { 'content-type': JSON_TYPE }) }),
  '/info is the page of a captive portal': () => either({ info: says(200, '<html>Sign in</html>', PAGE) }),
  "/info is another service's JSON": () => either({ info: saysJson({ status: 'ok', version: '1.0' }) }),
}

/** Answers of a node that is starting, or of a gateway in front of it. */
const outages: Readonly<Record<string, () => Responder>> = {
  'everything is answered with 404': () => says(404),
  'everything is answered with 404 and a page': () => says(404, '<html>404</html>', PAGE),
  'everything is answered with 503': () => says(503, 'starting'),
  'everything is answered with 502': () => says(502, '<html>502</html>', PAGE),
  'everything is answered with 500': () => says(500),
  'everything is answered with 429': () => says(429),
  'every connection is closed': () => closes,
  'every connection is reset': () => resets,
  'every answer breaks off': () => breaksOff,
  'work is answered with 503': () => either({ work: says(503, 'Too many work requests') }),
  'work is answered with 500 and escape sequences': () => either({ work: says(500, ESCAPES) }),
  'work is answered with 404 while /health-check says 503': () => either({ work: says(404), health: says(503) }),
  'work is answered with 404 while /health-check is not answered': () => either({ work: says(404), health: closes }),
  'work is answered with 403 by a firewall': () => either({ work: says(403, '<html>Forbidden</html>', PAGE) }),
  'work is answered with 401': () => either({ work: says(401) }),
  'work is answered with 302': () => either({ work: says(302, '', { location: '/' }) }),
  'work is answered with 400': () => either({ work: says(400, 'bad') }),
  'work is answered with 200 and a page': () => either({ work: says(200, '<html></html>', PAGE) }),
  'work is answered by closing the connection': () => either({ work: closes }),
  'work is of chains that /info does not name': () =>
    either({ work: altersWork((fields, { number }) => ({ ...fields, chainId: 1_000 + number })) }),
}

const ambiguous: Readonly<Record<string, () => Responder>> = {
  'everything is answered with 301': () => says(301, '', { location: 'https://127.0.0.1:1/' }),
  'everything is answered with 401': () => says(401),
  'everything is answered with 403 and a page': () => says(403, '<html>Forbidden</html>', PAGE),
  'everything is answered with 200 and a page': () => says(200, '<html>Welcome</html>', PAGE),
  'everything is answered with 200 and nothing': () => says(200),
  'everything is answered in another protocol': () => speaks('SSH-2.0-OpenSSH_9.6\r\n'),
}

const REFUSED = 'NODE_REFUSED'
/** Nodes set this header on every response; gateways do not. */
const NODES_OWN = { 'x-chainweb-node-version': 'development' }

export const startLies: readonly StartLie[] = [
  { title: 'the node is down', property: waits, createResponder: null },
  ...liesOf(waits, outages),
  ...liesOf(endsOrGoesOn, infos),
  ...liesOf(endsOrGoesOn, ambiguous),
  {
    title: 'the node does not mine for this account',
    property: { kind: 'ends', code: REFUSED, text: /Unauthorized Miner/ },
    createResponder: () => either({ work: says(403, 'Unauthorized Miner: k:00', NODES_OWN) }),
  },
  {
    title: 'the node does not mine for an account with escape sequences in it',
    property: { kind: 'ends', code: REFUSED, text: /Unauthorized Miner/ },
    createResponder: () => either({ work: says(403, `Unauthorized Miner: ${ESCAPES}`, NODES_OWN) }),
  },
  {
    title: 'mining is disabled in a healthy node',
    property: { kind: 'ends', code: REFUSED, text: /mining/i },
    createResponder: () => either({ work: says(404, '', NODES_OWN) }),
  },
  {
    title: 'the node is of a network where nobody is paid by default',
    property: { kind: 'ends', code: 'BAD_OPTION', text: /public-key/ },
    createResponder: infoWith({ nodeVersion: 'mainnet01' }),
  },
  {
    title: 'the node is down, and --fail-fast is given',
    property: { kind: 'ends', code: 'NODE_UNREACHABLE', text: /refused/ },
    createResponder: null,
    args: ['--fail-fast'],
  },
  {
    title: 'everything is answered with 503, and --fail-fast is given',
    property: { kind: 'ends', code: 'NODE_', text: /503/ },
    createResponder: () => says(503),
    args: ['--fail-fast'],
  },
  {
    title: 'everything is answered with 404, and --fail-fast is given',
    property: { kind: 'ends', code: 'NODE_', text: /404/ },
    createResponder: () => says(404),
    args: ['--fail-fast'],
  },
]

/** The node's text ends up in log lines on a terminal, so the miner must escape it. */
export const textLies: readonly StartLie[] = [
  ...liesOf(endsOrGoesOn, {
    '/info has a network name with escape sequences': infoWith({ nodeVersion: ESCAPES }),
    '/info has a package version with escape sequences': infoWith({ nodePackageVersion: ESCAPES }),
    '/info has an API version with escape sequences': infoWith({ nodeApiVersion: ESCAPES }),
    '/info has a service date with escape sequences': infoWith({ nodeServiceDate: ESCAPES }),
  }),
  ...liesOf(waits, {
    'work is answered with 503 and escape sequences, for people': () => either({ work: says(503, ESCAPES) }),
    'everything is answered with 503 and escape sequences, for people': () => says(503, ESCAPES),
  }),
].map((lie) => ({ ...lie, args: ['--log', 'text'] }))

/** The miner runs into its timeouts; it may wait as long for a node that hangs. */
export const slowStartLies: readonly StartLie[] = liesOf(waits, {
  'nothing is answered': () => hangs,
  'work is never answered': () => either({ work: hangs }),
})

/** Lies about work. */
import type { WorkFields } from '../../../src/ground/chain/header.ts'
import { liesAt, prefixTitles } from '../lie.ts'
import type { Responder } from '../proxy.ts'
import {
  altersBody,
  altersHeaders,
  altersWork,
  answersTwice,
  dribbles,
  hangs,
  late,
  replays,
  says,
} from '../responders.ts'
import { statuses } from './statuses.ts'
import { oddities, transports } from './transports.ts'

/** Nothing that could pass for work gets through. */
const noWork = {
  ...prefixTitles('work is answered with', statuses),
  ...prefixTitles('work is', transports),
  'work is answered with 200 and nothing': () => says(200),
  'work is answered with 204': () => says(204),
  'work is answered with 206 and a part of it': () => says(206, new Uint8Array(100)),
  'work is answered with 200 and the page of a captive portal': () => says(200, '<html>Please sign in</html>'),
  'work is answered with JSON': () => says(200, '{"work":null}'),
  'work is answered with zeros': () => altersBody((body) => body.fill(0)),
  'work is answered with ones': () => altersBody((body) => body.fill(255)),
  'work lacks its last byte': () => altersBody((body) => body.subarray(0, -1)),
  'work has a byte too many': () => altersBody((body) => Buffer.concat([body, Uint8Array.of(0)])),
  'work ends after the target': () => altersBody((body) => body.subarray(0, 36)),
  'work comes twice in one body': () => altersBody((body) => Buffer.concat([body, body])),
  'work comes without chain and target in front': () => altersBody((body) => body.subarray(36)),
  'work has another chain in front': () =>
    altersBody((body) => changeCopy(body, (copy) => copy.writeUInt32LE(9999, 0))),
  'work has another target in front': () => altersBody((body) => changeCopy(body, (copy) => copy.fill(7, 4, 36))),
  'work says that it has 65 adjacent chains': () =>
    altersBody((body) => changeCopy(body, (copy) => copy.writeUInt16LE(65, 36 + 48))),
  'work says that it has 65535 adjacent chains': () =>
    altersBody((body) => changeCopy(body, (copy) => copy.writeUInt16LE(65535, 36 + 48))),
}

/** Well-formed work for a chain that /info does not list. */
const foreignWork = {
  'work is of chain 10, where there is none': () => altersWork((fields) => ({ ...fields, chainId: 10 })),
  'work is of a chain of its own each time': () =>
    altersWork((fields, { number }) => ({ ...fields, chainId: 1000 + number })),
  'work is of the last chain that there can be': () => altersWork((fields) => ({ ...fields, chainId: 0xffff_ffff })),
}

/** Well-formed work that cannot become a block. */
const badWork = {
  'work comes bit by bit': () => dribbles(1),
  'work is compressed, as its header says, but is not': () => altersHeaders({ 'content-encoding': 'gzip' }),
  'work has a target that no hash meets': () => altersWork((fields) => ({ ...fields, target: 0n })),
  'work has a target that takes for ever': () => altersWork((fields) => ({ ...fields, target: 2n ** 100n })),
  'work has a target that every hash meets': () => altersWork((fields) => ({ ...fields, target: 2n ** 256n - 1n })),
  'work has another target each time': () =>
    altersWork((fields, { number }) => ({ ...fields, target: fields.target >> BigInt(number % 20) })),
  'work has another parent each time': () => altersWork((fields, { number }) => ({ ...fields, parent: bytes(number) })),
  'work has another payload each time': () =>
    altersWork((fields, { number }) => ({ ...fields, payloadHash: bytes(number) })),
  'work has the greatest height': () => altersWork((fields) => ({ ...fields, height: 2n ** 64n - 1n })),
  'work has height 0': () => altersWork((fields) => ({ ...fields, height: 0n })),
  'work has the latest creation time': () => altersWork((fields) => ({ ...fields, creationTime: 2n ** 63n - 1n })),
  'work has the earliest creation time': () => altersWork((fields) => ({ ...fields, creationTime: -(2n ** 63n) })),
  'work is of another network': () => altersWork((fields) => ({ ...fields, version: 5 })),
  'work has the greatest weight': () => altersWork((fields) => ({ ...fields, weight: 2n ** 256n - 1n })),
  'work has an epoch in the far future': () => altersWork((fields) => ({ ...fields, epochStart: 2n ** 63n - 1n })),
  'work has feature flags': () => altersWork((fields) => ({ ...fields, featureFlags: 2n ** 64n - 1n })),
  'work has a nonce already': () => altersWork((fields) => ({ ...fields, nonce: 2n ** 64n - 1n })),
  'work has the hash of nothing in the place of every hash': () =>
    altersWork((fields) => ({ ...fields, parent: bytes(0), payloadHash: bytes(0) })),
  'work is always of the same chain': () => altersWork((fields) => ({ ...fields, chainId: 0 })),
  'work is replayed': () => replays(),
  'work has a byte flipped somewhere': () =>
    altersBody((body, { number, note }) =>
      changeCopy(body, (copy) => {
        const at = (31 * number) % copy.length
        copy[at] = ~copy[at]
        note(`byte ${at} of ${copy.toString('hex')} was flipped`)
      }),
    ),
  ...Object.fromEntries(
    [0, 1, 3, 4, 7, 9, 10, 11, 12, 16, 32, 63, 64].map((degree) => [
      `work has ${degree} adjacent chains`,
      () => altersWork((fields) => ({ ...fields, adjacents: adjacentsOf(fields, degree) })),
    ]),
  ),
}

const stillWork = {
  ...prefixTitles('work is', oddities),
  'work comes 300 ms late': () => late(300),
  'work comes twice on one connection': () => answersTwice(),
  'work is called text': () => altersHeaders({ 'content-type': 'text/plain' }),
  'work is called JSON': () => altersHeaders({ 'content-type': 'application/json' }),
}

function changeCopy(body: Buffer, change: (copy: Buffer) => unknown): Buffer {
  const copy = Buffer.from(body)
  change(copy)
  return copy
}

function bytes(number: number): Uint8Array {
  const hash = new Uint8Array(32)
  new DataView(hash.buffer).setUint32(0, number)
  return hash
}

function adjacentsOf({ adjacents }: WorkFields, degree: number): ReadonlyMap<number, Uint8Array> {
  const records = [...adjacents]
  const others = Array.from({ length: degree }, (_, i): [number, Uint8Array] => [100 + i, bytes(i)])
  return new Map([...records, ...others].slice(0, degree))
}

export const workLies = [
  ...liesAt(['work'], 'waits', noWork),
  ...liesAt(['work'], 'waits', foreignWork),
  ...liesAt(['work'], 'recovers', badWork),
  ...liesAt(['work'], 'keepsMining', stillWork),
  ...liesAt(['work'], 'recovers', { 'work hangs for good at each second request': () => everySecond(hangs) }),
]

function everySecond(respond: Responder): Responder {
  return (exchange) => (exchange.number % 2 === 0 ? respond(exchange) : null)
}

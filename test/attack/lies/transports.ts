/** Responses that are broken at the HTTP level. */
import type { Responder } from '../proxy.ts'
import {
  altersHeaders,
  BINARY,
  breaksOff,
  closes,
  dribbles,
  floods,
  hangs,
  resets,
  speaks,
  speaksHttp,
  streams,
} from '../responders.ts'

const CHUNKED = ['HTTP/1.1 200 OK', `content-type: ${BINARY}`, 'transfer-encoding: chunked']
const TLS_ALERT = Uint8Array.of(0x15, 3, 3, 0, 2, 2, 40)

/** Maps the defect to a responder that produces it. None of the requested data gets through. */
export const transports: Readonly<Record<string, () => Responder>> = {
  'never answered': () => hangs,
  'answered by closing the connection': () => closes,
  'answered by resetting the connection': () => resets,
  'answered with half a body': () => breaksOff,
  'answered byte by byte, a byte a second': () => dribbles(1000),
  'answered with a body without end': () => floods('x'.repeat(65_536), { 'content-type': BINARY }),
  'answered with a stream of events': () => streams('event:New Cut\n\n', 50),
  'answered with garbage instead of HTTP': () => speaks(Uint8Array.from({ length: 512 }, (_, i) => (i * 167) % 256)),
  'answered with the greeting of another protocol': () => speaks('SSH-2.0-OpenSSH_9.6\r\n', true),
  'answered with a TLS alert': () => speaks(TLS_ALERT),
  'answered with a head without end': () => speaks(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(50_000)}`, true),
  'answered with a header of 200 kB': () => speaksHttp(['HTTP/1.1 200 OK', `x-a: ${'b'.repeat(200_000)}`]),
  'answered with a header line that is none': () => speaksHttp(['HTTP/1.1 200 OK', 'no colon here', ': no name']),
  'answered with a status that is no number': () => speaksHttp(['HTTP/1.1 abc OK', 'content-length: 0']),
  'answered with two lengths': () => speaksHttp(['HTTP/1.1 200 OK', 'content-length: 3', 'content-length: 4'], 'abcd'),
  'answered with a negative length': () => speaksHttp(['HTTP/1.1 200 OK', 'content-length: -1'], 'abc'),
  'answered with a length of 10^18': () =>
    speaksHttp(['HTTP/1.1 200 OK', 'content-length: 1000000000000000000'], 'abc'),
  'answered with length and chunks': () => speaksHttp([...CHUNKED, 'content-length: 4'], '4\r\nabcd\r\n0\r\n\r\n'),
  'answered with chunks that are garbage': () => speaksHttp(CHUNKED, 'zzzz\r\nabc\r\n'),
  'answered with a chunk of 2^64 bytes': () => speaksHttp(CHUNKED, 'ffffffffffffffff\r\nabc'),
  'answered with chunks that never end': () => speaksHttp(CHUNKED, '3\r\nabc\r\n', true),
  'answered with an endless row of interim answers': () =>
    speaks(`${'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(2_000)}`, true),
  'answered by switching protocols': () =>
    speaksHttp(['HTTP/1.1 101 Switching Protocols', 'upgrade: websocket', 'connection: Upgrade'], '', true),
  'answered in HTTP/1.0 without a length, and left open': () => speaksHttp(['HTTP/1.0 200 OK'], 'abc', true),
  'answered in HTTP/9.9': () => speaksHttp(['HTTP/9.9 200 OK', 'content-length: 0']),
}

/** Strange responses that still contain the node's answer. */
export const oddities: Readonly<Record<string, () => Responder>> = {
  'answered without keeping the connection': () => altersHeaders({ connection: 'close' }),
  'answered with 60 cookies': () => altersHeaders({ 'set-cookie': Array.from({ length: 60 }, (_, i) => `a${i}=b`) }),
  'answered with a time stamp of the year 10^9': () => altersHeaders({ 'x-server-timestamp': '31556889864403199' }),
  'answered with a negative time stamp': () => altersHeaders({ 'x-server-timestamp': '-1' }),
  'answered with a time stamp that is no number': () => altersHeaders({ 'x-server-timestamp': 'NaN, Infinity' }),
  'answered with a product of another name': () => altersHeaders({ 'x-ledger-node-version': '1.0' }),
}

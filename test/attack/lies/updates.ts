/** Lies on update streams. */
import { liesAt, prefixTitles } from '../lie.ts'
import { closes, hangs, late, resets, says, speaks, speaksHttp, streams, streamsOnce } from '../responders.ts'

const SSE = ['HTTP/1.1 200 OK', 'content-type: text/event-stream']
const NEW_CUT = 'event:New Cut\n\n'
const noise = Uint8Array.from({ length: 4_096 }, (_, i) => (i * 167 + (i >> 3)) % 256)

const refused = prefixTitles('update streams are answered with', {
  '204': () => says(204),
  '301': () => says(301, '', { location: '/elsewhere' }),
  '400': () => says(400, 'there is no such chain'),
  '403': () => says(403),
  '404': () => says(404),
  '429': () => says(429, '', { 'retry-after': '86400' }),
  '500': () => says(500, '\x1b[2Jpwned\x07'),
  '503': () => says(503, 'No more update streams available currently. Retry later.'),
  '200 and a page': () => says(200, '<html></html>', { 'content-type': 'text/html' }),
  '200 and no type': () => speaksHttp(['HTTP/1.1 200 OK', 'content-length: 0']),
  '200 and JSON without end': () => streams('{"a":1}', 20, 'application/json'),
  garbage: () => speaks(noise),
})

const broken = prefixTitles('update streams', {
  'are never answered': () => hangs,
  'are closed unanswered': () => closes,
  'are reset unanswered': () => resets,
  'are answered a second late': () => late(1_000, streams(NEW_CUT, 0)),
  'end at once': () => streamsOnce(''),
  'end after one event': () => streamsOnce(NEW_CUT),
  'end in the middle of an event': () => streamsOnce('event:New C'),
  'are silent': () => streams('', 0),
  'consist of chunks that are garbage': () => speaksHttp([...SSE, 'transfer-encoding: chunked'], 'zz\r\nabc\r\n'),
  'end before their length': () => speaksHttp([...SSE, 'content-length: 1000'], NEW_CUT),
})

const strange = prefixTitles('update streams say', {
  noise: () => streams(noise, 20),
  'a line without end': () => streams('x'.repeat(16_384), 5),
  'an event without end': () => streams(`data:${'x'.repeat(16_000)}\n`, 5),
  'a megabyte of data in one event': () => streams(`event:New Cut\ndata:${'x'.repeat(1_000_000)}\n\n`, 100),
  'New Cut all the time': () => streams(NEW_CUT.repeat(50), 20),
  'Refreshed Block all the time': () => streams('event:Refreshed Block\n\n'.repeat(50), 20),
  'New Cut ten times a second': () => streams(NEW_CUT, 100),
  'an event of a new name each time': () =>
    streams(Array.from({ length: 500 }, (_, i) => `event:e${i}\ndata:\n\n`).join(''), 20),
  'an event with escape sequences': () => streams('event:\x1b[2J\x07\ndata:\x1b]0;pwned\x07\n\n', 50),
  'comments all the time': () => streams(':\n'.repeat(200), 20),
  'that they be asked for again after 10^12 ms': () => streamsOnce(`retry:1000000000000\n${NEW_CUT}`),
  'that they be asked for again at once': () => streamsOnce(`retry:0\n${NEW_CUT}`),
  'New Cut with CRLF': () => streams('event: New Cut\r\n\r\n', 100),
  'New Cut with CR': () => streams('event:New Cut\r\r', 100),
  'New Cut after a byte order mark': () => streams(`\ufeff${NEW_CUT}`, 100),
  'New Cut with data': () => streams('event:New Cut\ndata:{"a":1}\n\n', 100),
  'New Cut with an id of 100 kB': () => streams(`id:${'i'.repeat(100_000)}\n${NEW_CUT}`, 100),
  'New Cut with an id of null bytes': () => streams(`id:\x00\x00\n${NEW_CUT}`, 100),
  'new cut in small letters': () => streams('event:new cut\n\n', 100),
  'New Cut without the empty line': () => streams('event:New Cut\n', 20),
  'New Cut letter by letter': () => streams('event:New Cut\n\n', 100),
  'empty lines': () => streams('\n'.repeat(1_000), 20),
})

export const updatesLies = [
  ...liesAt(['updates'], 'keepsMining', refused),
  ...liesAt(['updates'], 'keepsMining', broken),
  ...liesAt(['updates'], 'keepsMining', strange),
]

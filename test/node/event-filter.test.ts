import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventFilter } from '../../src/client/node/event-filter.ts'

const encode = (text: string) => new TextEncoder().encode(text)

function filterChunks(chunks: Uint8Array[], options: ConstructorParameters<typeof EventFilter>[0] = {}): string {
  const filter = new EventFilter(options)
  return Buffer.concat(chunks.map((chunk) => filter.push(chunk))).toString()
}

/** A model of the filter: the same rules, applied to the whole text at once. */
function modelText(text: string): string {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)
  lines.pop()
  let fields: string[] = []
  let out = ''
  for (const line of lines) {
    if (line === '') {
      if (fields.includes('event') && !fields.includes('data')) out += 'data:\n'
      fields = []
    } else {
      fields.push(line.split(':')[0])
    }
    out += `${line}\n`
  }
  return out
}

function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end))
}

const sample =
  '\ufeffevent:New Cut\n\nevent: Refreshed Block\r\n\r\n:ping\r\revent:BlockHeader\ndata:{"é":"✓"}\n\ndata\n\nevent\n\n' +
  'event:x\ndata\n\nevents:y\n\ndatabase:z\nevent:w\r\nid:7\n\nevent:cut off\n'

test('the filter adds an empty data line to an event without data, and changes nothing else', () => {
  expect(filterChunks([encode('event:New Cut\n\n')])).toBe('event:New Cut\ndata:\n\n')
  expect(filterChunks([encode('event: New Cut\n\n')])).toBe('event: New Cut\ndata:\n\n')
  expect(filterChunks([encode('event:a\ndata:1\n\n')])).toBe('event:a\ndata:1\n\n')
  expect(filterChunks([encode('data:1\nevent:a\n\n')])).toBe('data:1\nevent:a\n\n')
  expect(filterChunks([encode('event:a\ndata\n\n')])).toBe('event:a\ndata\n\n')
  expect(filterChunks([encode('event:a\ndatabase:1\n\n')])).toBe('event:a\ndatabase:1\ndata:\n\n')
  expect(filterChunks([encode('events:a\n\n:event\n\nid:1\n\n')])).toBe('events:a\n\n:event\n\nid:1\n\n')
  expect(filterChunks([encode('event:a\n\n\n\nevent:b\n\n')])).toBe('event:a\ndata:\n\n\n\nevent:b\ndata:\n\n')
})

test('the filter turns CR and CRLF into LF, and drops a BOM at the start only', () => {
  expect(filterChunks([encode('event:a\r\n\r\nevent:b\r\revent:c\n\r\n')])).toBe(
    'event:a\ndata:\n\nevent:b\ndata:\n\nevent:c\ndata:\n\n',
  )
  expect(filterChunks([encode('\ufeffdata:1\n\ufeffdata:2\n')])).toBe('data:1\n\ufeffdata:2\n')
  expect(filterChunks([encode('\ufeff\r'), encode('\n'), encode('\n')])).toBe('\n\n')
})

test('the filter never passes on an unfinished line', () => {
  expect(filterChunks([encode('event:a\n\neve'), encode('nt:b')])).toBe('event:a\ndata:\n\n')
})

test('the filter starts with its own retry line, and drops those of the server', () => {
  const text = 'retry:60000\nevent:a\nretry:7\n\nretryx:1\nretry\n'
  expect(filterChunks([new Uint8Array(0), encode(text)], { retryMs: 0 })).toBe('retry:0\nevent:a\ndata:\n\nretryx:1\n')
  expect(filterChunks([encode(text)])).toBe('retry:60000\nevent:a\nretry:7\ndata:\n\nretryx:1\nretry\n')
  const filter = new EventFilter({ retryMs: 25 })
  expect(Buffer.from(filter.push(new Uint8Array(0))).toString()).toBe('retry:25\n')
})

test('the filter gives the same bytes for every split in two', () => {
  const bytes = encode(sample)
  for (let cut = 0; cut <= bytes.length; cut++) expect(filterChunks(split(bytes, [cut]))).toBe(modelText(sample))
})

test('the filter gives the same bytes for every split in three of a short sample', () => {
  const text = '\ufeffevent:a\r\n\r\nevent:b\r\r'
  const bytes = encode(text)
  for (let first = 0; first <= bytes.length; first++) {
    for (let second = first; second <= bytes.length; second++) {
      expect(filterChunks(split(bytes, [first, second]))).toBe(modelText(text))
    }
  }
})

test('the filter follows the HTML standard for any text in any split', () => {
  const piece = fc.constantFrom(
    'event',
    'data',
    ':',
    ' ',
    'New Cut',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    '\ufeff',
    'é',
    '{"a":1}',
  )
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))
  const cuts = fc.array(fc.nat(), { maxLength: 12 })
  fc.assert(
    fc.property(text, cuts, (stream, at) => {
      expect(filterChunks(split(encode(stream), at))).toBe(modelText(stream))
    }),
    { numRuns: 5_000 },
  )
})

test('the filter refuses a line longer than its limit with NODE_MISBEHAVED, in one chunk or many', () => {
  const options = { maxEventBytes: 100 }
  expect(filterChunks([encode(`data:${'x'.repeat(95)}\n`)], options)).toHaveLength(101)
  const error = expect.objectContaining({ name: 'NewcutError', code: 'NODE_MISBEHAVED' })
  expect(() => filterChunks([encode(`:${'x'.repeat(100)}`)], options)).toThrow(error)
  const drops = Array.from({ length: 101 }, () => encode('x'))
  expect(() => filterChunks(drops, options)).toThrow(error)
})

test('the filter limits the data lines of one event together, and starts over with the next event', () => {
  const options = { maxEventBytes: 100 }
  const line = `data:${'x'.repeat(35)}\n`
  expect(filterChunks([encode(`${line}${line}\n${line}${line}\n`)], options)).toHaveLength(4 * 41 + 2)
  expect(() => filterChunks([encode(line + line + line)], options)).toThrow('longer than 100 bytes')
  expect(
    filterChunks(
      Array.from({ length: 50 }, () => encode(': keep-alive\n')),
      options,
    ),
  ).toHaveLength(50 * 13)
})

test('the filter keeps no reference to the buffer of its caller', () => {
  const filter = new EventFilter()
  const buffer = encode('event')
  filter.push(buffer)
  buffer.fill(0)
  expect(Buffer.from(filter.push(encode(':a\n\n'))).toString()).toBe('event:a\ndata:\n\n')
})

/** The filter in front of the reader of messages: what it passes on, and what it drops. */
import { expect, it } from 'vitest'
import { MessageFilter } from '../../src/language/editor/protocol/framing.ts'

/** Filters these chunks, and collects the warnings. */
function filtered(chunks: readonly (string | Buffer)[]): {
  readonly out: string
  readonly warnings: readonly string[]
} {
  const warnings: string[] = []
  const filter = new MessageFilter((what) => warnings.push(what))
  const out: Buffer[] = []
  filter.on('data', (chunk: Buffer | string) => out.push(Buffer.from(chunk)))
  for (const chunk of chunks) filter.write(chunk)
  return { out: Buffer.concat(out).toString(), warnings }
}

const message = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

it('the framing passes whole messages on, wherever they are cut, and their length alone', () => {
  const [first, second] = [message('{"a":"ü"}'), message('[1]')]
  const bytes = Buffer.from(`Content-Type: x\r\ncontent-length:\t10 \r\n\r\n{"a":"ü"}${second}`)
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, i * size + size),
    )
    expect(filtered(chunks)).toEqual({ out: first + second, warnings: [] })
  }
})

it('the framing drops a header without a length, and continues after it', () => {
  const { out, warnings } = filtered([`hello\r\n\r\n${message('{}')}`])
  expect(out).toEqual(message('{}'))
  expect(warnings).toEqual(['a header without Content-Length: "hello"'])
})

it('the framing drops 8 KiB in which no header ends', () => {
  expect(filtered(['x'.repeat(8192), `\r\n\r\n${message('{}')}`]).warnings).toEqual([
    `a header without Content-Length: "${'x'.repeat(60)}"`,
  ])
  const { out, warnings } = filtered(['x'.repeat(8193), message('{}')])
  expect(out).toEqual(message('{}'))
  expect(warnings).toEqual(['a header of more than 8 KiB'])
})

it('the framing drops the header of a message of more than 100 MB', () => {
  const { out, warnings } = filtered(['Content-Length: 100000001\r\n\r\n', message('{}')])
  expect(out).toEqual(message('{}'))
  expect(warnings).toEqual(['a message of 100000001 bytes'])
  expect(filtered(['Content-Length: 100000000\r\n\r\n{']).warnings).toEqual([])
})

/** Which clients get a compressed text. */
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { CompressedText } from '../../src/ground/base/http-answer.ts'

const TEXT = 'a page of many words '.repeat(100)

it.each(['gzip', 'deflate, GZIP;q=0.5, br', '*', 'br, *;q=0.1', 'gzip ; q=0.001'])(
  'a client with Accept-Encoding: %s gets the text compressed',
  (accepted) => {
    const { headers, body } = new CompressedText(TEXT).bodyFor(accepted)
    expect(headers).toEqual({ vary: 'accept-encoding', 'content-encoding': 'gzip' })
    expect(gunzipSync(body).toString()).toBe(TEXT)
    expect(body.length).toBeLessThan(TEXT.length / 10)
  },
)

it.each([undefined, '', 'identity', 'br, deflate', 'gzip;q=0', 'gzip; q=0.000, *', '*;q=0', 'x-gzip'])(
  'a client with Accept-Encoding: %s gets the text as it is',
  (accepted) => {
    const { headers, body } = new CompressedText(TEXT).bodyFor(accepted)
    expect(headers).toEqual({ vary: 'accept-encoding' })
    expect(body.toString()).toBe(TEXT)
  },
)

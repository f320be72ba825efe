/** The dialect on recorded sessions with two pools (test/vectors/stratum.json), and by its rules. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeHex, encodeHex } from '../../src/ground/base/bytes.ts'
import { withNonce } from '../../src/ground/chain/header.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { workFromBytes } from '../../src/ground/chain/work.ts'
import { LineSplitter } from '../../src/mining/stratum/lines.ts'
import {
  failureLine,
  failures,
  listParams,
  type Request,
  readMessage,
  requestLine,
  resultLine,
} from '../../src/mining/stratum/messages.ts'
import { composeNonce, nonce1Text, nonce2Text, readNonce1 } from '../../src/mining/stratum/nonces.ts'
import { readTarget, targetOfShares, targetText } from '../../src/mining/stratum/targets.ts'

interface Recorded {
  readonly raw: string
  readonly msg: { readonly id: unknown; readonly method?: string; readonly result?: unknown }
  readonly decoded?: {
    readonly target_be_hex?: string
    readonly difficulty?: string
    readonly chain?: number
    readonly height?: number
  }
}
const file = new URL('../vectors/stratum.json', import.meta.url)
const { sessions } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly sessions: readonly { readonly pool: string; readonly messages: readonly Recorded[] }[]
}

describe.each(sessions)('the recorded session of $pool', ({ messages }) => {
  it('the recorded session is read, message by message', () => {
    for (const { raw, msg } of messages) {
      const message = readMessage(raw)
      expect(message.id).toBe(msg.id)
      if (message.kind === 'request') expect(message.method).toBe(msg.method)
      else expect(message).toEqual({ kind: 'response', id: msg.id, result: msg.result, error: null })
    }
  })

  it('the recorded session has nonces, targets and work with their recorded meaning', () => {
    const kinds = new Set<string>()
    for (const { raw, decoded } of messages) {
      const message = readMessage(raw)
      if (message.kind === 'response' && Array.isArray(message.result)) {
        const [, nonce1, bytes] = message.result
        const fixed = readNonce1(nonce1, bytes)
        expect(fixed).toEqual({ bits: 16, value: Number.parseInt(nonce1, 16) })
        expect(nonce1Text(fixed)).toBe(nonce1)
        kinds.add('subscribed')
      }
      if (message.kind !== 'request' || decoded === undefined) continue
      kinds.add(message.method)
      if (message.method === 'mining.set_target') {
        const target = readTarget(String(message.params[0]))
        expect(targetText(target)).toBe(decoded.target_be_hex)
        expect(MAX_TARGET / target).toBe(BigInt(decoded.difficulty ?? ''))
      }
      if (message.method === 'mining.notify') {
        const { fields, bytes } = workFromBytes(decodeHex(String((message as Request).params[1])))
        expect(bytes.length).toBe(286)
        expect(fields.chainId).toEqual(decoded.chain)
        expect(Number(fields.height)).toEqual(decoded.height)
        expect(fields.nonce).toBe(0n)
      }
    }
    expect([...kinds].sort()).toEqual(['mining.notify', 'mining.set_target', 'subscribed'])
  })
})

describe('a line', () => {
  it.each<[string, RegExp]>([
    ['', /not JSON/],
    ['{"id":1', /not JSON/],
    ['7', /not an object/],
    ['{"id":{},"method":"x"}', /id .*neither a number/],
    ['{"id":1e999,"method":"x"}', /id .*neither a number/],
    ['{"id":1,"method":7}', /method .*not a text/],
    [`{"id":1,"method":"${'x'.repeat(65)}"}`, /method .*at most 64/],
  ])('a line that is not a message is refused: %s', (line, complaint) => {
    expect(() => readMessage(line)).toThrow(complaint)
  })

  it.each<[string, { code: number; message: string }]>([
    ['{"id":7,"result":false,"error":[21,"Job 5 not found",null]}', { code: 21, message: 'Job 5 not found' }],
    ['{"id":7,"result":null,"error":{"code":24,"message":"Unauthorized"}}', { code: 24, message: 'Unauthorized' }],
    ['{"id":7,"result":null,"error":"go away"}', { code: 0, message: 'go away' }],
    ['{"id":7,"error":[]}', { code: 0, message: 'no reason given' }],
    ['[-32600,"Invalid Request","x"]', { code: -32600, message: 'Invalid Request' }],
    ['{"id":7,"error":[20,"\\u001b[31mred\\u001b[0m",null]}', { code: 20, message: '[31mred [0m' }],
  ])('a line with a refusal in any of the usual forms is read: %s', (line, error) => {
    expect(readMessage(line)).toMatchObject({ kind: 'response', error })
  })

  it.each<[string, object]>([
    ['{"id":7,"result":true,"error":null,"method":null}', { kind: 'response', id: 7, result: true, error: null }],
    ['{"id":7,"method":"x","params":[1],"result":null,"error":null}', { kind: 'request', id: 7, params: [1] }],
    ['{"id":7,"method":"x","params":{"a":1}}', { kind: 'request', id: 7, params: [], unlisted: { a: 1 } }],
    ['{"id":null,"method":"x","params":"text"}', { kind: 'request', id: null, params: [], unlisted: 'text' }],
    ['{"id":7,"method":"x","params":null}', { kind: 'request', id: 7, params: [] }],
    ['{"id":7,"result":true,"error":[]}', { kind: 'response', result: true, error: null }],
    ['{"id":7,"result":true,"error":false}', { kind: 'response', result: true, error: null }],
    ['{"id":7,"result":false,"error":[]}', { kind: 'response', result: false, error: { code: 0 } }],
    ['{"id":7,"result":true,"error":[21,"late",null]}', { kind: 'response', result: true, error: { code: 21 } }],
  ])('a line in another form is read by its meaning: %s', (line, message) => {
    expect(readMessage(line)).toMatchObject(message)
  })

  it('a line without a list of parameters is refused only if the method needs one', () => {
    expect(() => listParams(readMessage('{"id":1,"method":"x","params":{}}') as Request)).toThrow(/params .*not a list/)
    expect(listParams(readMessage('{"id":1,"method":"x","params":[2]}') as Request)).toEqual([2])
    expect(listParams(readMessage('{"id":1,"method":"x"}') as Request)).toEqual([])
  })

  it.each(['12345678901234567890', '9007199254740993', '-98765432109876543210', '"12345678901234567890"'])(
    'a line is answered with all digits of its id: %s',
    (id) => {
      const { id: read } = readMessage(`{"id":${id},"method":"mining.submit","params":[]}`)
      expect(resultLine(read, true)).toBe(`{"id":${id},"result":true,"error":null}\n`)
      expect(resultLine(read, [null, 'a'])).toBe(`{"id":${id},"result":[null,"a"],"error":null}\n`)
      expect(failureLine(read, 'stale')).toBe(`{"id":${id},"result":false,"error":[21,"the job is over",null]}\n`)
      expect(requestLine(read, 'x', [1n])).toBe(`{"id":${id},"method":"x","params":[1]}\n`)
    },
  )

  it('a line has an id of a bounded length', () => {
    expect(() => readMessage(`{"id":${'9'.repeat(65)},"method":"x"}`)).toThrow(/id .*neither/)
  })

  it.each([1, 0, -0, -7, 2 ** 53 - 1, 1.5, 1e300, 'a"b', null])(
    'a line that submits a share is JSON with the id %j',
    (id) => {
      const text = JSON.stringify({ id, result: true, error: null })
      expect(resultLine(id, true)).toBe(`${text}\n`)
    },
  )

  it('a line survives being written and read', () => {
    expect(readMessage(requestLine(3, 'mining.submit', ['u', 'j', '00']))).toEqual({
      kind: 'request',
      id: 3,
      method: 'mining.submit',
      params: ['u', 'j', '00'],
    })
    expect(readMessage(resultLine('a', true))).toEqual({ kind: 'response', id: 'a', result: true, error: null })
    expect(readMessage(failureLine(9, 'stale'))).toEqual({
      kind: 'response',
      id: 9,
      result: false,
      error: failures.stale,
    })
  })
})

describe('the splitter', () => {
  it('the splitter gives the same lines however the bytes are cut', () => {
    const lines = fc.array(fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.replace(/[\n\r]/g, '')))
    fc.assert(
      fc.property(lines, fc.array(fc.nat(40)), (texts, cuts) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''))
        const splitter = new LineSplitter(1000)
        const found: string[] = []
        for (let from = 0, i = 0; from < bytes.length; i++) {
          const to = from + 1 + (cuts[i % Math.max(1, cuts.length)] ?? 5)
          found.push(...(splitter.push(bytes.subarray(from, to)) ?? []))
          from = to
        }
        expect(found).toEqual(texts.map((text) => Buffer.from(text).toString()).filter((text) => text.trim() !== ''))
      }),
    )
  })

  it('the splitter ends at a line that is too long, with and without its end', () => {
    expect(new LineSplitter(10).push(Buffer.from('12345678901\n'))).toBeNull()
    const slow = new LineSplitter(10)
    expect(slow.push(Buffer.from('1234567890'))).toEqual([])
    expect(slow.push(Buffer.from('1'))).toBeNull()
    expect(new LineSplitter(10).push(Buffer.from('1234567890\nab\nc'))).toEqual(['1234567890', 'ab'])
  })
})

describe('a nonce', () => {
  it('a nonce has nonce1 in its lowest bytes, which are the first on the wire', () => {
    const fixed = readNonce1('09e8', 6)
    const nonce = composeNonce('0123456789ab', fixed)
    expect(nonce).toBe(0x0123456789ab09e8n)
    const work = decodeHex(String((readMessage(sessions[0].messages.at(-1)?.raw ?? '') as Request).params[1]))
    expect(encodeHex(withNonce(work, nonce)).slice(-16)).toBe('e809ab8967452301')
    expect(nonce2Text(nonce, fixed)).toBe('0123456789ab')
  })

  it('a nonce is read in memory order if a rig writes it so', () => {
    expect(composeNonce('ab8967452301', readNonce1('09e8', 6), 'memory')).toBe(0x0123456789ab09e8n)
  })

  it('a nonce may come without leading zeros', () => {
    expect(readNonce1('a', 6)).toEqual({ bits: 16, value: 10 })
    expect(composeNonce('1', readNonce1('a', 6))).toBe(0x1000an)
  })

  it('a nonce is split into its parts and joined again', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 64n - 1n), fc.constantFrom(0, 8, 16, 24, 32), (nonce, bits) => {
        const fixed = { bits, value: Number(BigInt.asUintN(bits, nonce)) }
        expect(composeNonce(nonce2Text(nonce, fixed), fixed)).toBe(nonce)
        expect(readNonce1(nonce1Text(fixed), 8 - bits / 8)).toEqual(fixed)
      }),
    )
  })

  it.each<[() => unknown, RegExp]>([
    [() => readNonce1('0102030405', 3), /nonce2 size .*expected 4 to 8/],
    [() => readNonce1('09e8', 7), /nonce1 .*more than 1 bytes/],
    [() => readNonce1('100', 7), /nonce1 .*more than 1 bytes/],
    [() => readNonce1('xy', 6), /nonce1 .*expected hex digits/],
    [() => readNonce1('', 6), /nonce1 .*expected hex digits/],
    [() => composeNonce('0123456789abc', readNonce1('1', 6)), /nonce2 .*13 digits, at most 12/],
    [() => composeNonce('-1', readNonce1('1', 6)), /nonce2 .*expected hex digits/],
    [() => composeNonce('', readNonce1('1', 6)), /nonce2 .*expected hex digits/],
  ])('a nonce is refused if it is invalid (%#)', (read, complaint) => {
    expect(read).toThrow(complaint)
  })
})

describe('a target', () => {
  it('a target of a difficulty is met by one in so many hashes', () => {
    expect(targetOfShares(1)).toBe(MAX_TARGET)
    expect(targetOfShares(0.25)).toBe(MAX_TARGET)
    expect(targetOfShares(1024)).toBe(MAX_TARGET / 1024n)
    expect(targetOfShares(1.5)).toBe((MAX_TARGET * 2n) / 3n)
    // Larger ones than 2^200 are cut.
    expect(targetOfShares(Number.MAX_VALUE)).toBe(MAX_TARGET >> 200n)
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('a target has no difficulty of %d', (difficulty) => {
    expect(() => targetOfShares(difficulty)).toThrow(/expected a positive number/)
  })

  it.each(['', 'xyz', '0'.repeat(65)])('a target that is not a number is refused: %s', (text) => {
    expect(() => readTarget(text)).toThrow(/expected at most 64 hex digits/)
  })
})

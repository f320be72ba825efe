import fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeError, NewcutError } from '../../src/ground/base/errors.ts'
import { MAX_LINE_CHARACTERS, printable } from '../../src/ground/base/printable.ts'

it('printable replaces control characters, direction marks and line ends with a space', () => {
  for (const [evil, shown] of [
    ['\x1b[31mred\x1b[0m', '[31mred [0m'],
    ['\x1b]0;title\x07text', ']0;title text'],
    ['a\u202Eb\u2066c\u200Fd', 'a b c d'],
    ['one\r\ntwo\u2028three\x85four', 'one two three four'],
    ['zero\u200Bwidth\uFEFF', 'zero width'],
    ['\x9b2J', '2J'],
    ['lone \uD800 surrogate', 'lone surrogate'],
    [new TextDecoder().decode(Uint8Array.of(0x61, 0xff, 0xfe, 0x62)), 'a b'],
    ['Grüße, 日本 – €', 'Grüße, 日本 – €'],
  ] as const) {
    expect(printable(evil)).toBe(shown)
  }
})

it('printable cuts any text to its length, with only printable characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 1, max: 50 }), (text, most) => {
      const line = printable(text, most)
      expect(line.length).toBeLessThanOrEqual(most)
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\n\r]/u)
    }),
  )
  expect(printable('x'.repeat(10_000_000))).toBe(`${'x'.repeat(MAX_LINE_CHARACTERS - 1)}…`)
  expect(printable('😀'.repeat(9), 6)).toBe('😀😀…')
  expect(printable(`a${' '.repeat(99)}b`, 20)).toBe('a…')
  expect(printable(`a${' '.repeat(99)}`, 20)).toBe('a')
})

it('describeError gives printable text, whoever wrote the causes', () => {
  const cause = new Error('certificate of \x1b[2Jevil\u202E.example')
  expect(describeError(new NewcutError('NODE_UNREACHABLE', 'no answer', { cause }))).toBe(
    'no answer: certificate of [2Jevil .example',
  )
  expect(describeError('\x07bell')).toBe('bell')
})

it('describeError names at most four causes, even of an error that is its own cause', () => {
  const chain = [6, 5, 4, 3, 2, 1].reduce<Error | undefined>(
    (cause, n) => new Error(`error ${n}`, { cause }),
    undefined,
  )
  expect(describeError(chain)).toBe('error 1: error 2: error 3: error 4: error 5')
  const own = new Error('around and around')
  own.cause = own
  expect(describeError(own)).toBe('around and around')
})

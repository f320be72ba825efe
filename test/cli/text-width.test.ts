/** Widths of text on a terminal, and its line breaks. */
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { textWidth, wrapWords } from '../../src/faces/cli/text-width.ts'

describe('textWidth', () => {
  it('every character of Unicode has the width that another library gives it', () => {
    const differing: string[] = []
    for (let code = 0x20; code <= 0x3ffff; code++) {
      const character = String.fromCodePoint(code)
      if (/[\p{Cn}\p{Co}\p{Cs}]/u.test(character)) continue
      if (textWidth(character) !== stringWidth(character)) differing.push(code.toString(16))
    }
    expect(differing).toEqual([])
  })

  it.each([
    '👩‍👩‍👧‍👦',
    '🇩🇪',
    'e\u0301',
    '❤️',
    '❤',
    '1️⃣',
    'नि',
    '한글',
    'ｶﾞ',
    '👍🏽',
    '採掘 é…│',
    '\u001B[31mred\u001B[0m',
    'a\tb',
  ])('clusters of characters have the width of what is drawn: %j', (text) =>
    expect(textWidth(text)).toBe(stringWidth(text)),
  )

  it('links have the width of their text', () => {
    expect(textWidth('\u001B]8;;http://127.0.0.1/\u0007here\u001B]8;;\u0007')).toBe(4)
  })
})

describe('wrapWords', () => {
  it('lines break at spaces, and keep line breaks and gaps of the text', () => {
    expect(wrapWords('one two  three\nfour', 9)).toEqual(['one two', 'three', 'four'])
    expect(wrapWords('one  two', 9)).toEqual(['one  two'])
    expect(wrapWords('  one two ', 9)).toEqual(['one two'])
    expect(wrapWords('', 9)).toEqual([''])
  })

  it('a word that is wider than a line breaks between its characters', () => {
    expect(wrapWords('to abcdefghij', 4)).toEqual(['to', 'abcd', 'efgh', 'ij'])
    expect(wrapWords('採掘採掘採', 5)).toEqual(['採掘', '採掘', '採'])
    expect(wrapWords('採掘', 1)).toEqual(['採', '掘'])
    expect(wrapWords('a👩‍👩‍👧‍👦b', 2)).toEqual(['a', '👩‍👩‍👧‍👦', 'b'])
  })
})

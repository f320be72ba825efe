import { describe, expect, it } from 'vitest'
import { isSealedLine, murmur3, sealJournalLine, unsealJournalLine } from '../../src/mining/journal/line-seal.ts'

const viewOf = (text: string) => new DataView(Uint8Array.from(Buffer.from(text)).buffer)

describe('MurmurHash3', () => {
  // Published results of MurmurHash3_x86_32 with seed 0.
  it.each([
    ['', 0],
    ['hello', 0x248bfa47],
    ['hello, world', 0x149bbb7f],
    ['The quick brown fox jumps over the lazy dog', 0x2e4ff723],
  ])('the MurmurHash3 of %j is the published one', (text, hash) => {
    expect(murmur3(viewOf(text), 0, Buffer.byteLength(text))).toBe(hash)
  })

  it('MurmurHash3 does not depend on the place of the bytes', () => {
    for (let before = 0; before < 9; before++) {
      expect(murmur3(viewOf(`${'x'.repeat(before)}hello, worldxxx`), before, 12)).toBe(0x149bbb7f)
    }
  })
})

describe('seal of a line', () => {
  const text = '{"step":"credited","name":"münchen"}'
  const bytes = Buffer.from(sealJournalLine(text)).subarray(0, -1)

  it('the seal of a line is its last property', () => {
    expect(bytes.toString()).toMatch(/^\{"step":"credited","name":"münchen","seal":"2\.[0-9a-f]{8}"\}$/)
    expect(unsealJournalLine(bytes)).toBe(text)
  })

  it('the seal is missing in a line of an earlier newcut', () => {
    expect(unsealJournalLine(Buffer.from(text))).toBe(text)
    expect(isSealedLine(text, viewOf(text), 0, text.length)).toBe(false)
  })

  it('the seal reveals each flipped bit of the text, in both readers', () => {
    const latin = (each: Buffer) => `before\n${each.toString('latin1')}\n`
    const fits = (each: Buffer) => isSealedLine(latin(each), viewOfBytes(latin(each)), 7, 7 + each.length)
    expect(fits(bytes)).toBe(true)
    const content = Buffer.byteLength(text) - 1
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3] ^= 1 << (bit & 7)
      expect(fits(flipped), `bit ${bit}`).toBe(false)
      // A flip in the name of the seal hides the seal, and the content is as it was.
      if (bit < 8 * content) expect(unsealJournalLine(flipped), `bit ${bit}`).toBe(null)
      else expect([null, flipped.toString()]).toContain(unsealJournalLine(flipped))
    }
  })
})

const viewOfBytes = (latin: string) => new DataView(Uint8Array.from(Buffer.from(latin, 'latin1')).buffer)

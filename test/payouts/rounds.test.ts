import fc from 'fast-check'
import { expect, it } from 'vitest'
import { comparePositions, isInside, type Position, roundUpTo, type Span } from '../../src/pool/payouts/rounds.ts'

const at = (timeMs: number, id = 'a'): Position => ({ timeMs, id })

it('the first round has all shares up to the block', () => {
  expect(roundUpTo(at(5), [])).toEqual([{ after: null, upTo: at(5) }])
})

it('the next round starts after the one before', () => {
  const used = [{ after: null, upTo: at(5) }]
  expect(roundUpTo(at(9), used)).toEqual([{ after: at(5), upTo: at(9) }])
})

it('an unused round flows into the next', () => {
  const [first, third] = [
    { after: null, upTo: at(5) },
    { after: at(9), upTo: at(12) },
  ]
  expect(roundUpTo(at(15), [third, first])).toEqual([
    { after: at(5), upTo: at(9) },
    { after: at(12), upTo: at(15) },
  ])
})

it('shares with the same time are distinguished by their ids', () => {
  const used = [{ after: null, upTo: at(5, 'b') }]
  expect(roundUpTo(at(5, 'd'), used)).toEqual([{ after: at(5, 'b'), upTo: at(5, 'd') }])
  expect(comparePositions(at(5, 'b'), at(5, 'd'))).toBeLessThan(0)
})

it('a block before the used ones has what they left', () => {
  expect(roundUpTo(at(3), [{ after: null, upTo: at(5) }])).toEqual([])
  expect(roundUpTo(at(3), [{ after: at(4), upTo: at(5) }])).toEqual([{ after: null, upTo: at(3) }])
})

it('every share up to a block is in its round or in a used one, and in no two', () => {
  const position = fc.record({ timeMs: fc.integer({ min: 0, max: 20 }), id: fc.constantFrom('a', 'b') })
  fc.assert(
    fc.property(fc.array(position, { maxLength: 8 }), position, (ends, end) => {
      const used: Span[] = []
      for (const each of ends) used.push(...roundUpTo(each, used))
      const round = roundUpTo(end, used)
      for (let timeMs = 0; timeMs <= 20; timeMs++) {
        for (const id of ['a', 'b']) {
          const share = at(timeMs, id)
          const times = [...used, ...round].filter((span) => isInside(share, [span])).length
          expect(times).toBeLessThanOrEqual(1)
          if (comparePositions(share, end) <= 0) expect(times).toBe(1)
        }
      }
    }),
  )
})

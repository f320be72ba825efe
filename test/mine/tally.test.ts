import { expect, it } from 'vitest'
import { Tally } from '../../src/mining/mine/tally.ts'

it('the tally keeps the verdicts of 10,000 devices, and forgets the oldest devices first', () => {
  const tally = new Tally()
  const accepted = (device: number) => tally.sum([`rig${device}`]).solutions.accepted
  for (let device = 0; device < 10_000; device++) tally.count(`rig${device}`, 'accepted', 1)
  expect(accepted(0)).toBe(1)
  expect(accepted(9_999)).toBe(1)
  tally.count('rig0', 'accepted', 1)
  tally.error('rig10000')
  expect(accepted(0)).toBe(0)
  expect(accepted(1)).toBe(1)
  expect(accepted(9_999)).toBe(1)
  expect(tally.sum(['rig1', 'rig2', 'rig10000'])).toMatchObject({ solutions: { accepted: 2 }, hardwareErrors: 1 })
  // The count is zero, and stays there.
  tally.count('rig0', 'accepted', -1)
  expect(accepted(0)).toBe(0)
})

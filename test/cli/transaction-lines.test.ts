/** The console line for each step of a transaction. */
import { describe, expect, it } from 'vitest'
import { linesOf } from '../../src/faces/cli/lines.ts'
import { actionText, waitingLine } from '../../src/faces/cli/transaction-lines.ts'
import { PRINT_ADVICE } from '../../src/ground/base/errors.ts'
import {
  block,
  dropped,
  failed,
  included,
  KEY,
  pending,
  refused,
  skipped,
  transferAction,
  undone,
} from './devnet-events.ts'

const K = `k:${'368820f80c324bbc7c2b0610688a7da43e39f91d118732671cd9c7500ff43cca'}`
const code = '(free.market.buy "an item of many words" 10.0 "and its buyer, who has a long name")'

describe('a line', () => {
  it.each([
    ['pending', pending(), 'chain 0  tDFY8bHNx4…  (+ 1 2)'],
    ['ok', included(), 'chain 0  height 12     tDFY8bHNx4…  (+ 1 2)  gas 480  3'],
    [
      'ok',
      included({ action: transferAction, result: '"Write succeeded"', isAgain: true }),
      'chain 0  height 12     tDFY8bHNx4…  sender00 -> sender01 10.5  included again  gas 480  "Write succeeded"',
    ],
    [
      'ok',
      included({ events: ['free.m.A', 'coin.TRANSFER', 'free.m.B', 'free.m.C', 'free.m.D', 'free.m.E'] }),
      'chain 0  height 12     tDFY8bHNx4…  (+ 1 2)  gas 480  3  events free.m.A, free.m.B, free.m.C and 2 more',
    ],
    [
      'ok',
      included({ result: 'x'.repeat(200) }),
      `chain 0  height 12     tDFY8bHNx4…  (+ 1 2)  gas 480  ${'x'.repeat(79)}…`,
    ],
    [
      'failed',
      failed({ result: 'Cannot find module: free.print', place: '<toplevel>:3' }),
      `chain 0  height 12     tDFY8bHNx4…  (+ 1 2)  gas 600  Cannot find module: free.print (line 4); ${PRINT_ADVICE}`,
    ],
    ['failed', failed(), 'chain 0  height 12     tDFY8bHNx4…  (+ 1 2)  gas 600  no way'],
    [
      'failed',
      failed({ result: 'x'.repeat(500), place: 'coin.debit.{rE7DU8jlQL9x_MPYuniZJf5ICBTAEHAIFQCB4blofP4}:12' }),
      `chain 0  height 12     tDFY8bHNx4…  (+ 1 2)  gas 600  ${'x'.repeat(500)} (in coin.debit, line 13)`,
    ],
    [
      'failed',
      failed({ place: '<toplevel>:3' }),
      'chain 0  height 12     tDFY8bHNx4…  (+ 1 2)  gas 600  no way (line 4)',
    ],
    [
      'failed',
      failed({ place: 'coin.debit:0' }),
      'chain 0  height 12     tDFY8bHNx4…  (+ 1 2)  gas 600  no way (in coin.debit)',
    ],
    ['undone', undone(), 'chain 0  height 12     tDFY8bHNx4…  (+ 1 2)  by a reorganisation, pending again'],
    [
      'undone',
      undone({ by: 'revert', wentTo: 'nowhere', reason: 'why' }),
      'chain 0  height 12     tDFY8bHNx4…  (+ 1 2)  by a revert, not pending again: why',
    ],
    ['dropped', dropped(), 'chain 0  tDFY8bHNx4…  (+ 1 2)  Transaction time-to-live is expired'],
    ['refused', refused(), 'chain 0  tDFY8bHNx4…  (+ 1 2)  Invalid hash'],
    ['refused', refused({ action: null, sender: null }), 'chain 0  tDFY8bHNx4…  Invalid hash'],
    [
      'refused',
      refused({ chain: null, requestKey: null, action: null, sender: null, httpStatus: 413 }),
      'HTTP 413  Invalid hash',
    ],
    ['...', skipped(3), '3 more transaction steps not shown: too many at once'],
    ['block', block({ by: 'miner', transactions: 1 }), 'chain 3  height 7      difficulty 100k  1 transaction'],
    ['block', block({ by: 'miner', transactions: 2 }), 'chain 3  height 7      difficulty 100k  2 transactions'],
    ['block', block({ by: 'miner' }), 'chain 3  height 7      difficulty 100k'],
  ])('the console writes a line of the label %s with the parts of its event (case %#)', (label, event, text) => {
    expect(linesOf(event).map((line) => [line.label, line.text])).toEqual([[label, text]])
  })

  it('a line of a success is green, and of a failure red', () => {
    const styles = [included(), failed(), refused(), dropped(), undone()].map((event) => linesOf(event)[0].style)
    expect(styles).toEqual(['green', 'red', 'red', 'red', 'yellow'])
  })

  it('a line is omitted for a transaction that the other branch has too; the next line reports it', () => {
    expect(linesOf(undone({ wentTo: 'chain' }))).toEqual([])
  })

  it('a line shows how long a transaction waits, and the source of blocks', () => {
    expect(waitingLine(pending(), 3, 'blocks by miners')).toEqual({
      label: 'pending',
      style: 'yellow',
      text: 'chain 0  tDFY8bHNx4…  (+ 1 2)  in no block for 3 s; blocks by miners',
    })
  })
})

describe('what a command does', () => {
  it.each([
    [transferAction, 'sender00 -> sender01 10.5'],
    [{ ...transferAction, sender: K, receiver: 'r'.repeat(21) }, 'k:368820f8…3cca -> rrrrrrrrrr…rrrr 10.5'],
    [{ ...transferAction, token: 'free.token', toChain: '7' }, 'sender00 -> sender01 10.5 free.token to chain 7'],
    [{ kind: 'code', code }, `${code.slice(0, 71)}…`],
    [{ kind: 'continuation', pactId: KEY, step: 1, isRollback: false }, 'continuation of tDFY8bHNx4… step 1'],
    [{ kind: 'continuation', pactId: KEY, step: 0, isRollback: true }, 'rollback of tDFY8bHNx4… step 0'],
  ] as const)('the console writes what a command does (case %#)', (action, text) => {
    expect(actionText(action)).toBe(text)
  })
})

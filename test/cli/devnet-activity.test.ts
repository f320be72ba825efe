/** When the console of a development network shows blocks and transactions, on virtual time. */
import { describe, expect, it } from 'vitest'
import { DevnetActivity, type DevnetNow } from '../../src/faces/cli/devnet-activity.ts'
import { devnetStatusText } from '../../src/faces/cli/devnet-status.ts'
import type { ConsoleLine } from '../../src/faces/cli/line.ts'
import type { TransactionNotice } from '../../src/faces/cli/notices.ts'
import { block, dropped, each, failed, included, pending, refused, undone } from './devnet-events.ts'

const NOW: DevnetNow = { lowest: 12, highest: 13, pending: 0, blocksBy: 'blocks by miners' }

function started(isLive = false) {
  let nowMs = 1_000_000
  const activity = new DevnetActivity({ isLive, nowMs: () => nowMs })
  const textOf = ({ label, text }: ConsoleLine) => `${label} | ${text}`
  return {
    activity,
    wait: (ms: number) => {
      nowMs += ms
    },
    show: (...events: readonly TransactionNotice[]) => events.flatMap((each) => activity.transaction(each)).map(textOf),
    tick: (now = NOW) => activity.tick(now).map(textOf),
  }
}

describe('blocks', () => {
  it('blocks of miners have lines, and so does the first of automatic mining', () => {
    const { activity } = started()
    const shown = [block({ by: 'miner' }), block(), block(), block({ by: 'miner', transactions: 3 })]
    expect(shown.map((each) => activity.block(each))).toEqual([true, true, false, true])
  })

  it('blocks of automatic mining without transactions are summed up once a minute', () => {
    const { activity, wait, tick } = started()
    for (let i = 0; i < 10; i++) activity.block(block({ transactions: i % 5 === 4 ? 1 : 0 }))
    wait(59_999)
    expect(tick()).toEqual([])
    wait(1)
    expect(tick()).toEqual(['empty | 7 blocks in 1 m  heights 12 to 13'])
    wait(60_000)
    expect(tick()).toEqual([])
    activity.block(block())
    wait(60_000)
    expect(tick({ ...NOW, highest: 12 })).toEqual(['empty | 1 block in 1 m  height 12'])
  })

  it('blocks of automatic mining have no lines if the status line shows the heights', () => {
    const { activity, wait, tick } = started(true)
    for (let i = 0; i < 10; i++) activity.block(block())
    wait(600_000)
    expect(tick()).toEqual([])
    expect(activity.counts).toMatchObject({ blocks: 10, emptyBlocks: 10 })
  })

  it.each([false, true])(
    'ordered blocks are reported within a second, several in one line; status line: %s',
    (isLive) => {
      const { activity, tick } = started(isLive)
      expect(activity.block(block({ by: 'order' }))).toBe(false)
      expect(tick()).toEqual(['block | chain 3  height 7'])
      expect(tick()).toEqual([])
      for (let i = 0; i < 500; i++) activity.block(block({ by: 'order', transactions: i === 3 ? 1 : 0 }))
      expect(tick()).toEqual(['empty | 499 blocks by order  heights 12 to 13'])
      expect(tick()).toEqual([])
    },
  )
})

describe('transactions', () => {
  it('transactions of a block have lines for the first 20 and for up to 20 failures; one more line counts the others', () => {
    const { show } = started()
    const few = show(...each(20, included))
    expect(few).toHaveLength(20)
    const lines = show(
      ...each(512, (place) => (place.index >= 100 && place.index < 150 ? failed(place) : included(place))),
    )
    expect(lines.filter((line) => line.startsWith('ok | '))).toHaveLength(20)
    expect(lines.filter((line) => line.startsWith('failed | '))).toHaveLength(20)
    expect(lines.at(-1)).toBe('... | and 472 more transactions of chain 0 at height 12, 30 of them failed')
    expect(lines).toHaveLength(41)
    // Each block resets the count.
    expect(show(...each(21, included)).at(-1)).toBe('... | and 1 more transaction of chain 0 at height 12')
  })

  it('transactions of a refused request have lines for the first 20; one more line counts the others', () => {
    const { show } = started()
    const lines = show(...each(50, refused))
    expect(lines).toHaveLength(21)
    expect(lines.at(-1)).toBe('... | and 30 more transactions of this request')
  })

  it('transactions of many blocks have 100 lines at once and then 10 a second; the others are counted', () => {
    const { show, wait, tick } = started()
    const lines = Array.from({ length: 100 }, () => show(...each(512, included))).flat()
    expect(lines.length).toBe(100)
    expect(tick()).toEqual([])
    wait(100)
    const told = lines.filter((line) => line.startsWith('ok')).length
    const counted = lines.map((line) => Number(/and (\d+) more/.exec(line)?.[1] ?? 0)).reduce((a, b) => a + b)
    expect(tick()).toEqual([`... | and ${51_200 - told - counted} more transactions`])
    wait(60_000)
    expect(tick()).toEqual([])
    expect(show(...each(1, included))).toHaveLength(1)
  })

  it('dropped transactions have the same limit of lines as those of blocks', () => {
    const { show, wait, tick } = started()
    const lines = show(...Array.from({ length: 150 }, () => dropped()))
    expect(lines).toHaveLength(100)
    wait(1000)
    expect(tick()).toEqual(['... | and 50 more transactions, 50 of them failed'])
  })

  it('transactions that return after a reorg have lines; those of the other branch have none', () => {
    const { show } = started()
    expect(show(undone(), undone({ wentTo: 'chain' }))).toHaveLength(1)
    expect(show(...each(100, (place) => undone({ ...place, wentTo: 'chain' })))).toEqual([])
  })
})

describe('a pending transaction', () => {
  it('a pending transaction has a line if no block has it for 3 s', () => {
    const { show, wait, tick } = started()
    expect(show(pending())).toEqual([])
    wait(2999)
    expect(tick()).toEqual([])
    wait(1)
    expect(tick()).toEqual(['pending | chain 0  tDFY8bHNx4…  (+ 1 2)  in no block for 3 s; blocks by miners'])
    wait(60_000)
    expect(tick()).toEqual([])
  })

  it('a pending transaction has no line if a block has it by then, or if it was dropped', () => {
    const { show, wait, tick } = started()
    show(pending({ requestKey: 'a' }), pending({ requestKey: 'b' }), pending({ requestKey: 'c' }))
    show(included({ requestKey: 'a' }), dropped({ requestKey: 'c' }))
    wait(3000)
    expect(tick()).toEqual(['pending | chain 0  b  (+ 1 2)  in no block for 3 s; blocks by miners'])
  })

  it('no more than five pending transactions have lines at once; one more line counts the others', () => {
    const { show, wait, tick } = started()
    for (let i = 0; i < 2000; i++) show(pending({ requestKey: `${i}` }))
    wait(3000)
    const lines = tick({ ...NOW, pending: 2000 })
    expect(lines).toHaveLength(6)
    expect(lines.at(-1)).toBe('... | 2000 transactions are pending in all')
    expect(tick()).toEqual([])
  })

  it('the console watches at most a thousand pending transactions', () => {
    const { show, wait, tick } = started()
    const all = Array.from({ length: 1001 }, (_, i) => ({ requestKey: `${i}` }))
    for (const each of all) show(pending(each))
    for (const each of all.slice(0, 1000)) show(included(each))
    wait(3000)
    expect(tick().filter((line) => line.startsWith('pending'))).toEqual([])
  })
})

describe('the status line', () => {
  const plain = (_style: string, text: string) => text

  it('the status line shows heights, pending transactions, and the results of transactions and blocks', () => {
    const { activity, show } = started(true)
    const status = (now = NOW, columns = 200) => devnetStatusText(now, activity.counts, columns, plain)
    expect(status()).toBe('heights 12 to 13  0 blocks, 0 without transactions  blocks by miners')
    activity.block(block())
    activity.block(block({ transactions: 2 }))
    show(included(), failed(), refused(), refused(), dropped(), pending())
    const all = '1 pending  1 ok  2 failed  2 refused  2 blocks, 1 without transactions  blocks by miners'
    expect(status({ ...NOW, highest: 12, pending: 1 })).toBe(`height 12  ${all}`)
    for (let columns = 0; columns < 100; columns++) expect(status(NOW, columns).length).toBeLessThanOrEqual(columns)
    expect(status({ ...NOW, pending: 1 }, 30)).toBe('heights 12 to 13  1 pending')
  })
})

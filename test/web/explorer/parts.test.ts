/** Parts of the page without a browser: coins, positions in the braid, blocks and reorgs, JSON. */
import { describe, expect, it } from 'vitest'
import { argumentOf } from '../../../src/faces/web/explorer/browser/argument.ts'
import {
  blockAt,
  heightsIn,
  layoutFor,
  pastOf,
  xOf,
  yOf,
} from '../../../src/faces/web/explorer/browser/braid-layout.ts'
import { indent } from '../../../src/faces/web/explorer/browser/json-text.ts'
import { literalOf } from '../../../src/faces/web/explorer/browser/literal.ts'
import { type ListPage, PagedList } from '../../../src/faces/web/explorer/browser/paged-list.ts'
import { NodeState } from '../../../src/faces/web/explorer/browser/state.ts'
import { briefValue } from '../../../src/faces/web/explorer/browser/value-text.ts'
import { tidyCoins } from '../../../src/faces/web/kit/numbers.ts'
import type { BlockView, NodeView } from '../../../src/ground/schema/view.ts'
import { until } from '../../wait.ts'

describe('coins', () => {
  it.each([
    ['1234567.890100', '1,234,567.8901'],
    ['100.000', '100'],
    ['1000', '1,000'],
    ['0.5', '0.5'],
  ])('the explorer shows %s coins as %s', (text, shown) => expect(tidyCoins(text)).toBe(shown))
})

describe('blocks', () => {
  const block = (hash: string, parent: string, height: number, adjacents: readonly string[] = []): BlockView => {
    return { hash, parent, height, chain: 0, adjacents, createdMs: 0 } as unknown as BlockView
  }
  const view = (head: string, height: number, blocks: readonly BlockView[], requests: readonly object[] = []) => {
    return { heads: [{ chain: 0, hash: head, height }], branches: [], blocks, requests } as unknown as NodeView
  }

  it('blocks that leave their chain are a reorg, with their number and lowest height', () => {
    const state = new NodeState(view('c', 3, [block('a', '', 1), block('b', 'a', 2), block('c', 'b', 3)]))
    const rival = [block('x', 'a', 2), block('y', 'x', 3), block('z', 'y', 4)]
    expect(state.apply(view('z', 4, rival), 7)).toEqual([{ chain: 0, lost: 2, height: 2 }])
    const onChain = [...state.blocks.values()].filter((each) => each.isOnChain).map(({ hash }) => hash)
    expect(onChain).toEqual(['a', 'x', 'y', 'z'])
    // Once shown, they are not news.
    expect(state.apply(view('z', 4, []), 8)).toEqual([])
    expect(state.blocks.get('a')?.bornMs).toEqual(Number.NEGATIVE_INFINITY)
    expect(state.blocks.get('z')?.bornMs).toBe(7)
  })

  it('the explorer forgets blocks 160 heights below the highest', () => {
    const state = new NodeState(view('a', 1, [block('a', '', 1), block('b', '', 2)]))
    state.apply(view('z', 162, [block('z', 'b', 162)]), 0)
    expect([...state.blocks.keys()]).toEqual(['b', 'z'])
  })

  it('the explorer keeps the newest 200 requests', () => {
    const requests = Array.from({ length: 150 }, (_, id) => ({ id }))
    const state = new NodeState(view('a', 1, [], requests))
    state.apply({ requests: requests.map(({ id }) => ({ id: id + 150 })) } as unknown as Partial<NodeView>, 0)
    expect(state.requests.length).toBe(200)
    expect(state.requests[0].id).toBe(100)
    expect(state.requests.at(-1)?.id).toBe(299)
  })

  it('the ancestors of a block come in steps, each at its shortest distance', () => {
    const known = [
      block('root', '', 0),
      block('a', 'root', 1),
      block('b', 'a', 2),
      block('n', 'a', 2),
      block('c', 'b', 3, ['n', 'a', 'gone']),
    ]
    const blocks = new Map(known.map((each) => [each.hash, { ...each, isOnChain: true, bornMs: 0 }]))
    const of = (steps: number) => Object.fromEntries(pastOf(blocks.get('c') as never, blocks, steps))
    expect(of(0)).toEqual({ c: 0 })
    expect(of(1)).toEqual({ c: 0, b: 1, n: 1, a: 1 })
    expect(of(9)).toEqual({ c: 0, b: 1, n: 1, a: 1, root: 2 })
  })

  it('the braid finds blocks near a point, orphans below their lane', () => {
    const layout = layoutFor(1000, 2)
    const at = (hash: string, chain: number, isOnChain = true) => {
      return { ...block(hash, '', 5), chain, isOnChain, bornMs: 0 }
    }
    const blocks = [at('a', 0), at('b', 1), at('o', 0, false)]
    const [x, y] = [xOf(layout, 5, 6), yOf(layout, 0)]
    const found = (dy: number) => blockAt(layout, blocks, [x, y + dy], 6)?.hash
    expect(found(0)).toBe('a')
    expect(found(layout.lane * 0.42)).toBe('o')
    expect(found(layout.lane)).toBe('b')
    expect(found(-40)).toBeUndefined()
    expect(xOf(layout, heightsIn(layout) - 1, heightsIn(layout) - 1) - x).toBe(layout.step)
  })
})

describe('a list in pages', () => {
  type Page = ListPage<string>
  const page = (items: string, next: string | null): Page => ({ items: [...items], next, searchedTo: 0 })

  function listed(pages: Record<string, () => Page | Promise<Page>>) {
    let shown = ''
    const told: string[] = []
    let click = () => undefined as unknown
    const addEventListener = (_: string, run: () => void) => {
      click = run
    }
    const more = { hidden: false, disabled: false, addEventListener }
    const list = new PagedList<string>({
      read: async (next) => await pages[next ?? 'first'](),
      keyOf: (item) => item,
      show: (items) => {
        shown = items.join('')
      },
      more,
      onStatus: (text) => void told.push(text),
      noun: 'event',
    })
    return { list, told, more, shown: () => shown, click: () => click() }
  }

  it('a list in pages reads empty pages by itself', async () => {
    const { list, shown, told, more } = listed({
      first: () => page('', 'a'),
      a: () => page('', 'b'),
      b: () => page('xy', null),
    })
    await list.restart()
    expect(shown()).toBe('xy')
    expect(told.at(-1)).toBe('2 events: these are all')
    expect(more.hidden).toBe(true)
  })

  it('a list in pages is renewed before the items that were read, each once, or as a whole after a gap', async () => {
    let first = page('dc', '2')
    const { list, shown, click } = listed({ first: () => first, 2: () => page('ba', null) })
    await list.restart()
    click()
    await until(() => shown() === 'dcba')
    first = page('ed', '3')
    await list.renew()
    expect(shown()).toBe('edcba')
    first = page('hg', '4')
    await list.renew()
    expect(shown()).toBe('hg')
  })

  it('a list in pages drops pages of an earlier list', async () => {
    let release: (late: Page) => void = () => undefined
    let isLate = false
    const { list, shown } = listed({
      first: () =>
        isLate
          ? new Promise<Page>((resolve) => {
              release = resolve
            })
          : page('new', null),
    })
    await list.restart()
    isLate = true
    const late = list.renew()
    isLate = false
    await list.restart()
    release(page('old', null))
    await late
    expect(shown()).toBe('new')
  })
})

describe('values', () => {
  it.each([
    [{ cgName: 'coin.GOVERNANCE', cgArgs: [] }, 'capability coin.GOVERNANCE'],
    [{ fun: 'm.f', args: [] }, 'guard m.f'],
    [{ pred: 'keys-any', keys: ['k'.repeat(20), 'l'.repeat(21)] }, `keys-any [${'k'.repeat(20)} llllllll…]`],
    [{ timep: '2027-01-31T12:00:00.5Z' }, '(time "2027-01-31T12:00:00.5Z")'],
    [{ int: 1, more: 2 }, '{"int": 1.0, "more": 2.0}'],
  ])('the explorer shows values: %j', (json, text) => expect(briefValue(json)).toBe(text))

  it('the explorer indents JSON, keeps numbers exact, and leaves empty brackets empty', () => {
    expect(indent('{"a":[],"b":{ },"c":[1.50,"x{y"]}')).toBe(
      '{\n  "a": [],\n  "b": {},\n  "c": [\n    1.50,\n    "x{y"\n  ]\n}',
    )
    expect(indent('{"a"')).toBe('{"a"')
  })

  it('the explorer shows strings with the escapes of the language', () => {
    expect(literalOf('["a\\nb" "\\t" "\\"\\\\"]').json).toEqual(['a\nb', '\t', '"\\'])
  })

  it('the explorer names each interface of a module value', () => {
    const { json } = argumentOf('module{a, ns.b}', 'free.m')
    expect((json as { refSpec: unknown }).refSpec).toEqual([
      { namespace: null, name: 'a' },
      { namespace: 'ns', name: 'b' },
    ])
  })
})

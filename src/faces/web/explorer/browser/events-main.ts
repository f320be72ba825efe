/** Events of transactions by name, newest first. New blocks add theirs. */
import type { EventPage, ListedEvent } from '#ground/schema/lookup.ts'
import { element, fill, write } from '../../kit/dom.ts'
import { askNode } from './ask.ts'
import { listedEventRow } from './event-row.ts'
import { fillChains, oneAtATime, openFrame, troubleIn } from './frame.ts'
import { PagedList } from './paged-list.ts'
import { notePlace, pagePlace } from './place.ts'
import { pathWith } from './query.ts'

/** Time between the last letter of a filter and the request. */
const TYPING_MS = 250

const name = () => element<HTMLInputElement>('name').value.trim()
const chain = () => element<HTMLSelectElement>('chain').value
const isFollowing = () => element<HTMLInputElement>('follow').checked

const list = new PagedList<ListedEvent>({
  read: async (next) => {
    const { events, ...page } = await askNode<EventPage>(
      pathWith('/devnet/events', { name: name(), chain: chain(), next }),
    )
    return { items: events, ...page }
  },
  keyOf: ({ block, index }) => `${block} ${index}`,
  show: (items) => fill(element('events'), items, ({ block, index }) => `${block} ${index}`, listedEventRow),
  more: element<HTMLButtonElement>('more'),
  onStatus: (text) => write('told', text),
  noun: 'event',
})

const showTrouble = troubleIn('told')
const restart = () => {
  notePlace({ name: name(), chain: chain() })
  void list.restart().catch(showTrouble)
}
const renew = oneAtATime(() => list.renew().catch(showTrouble))

let typing: ReturnType<typeof setTimeout> | undefined
element('name').addEventListener('input', () => {
  clearTimeout(typing)
  typing = setTimeout(restart, TYPING_MS)
})
element('filter-form').addEventListener('submit', (event) => {
  event.preventDefault()
  clearTimeout(typing)
  restart()
})
element('chain').addEventListener('change', restart)
element('follow').addEventListener('change', () => {
  if (isFollowing()) renew()
})
addEventListener('hashchange', () => {
  fromPlace()
  restart()
})

function fromPlace(): void {
  const place = pagePlace()
  element<HTMLInputElement>('name').value = place.get('name') ?? ''
  element<HTMLSelectElement>('chain').value = place.get('chain') ?? ''
}

openFrame({
  onStart: ({ view }) => {
    fillChains('chain', view.heads.length, '', 'all chains')
    fromPlace()
    restart()
  },
  onChange: (_state, { heads, blocks }, isReorganised) => {
    if (!isFollowing()) return
    // Lost blocks take their events with them, on older pages too.
    if (isReorganised) void list.restart().catch(showTrouble)
    else if (heads !== undefined || blocks !== undefined) renew()
  },
})

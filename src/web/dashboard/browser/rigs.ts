/** Rigs by whom they name, with their shares; nothing where no rigs are let in. */
import type { Snapshot } from '../state.ts'
import { element, Items, make, write } from './dom.ts'
import { difficultyText } from './numbers.ts'

type User = NonNullable<Snapshot['rigs']>['users'][number]

export class RigList {
  readonly #section = element('rigs')
  readonly #items = new Items(element('rig-users'), () => {
    const item = make('li')
    item.append(make('b'), make('span'), make('small'))
    return item
  })

  show(rigs: Snapshot['rigs']): void {
    this.#section.hidden = rigs === undefined
    if (rigs === undefined) return
    const { sessions, shares, users } = rigs
    write('rig-sessions', sessions.toLocaleString('en'))
    write('rig-shares', sharesText(shares))
    this.#items.show(
      users,
      ({ user }) => user,
      (item, { user, sessions, shares, hashes }) => {
        item.dataset.state = sessions > 0 ? 'active' : 'away'
        write(item.children[0], user)
        write(item.children[1], sessions === 1 ? '1 rig' : `${sessions.toLocaleString('en')} rigs`)
        write(item.children[2], `${sharesText(shares)} · ${difficultyText(hashes)}`)
      },
    )
  }
}

/** Those that count, and what was wrong with others. */
export function sharesText(shares: User['shares']): string {
  const parts = Object.entries(shares).filter(([verdict, count]) => verdict === 'accepted' || count > 0)
  return parts.map(([verdict, count]) => `${count.toLocaleString('en')} ${verdict}`).join(' · ')
}

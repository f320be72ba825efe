/** Shows rigs by user with their shares, or nothing without a stratum server. */
import { element, fill, make, write } from '../../kit/dom.ts'
import { difficultyText, groupDigits } from '../../kit/numbers.ts'
import type { Snapshot } from '../state.ts'
import { RigTableView } from './rig-table.ts'

type User = NonNullable<Snapshot['rigs']>['users'][number]

export class RigList {
  readonly #section = element('rigs')
  readonly #table = new RigTableView()

  show(rigs: Snapshot['rigs']): void {
    this.#section.hidden = rigs === undefined
    if (rigs === undefined) return
    this.#table.look()
    const { sessions, shares, users } = rigs
    write('rig-sessions', groupDigits(sessions))
    write('rig-shares', sharesText(shares))
    fill(
      element('rig-users'),
      users,
      ({ user }) => user,
      () => make('li', {}, make('b'), make('span'), make('small')),
      (item, { user, sessions, shares, hashes }) => {
        item.dataset.state = sessions > 0 ? 'active' : 'away'
        item.title = user
        write(item.children[0], user)
        write(item.children[1], sessions === 1 ? '1 rig' : `${groupDigits(sessions)} rigs`)
        write(item.children[2], `${sharesText(shares)} · ${difficultyText(hashes)}`)
      },
    )
  }
}

/** Accepted shares, and the reasons of the rejected ones. */
function sharesText(shares: User['shares']): string {
  const parts = Object.entries(shares).filter(([verdict, count]) => verdict === 'accepted' || count > 0)
  return parts.map(([verdict, count]) => `${groupDigits(count)} ${verdict}`).join(' · ')
}

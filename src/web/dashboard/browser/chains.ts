/** All chains as a table, for those who cannot see the braid, and for those who want the numbers. */
import type { ChainStatus } from '../../../source/source.ts'
import { stateText } from './braid.ts'
import { element, Items, make, write } from './dom.ts'
import { difficultyText, heightText } from './numbers.ts'

export class ChainTable {
  readonly #rows = new Items(element('chains'), (chain) => {
    const row = make('tr')
    row.append(make('th', chain, { scope: 'row' }), make('td'), make('td'), make('td'))
    return row
  })

  show(chains: readonly ChainStatus[], mined: number | null): void {
    this.#rows.show(
      chains,
      ({ chain }) => String(chain),
      (row, status) => {
        const { chain, height, difficulty } = status
        const isMined = chain === mined
        const texts = [heightText(height), difficultyText(difficulty), stateText(status, isMined)]
        for (const [i, text] of texts.entries()) write(row.children[i + 1], text)
        row.classList.toggle('mined', isMined)
      },
    )
  }
}

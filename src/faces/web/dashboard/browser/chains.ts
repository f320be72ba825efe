/** Shows all chains as a table, as an accessible alternative to the braid. */
import type { ChainStatus } from '#mining/source/source.ts'
import { element, fill, make, write } from '../../kit/dom.ts'
import { difficultyText, groupDigits } from '../../kit/numbers.ts'
import { stateText } from './braid.ts'

export class ChainTable {
  show(chains: readonly ChainStatus[], mined: number | null): void {
    fill(
      element('chains'),
      chains,
      ({ chain }) => String(chain),
      ({ chain }) => make('tr', {}, make('th', { scope: 'row' }, String(chain)), make('td'), make('td'), make('td')),
      (row, status) => {
        const { chain, height, difficulty } = status
        const isMined = chain === mined
        const texts = [groupDigits(height), difficultyText(difficulty), stateText(status, isMined)]
        for (const [i, text] of texts.entries()) write(row.children[i + 1], text)
        row.classList.toggle('mined', isMined)
      },
    )
  }
}

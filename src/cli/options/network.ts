/** Options of the embedded network, of `devnet` and of `mine`, which starts one when no node is given. */
import { graphNames } from '../../core/graph.ts'
import { duration, hashCount, oneOf, yesNo } from '../values.ts'
import { option } from './row.ts'

export const ofNetwork = { group: 'network', needs: ['embedded'] } as const

export const networkOptions = {
  graph: option(oneOf(graphNames), 'twenty', 'NAME', `chain graph: ${graphNames.join(', ')}`, ofNetwork),
  'block-delay': option(duration(1), 30_000, 'TIME', 'intended time between blocks of a chain', ofNetwork),
  difficulty: option(hashCount, 100_000n, 'HASHES', 'hashes that a block takes on average, at first', ofNetwork),
  pow: option(yesNo, true, null, 'accept any nonce, and keep the difficulty as it is', ofNetwork),
}

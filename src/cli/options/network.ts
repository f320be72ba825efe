/** Options of the embedded network: of `devnet`, and of `mine` without a node. */
import { graphNames } from '../../core/graph.ts'
import { duration, hashCount, oneOf, yesNo } from '../values.ts'
import { option } from './row.ts'

export const ofNetwork = { group: 'network', needs: ['embedded'] } as const

export const networkOptions = {
  graph: option(oneOf(graphNames), 'twenty', 'NAME', 'chain graph', {
    ...ofNetwork,
    more: `One of ${graphNames.join(', ')}.`,
  }),
  'block-delay': option(duration(1), 30_000, 'TIME', 'target block time of a chain', ofNetwork),
  difficulty: option(hashCount, 100_000n, 'HASHES', 'initial difficulty in hashes', {
    ...ofNetwork,
    more: 'A block takes this many hashes on average, until the difficulty adjusts.',
  }),
  pow: option(yesNo, true, null, 'accept any nonce', { ...ofNetwork, more: 'The difficulty then stays as it is.' }),
}

/** Options of the embedded network: of `devnet`, and of `mine` without a node. */
import { plainOptions } from '#ground/schema/devnet-options.ts'
import { duration, hashCount, oneOf, yesNo } from '../values.ts'
import { option } from './row.ts'

export const ofNetwork = { group: 'network', needs: ['embeddedNetwork'] } as const

const { graph, blockDelayMs, difficulty, pow } = plainOptions

export const networkOptions = {
  graph: option(oneOf(graph.values), graph.fallback, 'NAME', 'chain graph', {
    ...ofNetwork,
    more: `One of ${graph.values.join(', ')}.`,
  }),
  'block-delay': option(duration(1), blockDelayMs.fallback, 'TIME', 'target block time of a chain', ofNetwork),
  difficulty: option(hashCount, difficulty.fallback, 'HASHES', 'initial difficulty in hashes', {
    ...ofNetwork,
    more: 'A block takes this many hashes on average, until the difficulty adjusts.',
  }),
  pow: option(yesNo, pow.fallback, null, 'check the proof of work of each block', {
    ...ofNetwork,
    negatedHelp: 'accept any nonce',
    more: 'The difficulty then stays as it is.',
  }),
}

/** System contracts of every chain, read from the files beside their source code. */
import { readFileSync } from 'node:fs'

export interface SystemContract {
  readonly name: string
  readonly text: string
}

/** In loading order: each contract depends only on those before it. */
const NAMES = ['fungible-v1', 'fungible-xchain-v1', 'fungible-v2', 'coin', 'gas-payer-v1', 'ns']

/** Expression in the coin contract that lists the chain ids. */
const ALL_CHAINS = '(enumerate 0 19)'

/** Compiled code lies in dist/; the contracts stay in src/. */
const FOLDER = import.meta.url.endsWith('.ts') ? './' : '../../../../../src/language/contracts/system/'

/** Names and source texts, in loading order. */
export const systemContracts: readonly SystemContract[] = NAMES.map((name) => {
  return { name, text: readFileSync(new URL(`${FOLDER}${name}.pact`, import.meta.url), 'utf8') }
})

/** System contracts for a network with `chains` chains. Coins sent to a chain outside this range would be lost. */
export function systemContractsFor(chains: number): readonly SystemContract[] {
  return systemContracts.map(({ name, text }) => ({
    name,
    text: text.replace(ALL_CHAINS, `(enumerate 0 ${chains - 1})`),
  }))
}

/** Tables to create in the same transaction, after the contracts are loaded. */
export const systemTables: readonly string[] = ['coin.coin-table', 'coin.allocation-table', 'ns.registry']

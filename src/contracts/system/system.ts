/** The contracts that every chain begins with, from their files beside the compiled code. */
import { readFileSync } from 'node:fs'

export interface SystemContract {
  readonly name: string
  readonly text: string
}

/** Each one needs those before it only. */
const NAMES = ['fungible-v2', 'fungible-xchain-v1', 'coin', 'gas-payer-v1', 'ns']

/** How the coin contract says which chains there are. */
const ALL_CHAINS = '(enumerate 0 19)'

/** Compiled files lie in dist/, away from the contracts. */
const FOLDER = import.meta.url.endsWith('.ts') ? './' : '../../../../src/contracts/system/'

/** Names and texts, in the order of loading. */
export const systemContracts: readonly SystemContract[] = NAMES.map((name) => {
  return { name, text: readFileSync(new URL(`${FOLDER}${name}.pact`, import.meta.url), 'utf8') }
})

/** The same for a network of so many chains: coins move between those, and would be lost on the way to others. */
export function systemContractsFor(chains: number): readonly SystemContract[] {
  return systemContracts.map(({ name, text }) => ({
    name,
    text: text.replace(ALL_CHAINS, `(enumerate 0 ${chains - 1})`),
  }))
}

/** Tables to create once the contracts are loaded, in the same transaction. */
export const systemTables: readonly string[] = ['coin.coin-table', 'coin.allocation-table', 'ns.registry']

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

/** A contract whose file is read when its text is needed. */
class SystemFile implements SystemContract {
  readonly name: string
  #text: string | null = null

  constructor(name: string) {
    this.name = name
  }

  get text(): string {
    this.#text ??= readFileSync(new URL(`${FOLDER}${this.name}.pact`, import.meta.url), 'utf8')
    return this.#text
  }
}

/** Names and source texts, in loading order. */
export const systemContracts: readonly SystemContract[] = NAMES.map((name) => new SystemFile(name))

/** Path of a system contract in a project that has newcut as a dependency. */
const IN_PROJECT = /[/\\]node_modules[/\\]newcut[/\\]src[/\\]language[/\\]contracts[/\\]system[/\\]([\w-]+)\.pact$/

/** The system contract at this path of a project. The project may not have installed newcut yet. */
export function systemTextAt(path: string): string | null {
  const [, name = null] = IN_PROJECT.exec(path) ?? []
  return systemContracts.find((each) => each.name === name)?.text ?? null
}

/** System contracts for a network with `chains` chains. Coins sent to a chain outside this range would be lost. */
export function systemContractsFor(chains: number): readonly SystemContract[] {
  return systemContracts.map(({ name, text }) => ({
    name,
    text: text.replace(ALL_CHAINS, `(enumerate 0 ${chains - 1})`),
  }))
}

/** Tables to create in the same transaction, after the contracts are loaded. */
export const systemTables: readonly string[] = ['coin.coin-table', 'coin.allocation-table', 'ns.registry']

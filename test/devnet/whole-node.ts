/** An embedded node with access to its chains and ledger, which users of the package cannot reach. */
import { machineFor } from '../../src/compose/devnet-machine.ts'
import { type EmbeddedNode as Handle, type HostMachine, startNode } from '../../src/devnet/devnet.ts'
import type { Ledger } from '../../src/devnet/ledger/ledger.ts'
import type { DevnetOptions } from '../../src/devnet/options/devnet-options.ts'
import type { Chains } from '../../src/devnet/rules/chains.ts'

export type { DevnetOptions } from '../../src/devnet/options/devnet-options.ts'

export type Devnet = Handle & { readonly chains: Chains; readonly ledger: Ledger }

/** Starts a node like the package's startDevnet. `machine` replaces services of the host machine. */
export async function startDevnet(options: DevnetOptions = {}, machine: Partial<HostMachine> = {}): Promise<Devnet> {
  const { devnet, chains, ledger } = await startNode(options, { ...machineFor(options), ...machine })
  return Object.assign(devnet, { chains, ledger })
}

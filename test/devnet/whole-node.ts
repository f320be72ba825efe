/** An embedded node with its chains at hand, as users of the package do not have them. */
import { machineFor } from '../../src/compose/devnet-machine.ts'
import { type Devnet as Handle, startNode } from '../../src/devnet/devnet.ts'
import type { DevnetOptions } from '../../src/devnet/options.ts'
import type { Chains } from '../../src/devnet/rules/chains.ts'

export type { DevnetOptions } from '../../src/devnet/options.ts'

export type Devnet = Handle & { readonly chains: Chains }

/** As startDevnet of the package. */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const { devnet, chains } = await startNode(options, machineFor(options))
  return Object.assign(devnet, { chains })
}

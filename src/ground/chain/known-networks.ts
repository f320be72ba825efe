/** The networks that newcut has files for (networks/*.yaml). Nodes may belong to any other. */
import type { NetworkDefinition } from './network.ts'
import { definitions, networkForms } from './network-data.ts'
import type { NetworkForm } from './network-form.ts'

/**
 * @param own networks of the user's files, which come first
 * @returns undefined for a name without a file
 */
export function knownNetwork(name: string, own: readonly NetworkDefinition[] = []): NetworkDefinition | undefined {
  const isNamed = (network: NetworkDefinition) => network.name === name
  return own.find(isNamed) ?? definitions.find(isNamed)
}

/**
 * The file of a network.
 * @param own files of the user, which come first
 * @returns undefined for a name without a file
 */
export function networkForm(name: string, own: readonly NetworkForm[] = []): NetworkForm | undefined {
  return [...own, ...Object.values(networkForms)].find((form) => form.name === name)
}

/** Names of all networks with a file. @param own files of the user, which come first */
export function networkNames(own: readonly NetworkForm[] = []): string[] {
  return [...own, ...Object.values(networkForms)].map(({ name }) => name)
}

/**
 * Names of the networks with a file that have this version code.
 * @param own networks of the user's files, which come first
 */
export function namesOfCode(code: number, own: readonly NetworkDefinition[] = []): string[] {
  return [...new Set([...own, ...definitions].flatMap((network) => (network.code === code ? [network.name] : [])))]
}

/** Name and version code of the network at hand. Several networks may have the same code. */
export type NetworkCode = Pick<NetworkDefinition, 'name'> & { readonly code: number }

/** Name of the network at hand if it has this code. Other codes are `0x` and eight hex digits. */
export function versionText(code: number, network?: NetworkCode): string {
  return network?.code === code ? network.name : `0x${code.toString(16).padStart(8, '0')}`
}

/**
 * Version code of a text as `versionText` writes it, and of the names with a file.
 * @returns undefined for other names
 */
export function versionCode(name: string, network?: NetworkCode): number | undefined {
  if (network?.name === name) return network.code
  return /^0x[0-9a-f]{8}$/.test(name) ? Number(name) : knownNetwork(name)?.code
}

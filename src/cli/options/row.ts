/** The row of an option: all that is known of it, and the names that are derived from its own. */
import type { ValueKind } from '../values.ts'

/** Headings of the help. */
export const optionGroups = {
  work: 'Where work comes from',
  fleet: 'Fleet',
  tls: 'Certificates of nodes and pools',
  account: 'Account and votes',
  search: 'Search',
  gpu: 'GPUs',
  rigs: 'Rigs that speak stratum',
  time: 'When to mine',
  blocks: 'Blocks that were found',
  network: 'Development network',
  server: 'Server',
  data: 'Data on disk',
  making: 'Who makes blocks',
  http: 'Monitoring over HTTP',
  log: 'Log',
} as const
export type OptionGroup = keyof typeof optionGroups

/**
 * A condition under which an option has an effect. commands/needs.ts decides when it holds, and says why it does not.
 */
export type OptionNeed =
  | 'noFleet'
  | 'noPool'
  | 'pool'
  | 'blocks'
  | 'journal'
  | 'peer'
  | 'several'
  | 'severalNodes'
  | 'tls'
  | 'anyCertificate'
  | 'embedded'
  | 'fleetRig'
  | 'natsTls'
  | 'own'
  | 'threads'
  | 'gpu'
  | 'namedGpu'
  | 'external'
  | 'rigServer'
  | 'page'
  | 'http'
  | 'idle'
  | 'mining'
  | 'requestLog'
  | 'waiting'
  | 'paying'

/** Facts of an option, besides its value and its help. */
export interface OptionFacts {
  readonly group?: OptionGroup
  /** All of them; undefined: it always has an effect. */
  readonly needs?: readonly OptionNeed[]
  /** Takes effect while a miner mines; the others do at the next start. */
  readonly isLive?: true
  /**
   * Whoever has the token may change it over HTTP. What runs programs, names files and addresses, and says who is paid
   * and who may change anything, is for those who have the machine.
   */
  readonly isForHttp?: true
  /** Nothing repeats its value to others, as it may hold secrets among other things. */
  readonly isHidden?: true
  /** Another name for it in the environment and in a file. */
  readonly plural?: string
  /** Not to be set in the environment or a file, since it belongs to one call of the command. */
  readonly isFlagOnly?: true
  /** Nothing repeats its value: no error, and not `newcut config`. */
  readonly isSecret?: true
}

export interface OptionSpec<T> extends OptionFacts {
  readonly kind: ValueKind<T>
  /** undefined: unset unless the user sets it. */
  readonly fallback: T | undefined
  /** Placeholder in the help; null for a switch. */
  readonly placeholder: string | null
  readonly help: string
}

/** Facts of options that a miner takes while it mines, from its file and over HTTP. */
export const changeable = { isLive: true, isForHttp: true } as const

export function option<T>(
  kind: ValueKind<T>,
  fallback: T,
  placeholder: string | null,
  help: string,
  facts: OptionFacts = {},
) {
  return { kind, fallback, placeholder, help, ...facts } satisfies OptionSpec<T>
}

export function unset<T>(
  kind: ValueKind<T>,
  placeholder: string,
  help: string,
  facts: OptionFacts = {},
): OptionSpec<T> & { fallback: undefined } {
  return { kind, fallback: undefined, placeholder, help, ...facts }
}

/** An option that belongs to one call of its command. */
export function flagOnly<T extends { readonly help: string }>(spec: T): T & { readonly isFlagOnly: true } {
  return { ...spec, isFlagOnly: true }
}

type ValueOf<Spec> = Spec extends { readonly kind: ValueKind<infer T>; readonly fallback: infer F }
  ? undefined extends F
    ? T | undefined
    : T
  : never

/** Option name -> value. */
export type Values<Table> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> }

/** The name of a switch that is on unless it is given: `no-pow` for `pow`; null for other options. */
export function negatedName(name: string, { placeholder, fallback }: OptionSpec<unknown>): string | null {
  return placeholder === null && fallback === true ? `no-${name}` : null
}

export const environmentName = (name: string) => `NEWCUT_${name.toUpperCase().replaceAll('-', '_')}`

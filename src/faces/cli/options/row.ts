/** The row of an option, from which flag, variable, configuration key, help and documents are made. */

import { someText, type ValueKind } from '../values.ts'
import type { OptionNeed } from './needs.ts'

/** Groups of options by what people do, in the order of the help, with their headings. */
export const optionGroups = {
  account: 'Who is paid',
  node: 'Nodes',
  pool: 'Pools',
  tls: 'TLS to nodes and pools',
  chains: 'Chains and votes',
  fleet: 'Fleets',
  search: 'Search',
  gpu: 'GPUs',
  energy: 'Power and energy',
  rigs: 'Rigs',
  time: 'When to mine',
  blocks: 'Found blocks',
  profit: 'Income and cost',
  server: 'Server',
  making: 'How blocks are made',
  data: 'Data on disk',
  network: 'Network of its own',
  fork: 'Fork of another network',
  command: 'Code and signatures',
  coins: 'Receiver and coins',
  gas: 'Gas',
  shares: 'Shares to pay for',
  division: 'How rewards are divided',
  http: 'HTTP and metrics',
  log: 'Log',
  output: 'Result and output',
  help: 'Configuration and help',
} as const
export type OptionGroup = keyof typeof optionGroups

/** Facts of an option, besides its value and its help. */
interface OptionFacts {
  readonly group?: OptionGroup
  /** Help of the flag `--no-NAME`. Each switch that is on by default has it, because only that flag is typed. */
  readonly negatedHelp?: string
  /** A flag of one letter that is the same, such as `-v`. */
  readonly short?: string
  /** Sentences that follow `help` in `--help-all`, docs/OPTIONS.md and the manual page. */
  readonly more?: string
  /** The default in words, where the value alone does not say it, or depends on the machine. */
  readonly defaultText?: string
  /** All conditions that must hold (needs.ts). An option without them always has an effect. */
  readonly needs?: readonly OptionNeed[]
  /** A running miner applies a change at once. Changes of other options wait for the next start. */
  readonly isLive?: true
  /**
   * A client with the HTTP token may change it. Only the owner of the machine may set options that run programs, name
   * files or addresses, or decide who is paid and who has control.
   */
  readonly isForHttp?: true
  /** The HTTP API does not show its value, because arguments in it may be secrets. */
  readonly isHidden?: true
  /** A second name for the environment and for files. */
  readonly plural?: string
  /** It belongs to one call of the command, so the environment and files cannot set it. */
  readonly isFlagOnly?: true
  /** It names a file that the command writes at its end. The command starts only if that file can be written. */
  readonly isOutput?: true
  /** No error and no output shows its value, `newcut config` included. */
  readonly isSecret?: true
}

export interface OptionSpec<T> extends OptionFacts {
  readonly kind: ValueKind<T>
  /** The default; undefined if the option is unset by default. */
  readonly fallback: T | undefined
  /** Placeholder in the help, or null for a switch. */
  readonly placeholder: string | null
  /** One line in lower case, without a full stop. For a switch that is on by default, it describes the default. */
  readonly help: string
}

/** Facts of options that can be changed while the miner runs, in its file and over HTTP. */
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

export function optional<T>(
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

/** Names a file that a call writes at its end. */
export const outputFile = (help: string, facts: OptionFacts = {}) =>
  flagOnly(optional(someText, 'FILE', help, { ...facts, isOutput: true }))

/** The same options, which have no effect unless this holds too. */
export function withNeed<Table extends object>(need: OptionNeed, table: Table): Table {
  const rows = Object.entries(table as Readonly<Record<string, OptionFacts>>)
  return Object.fromEntries(rows.map(([name, row]) => [name, { ...row, needs: [need, ...(row.needs ?? [])] }])) as Table
}

type ValueOf<Spec> = Spec extends { readonly kind: ValueKind<infer T>; readonly fallback: infer F }
  ? undefined extends F
    ? T | undefined
    : T
  : never

/** Option name -> value. */
export type Values<Table> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> }

/** @returns the flag name of a switch that is on by default (`no-pow` for `pow`), or null for other options. */
export function negatedName(name: string, { placeholder, fallback }: OptionSpec<unknown>): string | null {
  return placeholder === null && fallback === true ? `no-${name}` : null
}

export const environmentName = (name: string) => `NEWCUT_${name.toUpperCase().replaceAll('-', '_')}`

/** @returns the default in words, or null if there is none to show. */
export function defaultText({
  kind,
  fallback,
  placeholder,
  defaultText: standard,
}: OptionSpec<unknown>): string | null {
  if (standard !== undefined) return standard
  return placeholder === null || fallback === undefined ? null : String(kind.format(fallback))
}

/** @returns the help of the flag that is typed, and the sentences that follow it: `--no-pow` for `pow`, and its default. */
export function flagHelpOf({ help, negatedHelp, more }: Pick<OptionSpec<unknown>, 'help' | 'negatedHelp' | 'more'>): {
  readonly help: string
  readonly more: string | undefined
} {
  if (negatedHelp === undefined) return { help, more }
  const standard = `Default: ${help}.`
  return { help: negatedHelp, more: more === undefined ? standard : `${more} ${standard}` }
}

/** @returns the help of an option as sentences, with all details. */
export function fullHelpOf(help: string, more?: string): string {
  const first = `${help[0].toUpperCase()}${help.slice(1)}.`
  return more === undefined ? first : `${first} ${more}`
}

/** Indent of the lines of a section. */
export const INDENT = '  '

/** A section of a help text: a heading, and lines below it. */
export const section = (heading: string, lines: readonly string[]): string =>
  `${heading}:\n${lines.map((line) => INDENT + line).join('\n')}`

/** What an option is, and the names that are derived from its own. */
import type { ValueKind } from './values.ts'

export interface OptionSpec<T> {
  readonly kind: ValueKind<T>
  /** undefined: unset unless the user sets it. */
  readonly fallback: T | undefined
  /** Placeholder in the help; null for a switch. */
  readonly placeholder: string | null
  readonly help: string
  /** Another name for it in the environment and in a file. */
  readonly plural?: string
  /** Not to be set in the environment or a file, since it belongs to one call of the command. */
  readonly isFlagOnly?: true
  /** Nothing repeats its value: no error, and not `newcut config`. */
  readonly isSecret?: true
}

export function option<T>(kind: ValueKind<T>, fallback: T, placeholder: string | null, help: string) {
  return { kind, fallback, placeholder, help } satisfies OptionSpec<T>
}

export function unset<T>(
  kind: ValueKind<T>,
  placeholder: string,
  help: string,
): OptionSpec<T> & { fallback: undefined } {
  return { kind, fallback: undefined, placeholder, help }
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

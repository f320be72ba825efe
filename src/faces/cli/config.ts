/** Option values: from flags, the environment, a YAML file and defaults, in this order of priority. */
import { operatingError } from '#ground/base/errors.ts'
import { cliErrors } from './errors.ts'
import type { ProcessEnvironment } from './line.ts'
import { environmentName, negatedName, type OptionSpec, type Values } from './options/row.ts'
import { valueIn } from './values.ts'

/** `order`: a request to the running miner. */
export type OptionSource = 'order' | 'flag' | 'environment' | 'file' | 'default'

export interface Config<Table> {
  readonly values: Values<Table>
  /** Option name -> origin of its value. */
  readonly origins: ReadonlyMap<string, OptionSource>
  /** The configuration file, or null if there is none. */
  readonly file: string | null
  /** The sources of the values. */
  readonly layers: ConfigLayers
}

/** Option name -> value as written. */
export type RawOptions = Readonly<Record<string, unknown>>

/** The sources of values, by priority. */
export interface ConfigLayers {
  readonly orders: RawOptions
  /** Text as typed. */
  readonly flags: RawOptions
  readonly environment: ProcessEnvironment
  /** The options of the file; empty without a file. */
  readonly content: RawOptions
  /** Path of the file, for errors; null without a file. */
  readonly file: string | null
}

/**
 * The effective values of `table` in these layers.
 * @throws NewcutError BAD_OPTION
 */
export function resolveLayers<Table extends Readonly<Record<string, unknown>>>(
  table: Table,
  layers: ConfigLayers,
): Config<Table> {
  const { orders, flags, environment, content, file } = layers
  const values: Record<string, unknown> = {}
  const origins = new Map<string, OptionSource>()
  for (const [name, entry] of Object.entries(table)) {
    const spec = entry as OptionSpec<unknown>
    const mask = (text: string) => (spec.isSecret ? '***' : text)
    const inEnvironment = (known: string) => {
      const variable = environmentName(known)
      return { raw: environment[variable], where: `${variable}=${mask(String(environment[variable]))}` }
    }
    const inFile = (known: string) => {
      return { raw: content[known], where: `${file}, ${known}: ${mask(jsonTextOf(content[known]))}` }
    }
    const typed = spec.isSecret ? `--${name} ***` : flagText(name, flags[name])
    const ordered = { raw: orders[name], where: `${name}: ${mask(jsonTextOf(orders[name]))}` }
    const first: [OptionSource, RawValue | undefined][] = [
      ['order', valueIfSet(ordered)],
      ['flag', valueIfSet({ raw: flags[name], where: typed })],
    ]
    const elsewhere: [OptionSource, RawValue | undefined][] = spec.isFlagOnly
      ? []
      : [
          ['environment', eitherName(name, spec, inEnvironment)],
          ['file', eitherName(name, spec, inFile)],
        ]
    const [origin, given] = [...first, ...elsewhere].find(([, each]) => each !== undefined) ?? ['default', undefined]
    origins.set(name, origin)
    values[name] = given === undefined ? spec.fallback : givenValue(spec, given)
  }
  return { values: values as Values<Table>, origins, file, layers }
}

/** A value as the user wrote it, and where. */
interface RawValue {
  readonly raw: unknown
  readonly where: string
  /** Written under its negated name: `no-pow` for `pow`. */
  readonly isNegated?: boolean
}

const valueIfSet = (given: RawValue): RawValue | undefined =>
  given.raw === undefined || given.raw === null ? undefined : given

/** A value as errors repeat it. JSON may nest too deep to be written, and an alias of YAML may be inside its own value. */
export function jsonTextOf(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return 'a value that nests without end'
  }
}

/** Reads an option by its name or its second name: NEWCUT_NO_POW=1 is NEWCUT_POW=false, `nodes` is `node`. */
function eitherName(name: string, spec: OptionSpec<unknown>, read: (known: string) => RawValue): RawValue | undefined {
  const plain = valueIfSet(read(name))
  const negation = negatedName(name, spec)
  const otherName = negation ?? spec.plural
  const other = otherName === undefined ? undefined : valueIfSet(read(otherName))
  if (plain !== undefined && other !== undefined) {
    throw operatingError(cliErrors.setTwice, { one: plain.where, other: other.where })
  }
  return plain ?? (other && { ...other, isNegated: negation !== null })
}

function givenValue({ kind }: OptionSpec<unknown>, { raw, where, isNegated }: RawValue): unknown {
  const value = valueIn(kind, raw, where)
  return isNegated ? !value : value
}

function flagText(name: string, raw: unknown): string {
  return raw === false ? `--no-${name}` : `--${name} ${Array.isArray(raw) ? raw.join(' ') : raw}`
}

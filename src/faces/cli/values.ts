/** Kinds of option values. Each parses text (flag, environment) or a YAML value. */
import { operatingError } from '#ground/base/errors.ts'
import { MAX_PORT } from '#ground/base/host.ts'
import { findSimilarName } from '#ground/base/similar-names.ts'
import { formatDuration } from '#ground/base/units.ts'
import { parseSchedule, type Schedule } from '#mining/mine/schedule.ts'
import { cliErrors } from './errors.ts'

/** A kind of value: its parser, and its form in a configuration file. */
export interface ValueKind<T> {
  /** Whether a flag of this kind may be repeated. */
  readonly isList?: true
  /** Whether it is a switch whose value is the number of times that it is given. */
  readonly isCount?: true
  /** Completions for shells: all values of a closed set, otherwise the most common ones. */
  readonly completions?: readonly string[]
  /** Completes "expected ...". */
  readonly expected: string
  /** @returns the value, or undefined if the input is not of this kind. */
  readonly parse: (raw: unknown) => T | undefined
  /** @returns the problem of an invalid value, if there is more to say than the expected form. */
  readonly problem?: (raw: unknown) => string | undefined
  readonly format: (value: T) => unknown
}

/**
 * @returns a value of this kind.
 * @throws NewcutError BAD_OPTION, with `where` at the start of its message
 */
export function valueIn<T>(kind: Omit<ValueKind<T>, 'format'>, raw: unknown, where: string): T {
  const { parse, problem, expected, completions } = kind
  const value = parse(raw)
  if (value !== undefined) return value
  const reason = problem?.(raw)
  const word = reason === undefined ? findSimilarName(String(raw), completions ?? []) : null
  if (word !== null) throw operatingError(cliErrors.misspelledValue, { place: where, expected, word })
  const start = reason === undefined ? '' : `${reason}; `
  throw operatingError(cliErrors.wrongValue, { place: where, problem: start, expected })
}

const UNITS_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Prefix of a unit -> its power of ten. */
export const PREFIXES: Readonly<Record<string, number>> = { '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }

/** Parts of a text or of all texts of a list. */
const splitItems = (raw: unknown, separator: string | RegExp): string[] =>
  [raw].flat().flatMap((item) => (scalarText(item) ?? '').split(separator))

/** The text of a value, or undefined for other values. */
export const scalarText = (raw: unknown) =>
  typeof raw === 'string' || typeof raw === 'number' ? String(raw).trim() : undefined

/**
 * A time span of at least `leastMs`, in milliseconds: `500ms`, `30s`, `1.5m`, `2h`. `orZero` allows `0` as well.
 */
export function duration(leastMs: number, orZero = false): ValueKind<number> {
  const least = leastMs > 1 ? ` of at least ${formatDuration(leastMs)}` : ''
  return {
    expected: `a time${least} such as ${leastMs > 500 ? '' : '500ms, '}30s or 5m${orZero ? ', or 0 for none' : ''}`,
    parse: (raw) => {
      const text = scalarText(raw) ?? ''
      if (orZero && text === '0') return 0
      const match = /^(\d+(?:\.\d+)?)\s*(us|ms|s|m|h|d)$/.exec(text)
      const value = match === null ? Number.NaN : Number(match[1]) * UNITS_MS[match[2]]
      return value >= leastMs ? value : undefined
    },
    format: (value) => {
      if (value === 0) return '0'
      for (const unit of ['h', 'm', 's', 'ms']) {
        if (Number.isInteger(value / UNITS_MS[unit])) return `${value / UNITS_MS[unit]}${unit}`
      }
      return `${value * 1000}us`
    },
  }
}

export function wholeNumber(least: number, most: number): ValueKind<number> {
  return {
    expected: `a whole number from ${least} to ${most}`,
    parse: (raw) => {
      const text = scalarText(raw) ?? ''
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      return value >= least && value <= most ? value : undefined
    },
    format: (value) => value,
  }
}

/** Watts, with or without a fraction. */
export const power: ValueKind<number> = {
  expected: 'a number of watts of at least 0, such as 85 or 120.5',
  parse: (raw) => {
    const text = scalarText(raw) ?? ''
    return /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined
  },
  problem: (raw) => (/^-\d/.test(scalarText(raw) ?? '') ? 'is below 0' : undefined),
  format: (value) => value,
}

/** A number of hashes: `100000`, `100k`, `2.5G`, `1e6`. */
export const hashCount: ValueKind<bigint> = {
  expected: 'a number of hashes of at least 1, such as 100000, 100k, 2.5G or 1e6',
  parse: (raw) => {
    const match = /^(\d{1,60})(?:\.(\d{1,18}))?(?:([kMGTPE])|[eE]\+?(\d{1,2}))?$/.exec(scalarText(raw) ?? '')
    if (match === null) return undefined
    const [, whole, fraction = '', prefix = '', digits] = match
    const exponent = digits === undefined ? PREFIXES[prefix] : Number(digits)
    if (fraction.length > exponent) return undefined
    const value = BigInt(whole + fraction + '0'.repeat(exponent - fraction.length))
    return value >= 1n && value < 1n << 256n ? value : undefined
  },
  format: (value) => (value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value.toString()),
}

/** The same kind, with these completions. */
export const withCompletions = <T>(values: readonly string[], kind: ValueKind<T>): ValueKind<T> => ({
  ...kind,
  completions: values,
})

export function oneOf<T extends string>(values: readonly T[]): ValueKind<T> {
  return {
    completions: values,
    expected: `one of ${values.join(', ')}`,
    parse: (raw) => values.find((value) => value === raw),
    format: (value) => value,
  }
}

export const yesNo: ValueKind<boolean> = {
  expected: 'true or false',
  parse: (raw) => {
    if (raw === true || raw === 'true' || raw === '1' || raw === 'yes') return true
    if (raw === false || raw === 'false' || raw === '0' || raw === 'no') return false
    return undefined
  },
  format: (value) => value,
}

export const someText: ValueKind<string> = {
  expected: 'some text',
  parse: (raw) => {
    const text = scalarText(raw)
    return text === '' ? undefined : text
  },
  format: (value) => value,
}

/** The token after `Bearer` in the header of a request. */
export const bearerToken: ValueKind<string> = {
  expected: '8 to 200 letters, digits and the signs -._~+/=',
  parse: (raw) => {
    const text = scalarText(raw) ?? ''
    return /^[A-Za-z0-9._~+/=-]{8,200}$/.test(text) ? text : undefined
  },
  format: (value) => value,
}

/** Texts without further checks: a flag for each, or a list in a file. */
export const texts: ValueKind<readonly string[]> = {
  isList: true,
  expected: 'some text',
  parse: (raw) => {
    const list = [raw].flat().map((item) => someText.parse(item))
    return list.every((item) => item !== undefined) ? list : undefined
  },
  format: (value) => [...value],
}

/** The coins for a unit of gas, as text: a double would not be exact. */
export const gasPrice: ValueKind<string> = {
  expected: 'a number of coins such as 0.00000001 or 1e-8',
  parse: (raw) => {
    const text = scalarText(raw) ?? ''
    return /^(0|[1-9]\d{0,20})(\.\d{1,60})?([eE]-?\d{1,2})?$/.test(text) && /[1-9]/.test(text) ? text : undefined
  },
  format: (value) => value,
}

/** `[IPv6]:PORT` or `HOST:PORT`. */
const HOST_PORT = /^(?:\[([0-9a-fA-F:.]+)\]|([^:/@[\]\s]+)):(\d{1,5})$/

const nodeUrl: ValueKind<string> = {
  expected: 'the address of a node, such as http://127.0.0.1:1848 or 127.0.0.1:1848, without user, password and query',
  parse: (raw) => {
    const given = scalarText(raw) ?? ''
    // Addresses often come without a scheme.
    const text = HOST_PORT.test(given) ? `http://${given}` : given
    if (!URL.canParse(text) || !/^https?:\/\//.test(text)) return undefined
    const { username, password, search, hash } = new URL(text)
    return username + password + search + hash === '' ? text : undefined
  },
  format: (value) => value,
}

/** Addresses of nodes, in order of priority: a flag for each, or a list; in text with commas. */
export const nodeUrls: ValueKind<readonly string[]> = {
  isList: true,
  expected: `${nodeUrl.expected}; several in order of priority`,
  parse: (raw) => {
    const list = splitItems(raw, ',').map(nodeUrl.parse)
    return list.length > 0 && list.every((url) => url !== undefined) ? list : undefined
  },
  format: (value) => [...value],
}

/** The start of the next address: a password may have commas. */
const NEXT_POOL = /,(?=\s*stratum\+(?:tcp|ssl):\/\/)/i

/** Addresses of pools, in order of priority: a flag for each, or a list; in text with commas. */
export const poolAddresses: ValueKind<readonly string[]> = {
  isList: true,
  expected: 'stratum+tcp://USER@HOST:PORT, or stratum+ssl://; several in order of priority',
  parse: (raw) => {
    const list = splitItems(raw, NEXT_POOL)
    return list.length > 0 && list.every((text) => text !== '') ? list : undefined
  },
  format: (value) => [...value],
}

/** Addresses of the servers of one NATS system: a flag for each, or a list; in text with commas. */
export const natsServers: ValueKind<readonly string[]> = {
  isList: true,
  expected: 'nats://HOST:4222 or tls://HOST:4222, where user and password or a token may stand before the host',
  parse: (raw) => {
    const list = splitItems(raw, ',')
    return list.length > 0 && list.every((text) => /^(nats|tls):\/\/\S/i.test(text)) ? list : undefined
  },
  format: (value) => [...value],
}

const nameKind = (pattern: RegExp, expected: string): ValueKind<string> => ({
  expected,
  parse: (raw) => {
    const text = scalarText(raw) ?? ''
    return pattern.test(text) ? text : undefined
  },
  format: (value) => value,
})

/** Names of fleets. They become parts of NATS subjects and of labels. */
export const fleetName = nameKind(/^[A-Za-z0-9_-]{1,32}$/, '1 to 32 letters, digits, - and _')

/** Names of rigs, such as host names with their domains. They become parts of labels. */
export const rigName = nameKind(/^[A-Za-z0-9._-]{1,253}$/, '1 to 253 letters, digits, dots, - and _')

/** One node: the first, if the configuration has several for the miner. */
export const firstNodeUrl: ValueKind<string> = {
  expected: nodeUrl.expected,
  parse: (raw) => nodeUrls.parse(raw)?.[0],
  format: (value) => value,
}

/** SHA-256 of a certificate: hex, with or without colons, or base64url. */
export const certificateFingerprint: ValueKind<string> = {
  expected: 'a SHA-256 in hex, with or without colons, or in base64url',
  parse: (raw) => {
    const text = scalarText(raw) ?? ''
    return /^([0-9a-fA-F]{64}|([0-9a-fA-F]{2}:){31}[0-9a-fA-F]{2}|[A-Za-z0-9_-]{43})$/.test(text) ? text : undefined
  },
  format: (value) => value,
}

export interface HostPort {
  readonly host: string
  readonly port: number
}

/** `HOST:PORT`, `[IPv6]:PORT`, or null for `off`. */
export const listenAddress: ValueKind<HostPort | null> = {
  completions: ['off'],
  expected: 'HOST:PORT, such as 127.0.0.1:4148, or off',
  parse: (raw) => {
    const text = raw === false ? 'off' : (scalarText(raw) ?? '')
    if (text === 'off') return null
    const match = HOST_PORT.exec(text)
    if (match === null || Number(match[3]) > MAX_PORT) return undefined
    return { host: match[1] ?? match[2], port: Number(match[3]) }
  },
  format: (value) =>
    value === null ? 'off' : `${value.host.includes(':') ? `[${value.host}]` : value.host}:${value.port}`,
}

/** Chains in ascending order: `0,3,7`, `0-4,9`. The flag may be repeated. */
export function chainList(highest: number): ValueKind<readonly number[]> {
  return {
    isList: true,
    expected: `chains from 0 to ${highest}, such as 3, 0,5 or 0-9`,
    parse: (raw) => {
      const parts = (Array.isArray(raw) ? raw : [raw]).flatMap((item) => (scalarText(item) ?? '?').split(','))
      const chains = new Set<number>()
      for (const part of parts) {
        const match = /^\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?$/.exec(part)
        const [from, to] = match === null ? [1, 0] : [Number(match[1]), Number(match[2] ?? match[1])]
        if (from > to || to > highest) return undefined
        for (let chain = from; chain <= to; chain++) chains.add(chain)
      }
      return [...chains].sort((a, b) => a - b)
    },
    format: (value) => [...value],
  }
}

/** Windows of the week: a flag for each, or a list; in text with commas (mine/schedule.ts). */
export const scheduleText: ValueKind<Schedule> = {
  isList: true,
  expected: 'times to search, such as 22:00-06:00 or "mon-fri 22:00-06:00,sat-sun 00:00-24:00"',
  parse: (raw) => {
    const schedule = parseSchedule(listText(raw))
    return 'problem' in schedule ? undefined : schedule
  },
  problem: (raw) => {
    const schedule = parseSchedule(listText(raw))
    return 'problem' in schedule ? schedule.problem : undefined
  },
  format: ({ text }) => text,
}

const listText = (raw: unknown) =>
  [raw]
    .flat()
    .map((item) => scalarText(item) ?? '')
    .join(',')

/** @returns the key in `KEY` or `k:KEY`, in lower case, or undefined for any other text. */
export const publicKeyIn = (text: string) => /^(?:k:)?([0-9a-fA-F]{64})$/.exec(text)?.[1].toLowerCase()

/** Public keys of 32 bytes in hex. The flag may be repeated, or have several keys with commas. */
export const publicKeys: ValueKind<readonly string[]> = {
  isList: true,
  expected: 'public keys of 64 hex digits, or accounts k:KEY',
  parse: (raw) => {
    const keys = keyTexts(raw).map(publicKeyIn)
    return keys.every((key) => key !== undefined) ? keys : undefined
  },
  problem: (raw) => {
    // YAML reads digits, and hex digits after 0x, as a number.
    if ([raw].flat().some((item) => typeof item === 'number'))
      return 'read as a number: put the key in quotes, without 0x'
    const texts = keyTexts(raw)
    const at = texts.findIndex((text) => publicKeyIn(text) === undefined)
    const problem = publicKeyProblem(texts[at] ?? '')
    return problem === undefined || texts.length === 1 ? problem : `key ${at + 1} ${problem}`
  },
  format: (value) => [...value],
}

/** Public keys to impersonate, or `*`. The flag may be repeated, or have several keys with commas. */
export const impersonatedKeys: ValueKind<readonly string[]> = {
  isList: true,
  expected: "public keys of 64 hex digits, accounts k:KEY, or '*' for all",
  parse: (raw) => {
    const keys = keyTexts(raw).map((text) => (text === '*' ? text : publicKeyIn(text)))
    return keys.every((key) => key !== undefined) ? keys : undefined
  },
  problem: (raw) => publicKeys.problem?.(raw),
  format: (value) => [...value],
}

const keyTexts = (raw: unknown) =>
  (Array.isArray(raw) ? raw : [raw]).flatMap((item) => (scalarText(item) ?? '?').split(',')).map((text) => text.trim())

/** @returns the problem of an invalid public key, or undefined if the text does not resemble one. */
export function publicKeyProblem(text: string): string | undefined {
  const [, prefix, rest] = /^(?:([a-z]):)?(.*)$/s.exec(text) ?? []
  if (prefix === 'k') return `looks like a k: account, but the key is not 64 hex digits${lengthText(rest)}`
  if (prefix !== undefined) return `looks like a ${prefix}: account, and only k: accounts have their key in the name`
  if (/^0x[0-9a-f]+$/i.test(text)) return 'begins with 0x: leave that out'
  return /^[0-9a-f]+$/i.test(text) ? `is not 64 hex digits${lengthText(text)}` : undefined
}

const lengthText = (text: string) => (/^[0-9a-f]+$/i.test(text) ? ` (it has ${text.length})` : '')

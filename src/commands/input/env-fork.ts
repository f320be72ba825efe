/** The options of `env-fork` in test files. They are those of the command line, under shorter names. */
import { resolve } from 'node:path'
import type { ProcessEnvironment } from '#faces/cli/line.ts'
import { forkOptions } from '#faces/cli/options/fork.ts'
import { type ValueKind, valueIn } from '#faces/cli/values.ts'
import { operatingError } from '#ground/base/errors.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { showValue } from '#language/contracts/values/print.ts'
import type { NetworkCopyOptions } from '#language/copy/network-copy.ts'
import type { EnvForkCall, EnvForkField } from '#language/testing/env-forks.ts'
import { type CallReply, replyTo } from '#language/testing/run.ts'
import { commandErrors } from './errors.ts'
import { type ForkValues, forkOf } from './fork-setup.ts'

/** Field of the options of `env-fork` -> the option of the command line. */
const FIELDS = new Map<string, keyof typeof forkOptions>([
  ['chain', 'fork-chains'],
  ['cut', 'fork-cut'],
  ['cache', 'fork-cache'],
  ['limit', 'fork-limit'],
  ['timeout', 'fork-timeout'],
  ['table-rows', 'fork-table-rows'],
  ['pacts', 'fork-pact'],
])

/**
 * The fork that a call means.
 * @throws NewcutError BAD_OPTION
 */
export function envForkOptions(
  { folder, url, fields }: EnvForkCall,
  environment: ProcessEnvironment,
): NetworkCopyOptions {
  const node = valueIn(forkOptions.fork.kind, url, showValue(url))
  const given: Record<string, unknown> = {}
  for (const field of fields) {
    const option = FIELDS.get(field.name)
    const name = showValue(field.name)
    if (option === undefined) {
      const fields = [...FIELDS.keys()]
      const guess = suggestName(field.name, fields)
      throw operatingError(commandErrors.unknownForkField, { name, guess, fields: fields.join(', ') })
    }
    const kind = forkOptions[option].kind as ValueKind<unknown>
    given[option] = valueIn(kind, asTyped(field, folder), `${name}: ${field.shown}`)
  }
  const rest = Object.entries(forkOptions).flatMap(([name, { fallback }]) => (name in given ? [] : [[name, fallback]]))
  return forkOf(node, { ...Object.fromEntries(rest), ...given } as ForkValues, environment)
}

/** The same for a thread, which gets an error as data. */
export function envForkReply(call: EnvForkCall, environment: ProcessEnvironment): CallReply {
  return replyTo(call, (each) => envForkOptions(each, environment))
}

/** The value of a field as the command line has it. */
function asTyped({ name, value }: EnvForkField, folder: string): unknown {
  if (name === 'cut' && typeof value === 'object' && !Array.isArray(value)) return JSON.stringify(value)
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return value
  const isFile = name === 'cut' ? !/^\d+$|^\s*\{/.test(text) : name === 'cache' && text !== 'off'
  return isFile ? resolve(folder, text) : text
}

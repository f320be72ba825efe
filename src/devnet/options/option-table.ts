/** The table of `DevnetOptions`: what each takes. JavaScript callers have no compiler to check that. */

import { inspect } from 'node:util'
import { operatingError } from '#ground/base/errors.ts'
import { isJsonObject } from '#ground/base/json.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { networkForm, networkNames } from '#ground/chain/known-networks.ts'
import { isNetworkName } from '#ground/chain/network.ts'
import type { NetworkForm } from '#ground/chain/network-form.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { impersonatedKey } from '#ground/schema/control-commands.ts'
import { MAX_CONFIRMATIONS } from '#ground/schema/devnet-modes.ts'
import { isPositive, limitOptions, type OptionShape, plainOptions, textOption } from '#ground/schema/devnet-options.ts'
import type { DevnetFork } from '../copy/open-copy.ts'
import type { DevnetOptions } from './devnet-options.ts'
import { optionErrors } from './errors.ts'

/** A row for each option, and for nothing else. */
type OptionTable = {
  readonly [Name in keyof DevnetOptions]-?: OptionShape<Exclude<DevnetOptions[Name], undefined>>
}

/** Plain options that are none of DevnetOptions do not compile here. */
const plain: Pick<OptionTable, keyof typeof plainOptions> = plainOptions

/** Lists are checked by their elements. */
const listOf = <T>(expected: string, fits: (each: unknown) => boolean): OptionShape<readonly T[]> => ({
  expected,
  fits: (value): value is readonly T[] => Array.isArray(value) && value.every(fits),
})
const listener = <T>(): OptionShape<T> => ({
  expected: 'a function',
  fits: (value): value is T => typeof value === 'function',
})

function isAccount(value: unknown): boolean {
  if (!isJsonObject(value)) return false
  const { account, predicate, publicKeys } = value
  const isText = textOption.fits
  return isText(account) && isText(predicate) && Array.isArray(publicKeys) && publicKeys.every(isText)
}

type AutoMineOption = Exclude<DevnetOptions['autoMine'], undefined>

function isAutoMine(value: unknown): value is AutoMineOption {
  if (!isJsonObject(value)) return false
  const { kind, ...rest } = value
  const names = Object.keys(rest).join()
  if (kind === 'on-demand') return names === ''
  if (kind === 'on-arrival') {
    return names === '' || (names === 'confirmations' && isConfirmations(rest.confirmations))
  }
  if (kind === 'constant') return names === 'blockTimeMs' && isPositive(rest.blockTimeMs)
  return kind === 'simulated' && names === 'hashesPerSecond' && isPositive(rest.hashesPerSecond)
}

const isConfirmations = (value: unknown) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_CONFIRMATIONS
const isImpersonated = (value: unknown) => typeof value === 'string' && impersonatedKey(value) !== null

const optionTable: OptionTable = {
  ...plain,
  state: {
    expected: 'the bytes of a state',
    fits: (value) => value instanceof Uint8Array,
  },
  fork: {
    expected: "an object with the url of a node, such as { url: 'http://127.0.0.1:1848' }",
    fits: (value): value is DevnetFork => isJsonObject(value) && textOption.fits(value.url),
  },
  networks: listOf<NetworkForm>(
    'a list of networks as networks/*.yaml describes them',
    (each) => isJsonObject(each) && isNetworkName(each.name),
  ),
  accounts: listOf<MinerAccount>('a list of { account, predicate, publicKeys }', isAccount),
  autoMine: {
    expected:
      "{ kind: 'on-demand' }, { kind: 'on-arrival', confirmations }, { kind: 'constant', blockTimeMs } or { kind: 'simulated', hashesPerSecond }, " +
      'with numbers above 0',
    fits: isAutoMine,
  },
  impersonate: listOf<string>("a list of public keys, or ['*'] for all", isImpersonated),
  onPrint: listener(),
  onSolved: listener(),
  onFailure: listener(),
  onNotice: listener(),
  onProgress: listener(),
  onRequest: listener(),
  onTransaction: listener(),
}

/** @throws NewcutError BAD_OPTION for an unknown option, a wrong shape, or options that exclude each other */
export function checkOptions(options: DevnetOptions): void {
  if (!isJsonObject(options)) throw operatingError(optionErrors.notObject, { value: inspectValue(options) })
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(optionTable, name)) {
      const known = Object.keys(optionTable)
      const guess = suggestName(name, known)
      throw operatingError(optionErrors.unknown, { name, guess, names: known.join(', ') })
    }
    const { expected, fits } = optionTable[name as keyof DevnetOptions]
    // An option that is undefined counts as absent.
    if (value !== undefined && !fits(value)) {
      throw operatingError(optionErrors.wrongValue, { name, value: inspectValue(value), expected })
    }
  }
  // All have their shapes by now.
  checkPairs(options)
}

/** @throws NewcutError BAD_OPTION for options that exclude each other */
function checkPairs({ networkName, networks, fork, pow, autoMine, dataDir, stateFile, state }: DevnetOptions): void {
  // A fork may have the name of a network without a file: that of the forked node.
  const needsFile = networkName !== undefined && fork === undefined
  if (needsFile && networkForm(networkName, networks) === undefined) {
    const guess = suggestName(networkName, networkNames(networks))
    throw operatingError(optionErrors.noNetworkFile, { name: networkName, guess })
  }
  if (fork !== undefined && (pow === true || autoMine?.kind === 'simulated')) {
    throw operatingError(optionErrors.workInFork)
  }
  if (dataDir !== undefined && (stateFile ?? state) !== undefined) throw operatingError(optionErrors.dataDirAndState)
  if (pow === true && autoMine !== undefined) throw operatingError(optionErrors.workAndAutoMine)
}

const inspectValue = (value: unknown) => inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY })

type LimitName = keyof typeof limitOptions
type NodeLimits = Readonly<Record<LimitName, number>>

/** Limits of a node: those of the options, or the defaults. */
export function limitsOf(options: DevnetOptions): NodeLimits {
  const limits = Object.entries<{ readonly fallback: number; readonly most?: number }>(limitOptions)
  return Object.fromEntries(
    limits.map(([name, { fallback, most = Number.POSITIVE_INFINITY }]) => [
      name,
      Math.min(options[name as LimitName] ?? fallback, most),
    ]),
  ) as NodeLimits
}

/** The table of `DevnetOptions`: what each takes. JavaScript callers have no compiler to check that. */

import { inspect } from 'node:util'
import { NewcutError } from '#ground/base/errors.ts'
import { isJsonObject } from '#ground/base/json.ts'
import { networkForm } from '#ground/chain/known-networks.ts'
import { isNetworkName } from '#ground/chain/network.ts'
import type { NetworkForm } from '#ground/chain/network-form.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { impersonatedKey } from '#ground/schema/control-commands.ts'
import { MAX_CONFIRMATIONS, NO_WORK_IN_FORKS } from '#ground/schema/devnet-modes.ts'
import { isPositive, limitOptions, type OptionShape, plainOptions, textOption } from '#ground/schema/devnet-options.ts'
import type { DevnetFork } from '../copy/open-copy.ts'
import type { DevnetOptions } from './devnet-options.ts'

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

/** Throws NewcutError BAD_OPTION for an unknown option, a wrong shape, or options that exclude each other. */
export function checkOptions(options: DevnetOptions): void {
  if (!isJsonObject(options)) throw bad(`the options: ${shown(options)}; expected an object`)
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(optionTable, name)) {
      throw bad(`${name}: there is no such option`, `options are ${Object.keys(optionTable).join(', ')}`)
    }
    const { expected, fits } = optionTable[name as keyof DevnetOptions]
    // An option that is undefined counts as absent.
    if (value !== undefined && !fits(value)) throw bad(`${name}: ${shown(value)}; expected ${expected}`)
  }
  // All have their shapes by now.
  checkPairs(options)
}

/** Throws NewcutError BAD_OPTION for options that exclude each other. */
function checkPairs({ networkName, networks, fork, pow, autoMine, dataDir, stateFile, state }: DevnetOptions): void {
  // A fork may have the name of a network without a file: that of the forked node.
  const needsFile = networkName !== undefined && fork === undefined
  if (needsFile && networkForm(networkName, networks) === undefined) {
    throw bad(`networkName: newcut has no file of the network ${networkName}`, 'describe it in networks')
  }
  if (fork !== undefined && (pow === true || autoMine?.kind === 'simulated'))
    throw bad(NO_WORK_IN_FORKS, 'leave pow out')
  if (dataDir !== undefined && (stateFile ?? state) !== undefined) {
    throw bad('dataDir and a state exclude each other: a data directory continues its own chains')
  }
  if (pow === true && autoMine !== undefined) {
    throw bad('autoMine makes blocks without proof of work: leave pow out, or set it to false')
  }
}

const shown = (value: unknown) => inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY })
const bad = (message: string, hint?: string) => new NewcutError('BAD_OPTION', message, { hint })

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

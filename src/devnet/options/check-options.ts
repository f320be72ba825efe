/** Validates the shape of `DevnetOptions`, because JavaScript callers have no compiler to do so. */

import { inspect } from 'node:util'
import { NewcutError } from '../../base/errors.ts'
import { isJsonObject } from '../../base/json.ts'
import { MAX_PHRASE_ACCOUNTS } from '../../core/development-accounts.ts'
import { MAX_CASTING_BLOCKS } from '../../core/fork.ts'
import { graphNames } from '../../core/graph.ts'
import { networkForm } from '../../core/known-networks.ts'
import { isNetworkName } from '../../core/network.ts'
import { MAX_TARGET } from '../../core/target.ts'
import { MAX_CONFIRMATIONS } from '../../schema/auto-mine.ts'
import { impersonatedKey } from '../../schema/control-commands.ts'
import { nodeReleases } from '../../schema/node-releases.ts'
import type { DevnetOptions } from './devnet-options.ts'

interface Shape {
  /** Completes the error text "expected ...". */
  readonly expected: string
  readonly fits: (value: unknown) => boolean
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const isPositive = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value > 0

const text: Shape = { expected: 'some text', fits: isText }
const time: Shape = { expected: 'a number of milliseconds above 0', fits: isPositive }
const listener: Shape = { expected: 'a function', fits: (value) => typeof value === 'function' }
const oneOf = (values: readonly string[]): Shape => ({
  expected: `one of ${values.map((value) => `'${value}'`).join(', ')}`,
  fits: (value) => values.includes(value as string),
})
const wholeNumber = (min: number, max: number): Shape => ({
  expected: `a whole number from ${min} to ${max}`,
  fits: (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
})
const count = wholeNumber(0, Number.MAX_SAFE_INTEGER)

function isAccount(value: unknown): boolean {
  if (!isJsonObject(value)) return false
  const { account, predicate, publicKeys } = value
  return isText(account) && isText(predicate) && Array.isArray(publicKeys) && publicKeys.every(isText)
}

function isAutoMine(value: unknown): boolean {
  if (!isJsonObject(value)) return false
  const { kind, ...rest } = value
  const names = Object.keys(rest).join()
  if (kind === 'on-demand') return names === ''
  if (kind === 'on-arrival') {
    const fits = wholeNumber(0, MAX_CONFIRMATIONS).fits
    return names === 'confirmations' && fits(rest.confirmations)
  }
  if (kind === 'constant') return names === 'blockTimeMs' && isPositive(rest.blockTimeMs)
  return kind === 'simulated' && names === 'hashesPerSecond' && isPositive(rest.hashesPerSecond)
}

const isImpersonated = (value: unknown) => typeof value === 'string' && impersonatedKey(value) !== null

const shapes: Readonly<Record<keyof DevnetOptions, Shape>> = {
  host: text,
  port: wholeNumber(0, 65_535),
  dataDir: text,
  stateFile: text,
  state: { expected: 'the bytes of a state', fits: (value) => value instanceof Uint8Array },
  backupDir: text,
  fork: {
    expected: "an object with the url of a node, such as { url: 'http://127.0.0.1:1848' }",
    fits: (value) => isJsonObject(value) && isText(value.url),
  },
  networkName: {
    expected: 'the name of a chainweb network, such as mainnet01',
    fits: isNetworkName,
  },
  networks: {
    expected: 'a list of networks as networks/*.yaml describes them',
    fits: (value) => Array.isArray(value) && value.every((each) => isJsonObject(each) && isNetworkName(each.name)),
  },
  graph: oneOf(graphNames),
  blockDelayMs: time,
  difficulty: {
    expected: 'a bigint of at least 1 and below 2^256',
    fits: (value) => typeof value === 'bigint' && value >= 1n && value <= MAX_TARGET,
  },
  pow: { expected: 'true or false', fits: (value) => typeof value === 'boolean' },
  nodeRelease: oneOf(nodeReleases),
  forkEpoch: wholeNumber(1, MAX_CASTING_BLOCKS),
  forkTarget: wholeNumber(0, 0xffff_ffff),
  accounts: {
    expected: 'a list of { account, predicate, publicKeys }',
    fits: (value) => Array.isArray(value) && value.every(isAccount),
  },
  entity: text,
  product: oneOf(['chainweb', 'ledger']),
  updateStreamMs: time,
  updateStreamLimit: count,
  headerStreamLimit: count,
  listenLimit: count,
  listenMs: time,
  workLimit: count,
  workLifetimeMs: time,
  refreshMs: { expected: 'a number of milliseconds', fits: (value) => value === 0 || isPositive(value) },
  requestTimeoutMs: time,
  autoMine: {
    expected:
      "{ kind: 'on-demand' }, { kind: 'on-arrival', confirmations }, { kind: 'constant', blockTimeMs } or { kind: 'simulated', hashesPerSecond }, " +
      'with numbers above 0',
    fits: isAutoMine,
  },
  impersonate: {
    expected: "a list of public keys, or ['*'] for all",
    fits: (value) => Array.isArray(value) && value.every(isImpersonated),
  },
  phraseAccounts: wholeNumber(0, MAX_PHRASE_ACCOUNTS),
  allowPrint: { expected: 'true or false', fits: (value) => typeof value === 'boolean' },
  onPrint: listener,
  onSolved: listener,
  onFailure: listener,
  onNotice: listener,
  onProgress: listener,
  onRequest: listener,
  onTransaction: listener,
}

/** Throws NewcutError BAD_OPTION for an unknown option, a wrong shape, or options that exclude each other. */
export function checkOptions(options: DevnetOptions): void {
  if (!isJsonObject(options)) throw bad(`the options: ${shown(options)}; expected an object`)
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(shapes, name)) {
      throw bad(`${name}: there is no such option`, `options are ${Object.keys(shapes).join(', ')}`)
    }
    const { expected, fits } = shapes[name as keyof DevnetOptions]
    // An option that is undefined counts as absent.
    if (value !== undefined && !fits(value)) throw bad(`${name}: ${shown(value)}; expected ${expected}`)
  }
  // Both have their shapes by now.
  const { networkName, networks } = options as DevnetOptions
  // A fork may have the name of a network without a file: that of the forked node.
  const needsFile = networkName !== undefined && options.fork === undefined
  if (needsFile && networkForm(networkName, networks) === undefined) {
    throw bad(`networkName: newcut has no file of the network ${networkName}`, 'describe it in networks')
  }
  if (options.fork !== undefined && (options.pow === true || isSimulated(options.autoMine))) {
    throw bad(
      'a fork has no proof of work: this machine cannot solve the difficulty of the forked network',
      'leave pow out',
    )
  }
  const { dataDir, stateFile, state } = options
  if (dataDir !== undefined && (stateFile ?? state) !== undefined) {
    throw bad('dataDir and a state exclude each other: a data directory continues its own chains')
  }
  if (options.pow === true && options.autoMine !== undefined) {
    throw bad('autoMine makes blocks without proof of work: leave pow out, or set it to false')
  }
}

const isSimulated = (autoMine: unknown) => isJsonObject(autoMine) && autoMine.kind === 'simulated'
const shown = (value: unknown) => inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY })
const bad = (message: string, hint?: string) => new NewcutError('BAD_OPTION', message, { hint })

/** Opens the fork of a node: a new one, or the one that its data directory continues. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import { makeFolders, replaceFile } from '#ground/base/replace-file.ts'
import { blake2b256 } from '#ground/chain/blake2b.ts'
import { definitionOf, type NetworkForm } from '#ground/chain/network-form.ts'
import { COPY_LIMITS, cutText, type NetworkCopyOptions, openCopy, reopenCopy } from '#language/copy/network-copy.ts'
import { pinText, readPin } from '#language/copy/pin.ts'
import { copyErrors } from './errors.ts'
import { type ForkTime, NodeCopy } from './node-copy.ts'
import { pinnedPayloads } from './pinned-payloads.ts'

/** How an embedded node forks another network. */
export interface DevnetFork {
  /** Address of a node of the network. */
  readonly url: string
  /** Height, text of a cut, or name of a file with one. Default: 10 blocks below the lowest head. */
  readonly cut?: string | undefined
  /** Chains to fork. Default: all. The others begin with the state of a development network. */
  readonly chains?: readonly number[] | undefined
  /** Folder of fetched state. Default: it stays in memory. */
  readonly cacheFolder?: string | undefined
  /** Maximum requests to the node in a second. Default 20. */
  readonly perSecond?: number | undefined
  /** Longest wait for an answer of the node. Default 30 s. */
  readonly timeoutMs?: number | undefined
  /** Maximum rows of a table that is read as a whole. Default 10,000. */
  readonly tableRows?: number | undefined
  /** Request keys of commands that continued pacts before the fork. */
  readonly pactKeys?: readonly string[] | undefined
  /** Time of the first block: that of the machine, or that of the pinned blocks. Default now. */
  readonly time?: ForkTime | undefined
}

/** File of a data directory that was forked. */
export const COPY_FILE = 'fork.json'
const VERSION = 2
const encoder = new TextEncoder()

interface CopyRecord {
  readonly fork: typeof VERSION
  readonly url: string
  /** Text of the pin. */
  readonly pin: string
  readonly chains: readonly number[] | null
  readonly time: ForkTime
  /** Folder of the cache; null if there is none. */
  readonly cache: string | null
  /** Checksum of the fields before. */
  readonly check: string
}

export interface CopyHost {
  /** Networks of the user's files. */
  readonly networks?: readonly NetworkForm[] | undefined
  readonly dataDir: string | undefined
  readonly onNotice: (message: string) => void
  readonly onProgress?: OnProgress
}

/**
 * Opens the fork that the options or the data directory name.
 * @param blocks name of the database of blocks in the data directory
 * @returns null for a network of its own
 * @throws NewcutError DATA_UNUSABLE if the data directory has another fork, or a network that is not a fork
 */
export async function openNodeCopy(
  requested: DevnetFork | undefined,
  { dataDir, networks, onNotice, onProgress }: CopyHost,
  blocks: string,
): Promise<NodeCopy | null> {
  const stored = dataDir === undefined ? null : readCopyFile(dataDir)
  const hasBlocks = dataDir !== undefined && existsSync(join(dataDir, blocks))
  if (requested === undefined && stored === null) return null
  if (stored === null && hasBlocks) {
    throw operatingError(copyErrors.notFork, { directory: dataDir ?? '' })
  }
  const { url = stored?.url ?? '', time = stored?.time ?? 'now' } = requested ?? {}
  const cacheFolder = cacheFolderOf(requested, stored)
  const options: NetworkCopyOptions = {
    ...limitsOf(requested),
    cacheFolder,
    url,
    cut: stored?.pin ?? requested?.cut ?? null,
    chains: null,
    networks: networks?.map(definitionOf),
    onNotice,
    onProgress,
  }
  const chains = stored?.chains ?? requested?.chains ?? null
  if (stored !== null) {
    expectPin(dataDir ?? '', stored, requested)
    const record = recordOf({ ...stored, url, time, cache: cacheFolder })
    if (hasBlocks)
      return new NodeCopy(reopenCopy(options, readPin(stored.pin, COPY_FILE)), {
        chains,
        time,
        record,
        payloads: new Map(),
      })
  }
  const opened = await openCopy(options)
  const record = recordOf({ fork: VERSION, url, pin: pinText(opened.pin), chains, time, cache: cacheFolder })
  const payloads = await pinnedPayloads(opened)
  const fork = new NodeCopy(opened, { chains, time, record, payloads })
  if (dataDir !== undefined && stored === null) {
    makeFolders(dataDir)
    writeCopyFile(dataDir, record)
  }
  return fork
}

/** @returns the folder of the request, or that of the stored fork if nothing is requested; null for memory */
function cacheFolderOf(requested: DevnetFork | undefined, stored: CopyRecord | null): string | null {
  if (requested === undefined) return stored?.cache ?? null
  return requested.cacheFolder === undefined ? null : resolve(requested.cacheFolder)
}

function limitsOf(requested: DevnetFork | undefined) {
  return {
    perSecond: requested?.perSecond ?? COPY_LIMITS.perSecond,
    timeoutMs: requested?.timeoutMs ?? COPY_LIMITS.timeoutMs,
    tableRows: requested?.tableRows ?? COPY_LIMITS.tableRows,
    pactKeys: requested?.pactKeys ?? [],
  }
}

/** @throws NewcutError DATA_UNUSABLE if the user asks for another fork than the one in the directory */
function expectPin(directory: string, stored: CopyRecord, requested: DevnetFork | undefined): void {
  const { height, network } = readPin(stored.pin, COPY_FILE)
  const otherPin = (difference: string) =>
    operatingError(copyErrors.otherPin, { directory, network, height, difference })
  if (requested?.cut !== undefined && !isSameCut(requested.cut, stored.pin)) throw otherPin('not at another cut')
  if (requested?.chains !== undefined && requested.chains.join() !== (stored.chains ?? []).join())
    throw otherPin('with other chains')
}

function isSameCut(cut: string, pin: string): boolean {
  if (/^\d+$/.test(cut)) return readPin(pin, COPY_FILE).height === Number(cut)
  const text = cut.trimStart().startsWith('{') || !existsSync(cut) ? cut : cutText(cut).text
  return pinText(readPin(text, '`fork.cut`')) === pinText(readPin(pin, COPY_FILE))
}

/** @returns null for a directory without the record of a fork, or that does not exist. @throws NewcutError DATA_UNUSABLE for a damaged record */
export function readCopyFile(directory: string): CopyRecord | null {
  const file = join(directory, COPY_FILE)
  if (!existsSync(file)) return null
  const damagedRecord = (what: string) => operatingError(copyErrors.damagedRecord, { file, what })
  try {
    const stored = JSON.parse(readFileSync(file, 'utf8')) as CopyRecord | null
    if (stored?.fork !== VERSION) throw damagedRecord('it is damaged, or of another newcut')
    if (checkOf(stored) !== stored.check) throw damagedRecord('it is damaged or was edited: its checksum is wrong')
    return stored
  } catch (error) {
    if (error instanceof NewcutError) throw error
    throw damagedRecord(`it cannot be read: ${describeError(error)}`)
  }
}

function recordOf(stored: Omit<CopyRecord, 'check'>): string {
  return `${JSON.stringify({ ...stored, check: checkOf(stored) })}\n`
}

function checkOf({ fork, url, pin, chains, time, cache }: Omit<CopyRecord, 'check'>): string {
  const text = JSON.stringify([fork, url, pin, chains, time, cache])
  return encodeBase64Url(blake2b256(encoder.encode(text)))
}

/** @throws NewcutError DATA_UNUSABLE */
export function writeCopyFile(directory: string, record: string): void {
  const file = join(directory, COPY_FILE)
  try {
    replaceFile(file, record)
  } catch (error) {
    throw operatingError(copyErrors.recordNotWritten, { file, why: describeError(error) }, error)
  }
}

/** The configuration of a running miner. It follows its file, and applies changes over HTTP. */
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import { type PreparedFile, prepareReplacement } from '#ground/base/replace-file.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { type ConfigLayers, jsonTextOf, type RawOptions, resolveLayers } from './config.ts'
import { parseConfigFile, readConfigFile } from './config-file.ts'
import { cliErrors } from './errors.ts'
import {
  changesBetween,
  fileAlone,
  fileValue,
  isForHttp,
  isLive,
  isSame,
  type MineConfig,
  publicOptions,
  specOf,
  withLive,
} from './live-options.ts'
import type { ConsoleEvent } from './notices.ts'
import { mineOptions } from './options/mine.ts'
import { refuseWithoutEffect } from './options/needs.ts'
import { environmentName, negatedName } from './options/row.ts'
import { valueIn } from './values.ts'
import { yaml } from './yaml.ts'

export interface LivePorts {
  /** Applies these options to the miner. If it throws NewcutError, nothing has changed. */
  readonly apply: (config: MineConfig) => Promise<void>
  /** @throws NewcutError for options that no miner can start with */
  readonly check: (config: MineConfig) => void
  readonly show: (event: ConsoleEvent) => void
}

/** One change at a time. */
export class LiveConfig {
  readonly #ports: LivePorts
  /** The options in effect. */
  #inUse: MineConfig
  /** The options after the next start. */
  #accepted: MineConfig
  #last: Promise<unknown> = Promise.resolve()

  constructor(config: MineConfig, ports: LivePorts) {
    this.#inUse = config
    this.#accepted = config
    this.#ports = ports
  }

  read(): RawOptions {
    return publicOptions(this.#inUse)
  }

  /** Reads the file again. If the file has an error, it shows the error and changes nothing. Never rejects. */
  reload(): Promise<void> {
    return this.#enqueue(async () => {
      const { layers } = this.#accepted
      if (layers.file === null) return
      try {
        const content = parseConfigFile(layers.file, readConfigFile(layers.file))
        if (isSame(content, layers.content)) return
        await this.#applyLayers({ ...layers, content, orders: keepRequests(layers, content) })
      } catch (error) {
        if (!(error instanceof NewcutError)) throw error
        const hint = error.hint === undefined ? '' : ` (${error.hint})`
        const message = `configuration: ${describeError(error)}${hint}; nothing is changed`
        this.#ports.show({ type: 'warning', message })
      }
    })
  }

  /** Writes lasting changes to the file, if there is one. */
  change(options: RawOptions): Promise<void> {
    return this.#enqueue(() => this.#change(options))
  }

  #enqueue(run: () => Promise<void>): Promise<void> {
    const done = this.#last.then(run)
    this.#last = done.catch(() => undefined)
    return done
  }

  async #change(options: RawOptions): Promise<void> {
    const { layers } = this.#accepted
    const wanted = this.#changedOptions(options)
    if (wanted.length === 0) return
    const text = layers.file === null ? '' : readConfigFile(layers.file)
    const before = layers.file === null ? {} : parseConfigFile(layers.file, text)
    const changed = withOptions(before, text, wanted)
    // A value on the command line or in the environment would win over the file at once.
    const orders = { ...layers.orders }
    for (const [name, value] of wanted) {
      if (!isLive(name) || (layers.file !== null && !isShadowed(layers, name))) delete orders[name]
      else orders[name] = value ?? undefined
    }
    const next = { ...layers, content: changed.content, orders }
    const prepared = layers.file === null ? null : prepareFile(layers.file, changed.text, wanted)
    if (prepared instanceof NewcutError) {
      for (const [name, value] of wanted) orders[name] = value ?? undefined
      await this.#applyLayers({ ...layers, orders })
      this.#ports.show({ type: 'warning', message: `${prepared.message}; the change holds until the end of this run` })
      return
    }
    try {
      await this.#applyLayers(next)
    } catch (error) {
      prepared?.discard()
      throw error
    }
    prepared?.commit()
  }

  /**
   * The options that really change.
   * @throws NewcutError BAD_OPTION for options that HTTP cannot set
   */
  #changedOptions(options: RawOptions): [string, unknown][] {
    const { file } = this.#accepted.layers
    return Object.entries(options).filter(([name, value]) => {
      if (!Object.hasOwn(mineOptions, name)) {
        throw operatingError(cliErrors.unknownLiveOption, { name, guess: suggestName(name, Object.keys(mineOptions)) })
      }
      const { kind } = specOf(name)
      const parsed = value === null ? undefined : valueIn(kind, value, `${name}: ${jsonTextOf(value)}`)
      const isPending = !isSame(fileValue(name, this.#accepted), fileValue(name, this.#inUse))
      if (value !== null && !isPending && isSame(kind.format(parsed), fileValue(name, this.#inUse))) return false
      if (!isForHttp(name)) {
        throw operatingError(cliErrors.notOverHttp, { name })
      }
      if (file !== null || isLive(name)) return true
      throw operatingError(cliErrors.notWhileRunning, { name })
    })
  }

  /** Applies these layers to the miner. If it throws NewcutError, nothing has changed. */
  async #applyLayers(layers: ConfigLayers): Promise<void> {
    const before = this.#accepted
    const next = resolveLayers(mineOptions, layers)
    fileAlone(layers)
    refuseWithoutEffect(mineOptions, next)
    this.#ports.check(next)
    const inUse = withLive(this.#inUse, next)
    await this.#ports.apply(inUse)
    this.#inUse = inUse
    this.#accepted = next
    for (const change of changesBetween(before, next)) this.#ports.show(change)
  }
}

function isShadowed({ flags, environment }: ConfigLayers, name: string): boolean {
  const { plural } = specOf(name)
  const known = [name, negatedName(name, specOf(name)), plural].filter((each) => each != null)
  return flags[name] !== undefined || known.some((each) => environment[environmentName(each)] !== undefined)
}

/** A later change of the file replaces a change over HTTP, unless another layer wins over the file anyway. */
function keepRequests(layers: ConfigLayers, content: RawOptions): RawOptions {
  const { orders, content: before } = layers
  const kept = Object.entries(orders).filter(
    ([name]) => isShadowed(layers, name) || isSame(before[name], content[name]),
  )
  return Object.fromEntries(kept)
}

/** The content and the text of a file with new values; null removes an option. Comments stay. */
function withOptions(
  before: RawOptions,
  text: string,
  wanted: readonly [string, unknown][],
): { readonly content: RawOptions; readonly text: string } {
  const document = yaml().parseDocument(text)
  const content = { ...before }
  for (const [name, value] of wanted) {
    const other = negatedName(name, specOf(name)) ?? specOf(name).plural
    for (const known of [name, other]) {
      if (known === undefined || (known === name && value !== null) || !(known in content)) continue
      document.delete(known)
      delete content[known]
    }
    if (value === null) continue
    document.set(name, value)
    content[name] = value
  }
  return { content, text: document.toString({ lineWidth: 0 }) }
}

/**
 * The new file, or the reason why it cannot be written.
 * @throws the reason if an option has no other place
 */
function prepareFile(file: string, text: string, wanted: readonly [string, unknown][]): PreparedFile | NewcutError {
  try {
    return prepareReplacement(file, text)
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    const failure = operatingError(cliErrors.unwritableConfig, { file, code }, error)
    if (wanted.every(([name]) => isLive(name))) return failure
    throw failure
  }
}

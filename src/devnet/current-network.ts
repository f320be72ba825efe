/** The network that a node serves at present. The node may switch to another one on the same port. */

import type { ServerResponse } from 'node:http'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import { untilAborted, withFirstOf } from '#ground/base/signals.ts'
import { pinText } from '#language/copy/pin.ts'
import type { Port } from './http/port.ts'
import { RequestRefused } from './http/refusal.ts'
import type { SwitchNetwork } from './http/routes/control.ts'
import type { OpenedNetwork } from './opened-network.ts'
import type { DevnetOptions } from './options/devnet-options.ts'
import { optionsAfterSwitch } from './options/options-after-switch.ts'
import { graphText } from './rules/settings.ts'

interface SwitchPorts {
  readonly options: DevnetOptions
  readonly port: Port
  readonly open: (options: DevnetOptions) => Promise<OpenedNetwork>
}

export class CurrentNetwork {
  readonly #turning: SwitchPorts
  readonly #first: OpenedNetwork['settings']
  /** Networks that are being closed. */
  readonly #retiring = new Set<Promise<void>>()
  #network: OpenedNetwork
  #isClosed = false

  constructor(first: OpenedNetwork, ports: SwitchPorts) {
    this.#network = first
    this.#first = first.settings
    this.#turning = ports
    void ports.port.serve(first.app)
  }

  get network(): OpenedNetwork {
    return this.#network
  }

  /** Opens the other network first: if that fails, the current one has seen nothing of it. */
  switchTo: SwitchNetwork = async (change, { signal, response }) => {
    const { options, open } = this.#turning
    const next = await unlessAborted(openOrRefuse(optionsAfterSwitch(options, this.#first, change), open), signal)
    if (this.#isClosed) {
      await next.close()
      signal.throwIfAborted()
    }
    this.#swap(next, response)
    options.onNotice?.(noticeOf(next))
    return next.controls.status
  }

  /** Closes the current network, and waits for those that are closing. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([this.#network.close(), ...this.#retiring])
  }

  /** All at once: no request meets both networks. */
  #swap(next: OpenedNetwork, response: ServerResponse): void {
    const before = this.#network
    before.controls.retire()
    this.#network = next
    const over = this.#turning.port.serve(next.app, response)
    next.controls.run()
    const retiring = this.#retire(before, over).finally(() => this.#retiring.delete(retiring))
    this.#retiring.add(retiring)
  }

  async #retire(network: OpenedNetwork, over: Promise<void>): Promise<void> {
    try {
      await over
      await network.waitForReports()
      await network.close()
    } catch (error) {
      this.#turning.options.onNotice?.(`the network before the reset did not close: ${describeError(error)}`)
    }
  }
}

/** Rejects with RequestRefused for everything that the caller can change. */
async function openOrRefuse(options: DevnetOptions, open: SwitchPorts['open']): Promise<OpenedNetwork> {
  try {
    return await open(options)
  } catch (error) {
    if (!(error instanceof NewcutError) || error.code === 'INTERNAL') throw error
    const hint = error.hint === undefined ? '' : ` (${error.hint})`
    const status = error.code.startsWith('NODE_') ? 502 : 400
    throw new RequestRefused(status, `${describeError(error)}${hint}. The node stays as it is`)
  }
}

/** Rejects when the signal aborts. A network that opens later is closed. */
async function unlessAborted(opening: Promise<OpenedNetwork>, signal: AbortSignal): Promise<OpenedNetwork> {
  const opened = await withFirstOf([signal], (ends) => Promise.race([opening, untilAborted(ends).then(() => null)]))
  if (opened !== null) return opened
  void opening.then(
    (network) => network.close(),
    () => undefined,
  )
  throw signal.reason
}

function noticeOf({ fork, chains, settings }: OpenedNetwork): string {
  const { name } = chains.network
  if (fork === null) return `reset: a new network ${name} with the graph ${graphText(settings)}, from its first block`
  const { pin, url } = fork
  return `reset: a fork of ${pin.network} at height ${pin.height}, from ${url}; the same again: ${pinText(pin)}`
}

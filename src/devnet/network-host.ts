/** Services of the host for a node, and of a node for its networks. */
import type { Clock } from '#ground/base/clock.ts'
import type { NewcutError } from '#ground/base/errors.ts'
import type { NonceSearch } from './control/nonce-search.ts'
import type { CommandLimits } from './execution/executor.ts'
import type { App } from './http/app.ts'
import type { SwitchNetwork } from './http/routes/control.ts'

/** Services that the node takes from its host. */
export interface HostMachine {
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly packageVersion: string
  /** Searches nonces for blocks made on request; closed with the node. */
  readonly search: NonceSearch
  /** Module of the threads that execute contracts; default: that of the node. */
  readonly executionThread?: URL
  /** How long a block waits for a command before it goes on without it, in ms. */
  readonly commandWaitMs?: number
  /** Limits of processor time and memory for each command. Default: COMMAND_LIMITS of executor.ts. */
  readonly commandLimits?: CommandLimits
  /** Maximum connections at once; less than the file descriptor limit of the process. */
  readonly maxConnections: number
}

/** Services that a network takes from its node. */
export interface NetworkHost {
  readonly machine: HostMachine
  /** Adds routes beside the interface of the network. */
  readonly extend: (app: App) => void
  /** Turns the node to another network. */
  readonly switchNetwork: SwitchNetwork
  /** Called if the chains cannot be written. The network has stopped. */
  readonly onFailure: (error: NewcutError) => void
}

/**
 * Purity of code: what it may read and write, and where it may grant capabilities.
 *
 * A function keeps the mode of the place that made it, wherever it is called. A lambda that was made outside of
 * `enforce` may write within it, and a function that was named within `enforce` may not.
 */

export interface Mode {
  /** `all` allows writes. `readOnly` allows single rows to be read, `systemOnly` only modules, keysets and the like. */
  readonly access: 'all' | 'readOnly' | 'systemOnly'
  /** True within the body of a capability, which may neither grant nor install others. */
  readonly isInCapability: boolean
  /** Names of modules that have called code through a module reference. Their functions run read-only. */
  readonly callers: ReadonlySet<string>
}

/** Mode of code at the top level. */
export const FREE: Mode = { access: 'all', isInCapability: false, callers: new Set() }

/** Refuses writes. */
export function readOnly(mode: Mode): Mode {
  return mode.access === 'all' ? { ...mode, access: 'readOnly' } : mode
}

/** Refuses access to all tables of modules. */
export function systemOnly(mode: Mode): Mode {
  return mode.access === 'systemOnly' ? mode : { ...mode, access: 'systemOnly' }
}

/** Mode of the body of a capability. */
export function inCapability(mode: Mode): Mode {
  return mode.isInCapability ? mode : { ...mode, isInCapability: true }
}

/** Mode of code that a module calls through a module reference. */
export function calledBy(mode: Mode, module: string): Mode {
  return mode.callers.has(module) ? mode : { ...mode, callers: new Set([...mode.callers, module]) }
}

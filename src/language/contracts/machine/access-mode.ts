/**
 * Purity of code: what it may read and write, and where it may grant capabilities.
 *
 * A function keeps the mode of the place that made it, wherever it is called. A lambda that was made outside of
 * `enforce` may write within it, and a function that was named within `enforce` may not.
 */

export class AccessMode {
  /** `all` allows writes. `readOnly` allows single rows to be read, `systemOnly` only modules, keysets and the like. */
  readonly access: 'all' | 'readOnly' | 'systemOnly'
  /** True within the body of a capability, which may neither grant nor install others. */
  readonly isInCapability: boolean
  /** Names of modules that have called code through a module reference. Their functions run read-only. */
  readonly callers: ReadonlySet<string>
  /** Made on first use: code enters and leaves them all the time. */
  #readOnly: AccessMode | null = null
  #systemOnly: AccessMode | null = null
  #inCapability: AccessMode | null = null

  constructor(access: AccessMode['access'], isInCapability: boolean, callers: ReadonlySet<string>) {
    this.access = access
    this.isInCapability = isInCapability
    this.callers = callers
  }

  /** Refuses writes. */
  get readOnly(): AccessMode {
    if (this.access !== 'all') return this
    this.#readOnly ??= new AccessMode('readOnly', this.isInCapability, this.callers)
    return this.#readOnly
  }

  /** Refuses access to all tables of modules. */
  get systemOnly(): AccessMode {
    if (this.access === 'systemOnly') return this
    this.#systemOnly ??= new AccessMode('systemOnly', this.isInCapability, this.callers)
    return this.#systemOnly
  }

  /** Mode of the body of a capability. */
  get inCapability(): AccessMode {
    if (this.isInCapability) return this
    this.#inCapability ??= new AccessMode(this.access, true, this.callers)
    return this.#inCapability
  }

  /** Mode of code that a module calls through a module reference. */
  calledBy(module: string): AccessMode {
    if (this.callers.has(module)) return this
    return new AccessMode(this.access, this.isInCapability, new Set([...this.callers, module]))
  }
}

/** Mode of code at the top level. */
export const TOP_LEVEL_MODE = new AccessMode('all', false, new Set())

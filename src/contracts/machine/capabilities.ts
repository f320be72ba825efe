/**
 * Which capabilities are granted, and how: by the body of their defcap, by the list of a signature or an installation
 * where they are managed. Rules: COMMANDS, language facts.
 */
import { evalError, NOWHERE, txFailure } from '../errors.ts'
import { equalValues } from '../values/equal.ts'
import { showValue } from '../values/print.ts'
import type { CapabilityToken, Value } from '../values/value.ts'
import { Fun, type Module, splitName } from './ast.ts'
import type { Environment } from './environment.ts'
import type { Evaluator } from './evaluator.ts'
import { requireAdmin } from './guards.ts'

/** Thousandths of gas, as on the public network: each capability that is held while one is required. */
const HELD_COST = 100
/** Per unit of size a value in a message. */
const MESSAGE_COST = 5
/** So many comparisons of small arguments are free; more of them, and of larger ones, are paid by the size. */
const FREE_COMPARISONS = 1000
const FREE_WEIGHT = 500
const COMPARE_COST = 50

/** A granted capability, with those that it is composed of. */
interface Slot {
  token: CapabilityToken
  readonly composed: CapabilityToken[]
}

/** A managed capability that was installed: what is left of it. */
interface Installed {
  readonly fun: string
  /** All arguments but the managed one, and the token as it was installed. */
  readonly fixed: readonly Value[]
  readonly token: CapabilityToken
  /** What is left of the managed argument; undefined: it can be used once. */
  left: Value | undefined
  isUsed: boolean
}

export class Capabilities {
  readonly #machine: Evaluator
  readonly #slots: Slot[] = []
  #installed: Installed[] = []
  /** Tokens whose bodies run. */
  readonly #evaluated: CapabilityToken[] = []
  #comparisons = 0

  constructor(machine: Evaluator) {
    this.#machine = machine
  }

  /** How much there is to keep for what may fail. */
  get size(): number {
    let size = this.#installed.length + this.#slots.length
    for (const { composed } of this.#slots) size += composed.length
    return size
  }

  snapshot() {
    return {
      slots: this.#slots.length,
      composed: this.#slots.at(-1)?.composed.length ?? 0,
      installed: this.#installed.map((each) => ({ ...each })),
      evaluated: this.#evaluated.length,
    }
  }

  /** What was granted is still: what failed has added slots, and composed within the last one that there was. */
  restore({ slots, composed, installed, evaluated }: ReturnType<Capabilities['snapshot']>): void {
    this.#slots.length = slots
    const last = this.#slots.at(-1)
    if (last !== undefined) last.composed.length = composed
    this.#installed = installed
    this.#evaluated.length = evaluated
  }

  /** Whether a capability is granted anywhere in the calls under way. */
  isGranted(token: CapabilityToken): boolean {
    for (const slot of this.#slots) {
      if (this.#isSame(slot.token, token)) return true
      for (const own of slot.composed) if (this.#isSame(own, token)) return true
    }
    return false
  }

  /** Whether a signature that is limited to these capabilities counts here. */
  covers(tokens: readonly CapabilityToken[]): boolean {
    return tokens.some((token) => this.isGranted(token) || this.#isEvaluated(token))
  }

  /** Whether the body of one of these capabilities runs. */
  isEvaluatingAny(tokens: readonly CapabilityToken[]): boolean {
    return tokens.some((token) => this.#isEvaluated(token))
  }

  #isEvaluated(token: CapabilityToken): boolean {
    for (const own of this.#evaluated) if (this.#isSame(own, token)) return true
    return false
  }

  /** Whether the body of a defcap runs, or what that has called. */
  get isEvaluating(): boolean {
    return this.#evaluated.length > 0
  }

  /**
   * Runs with the capability granted. One of another module needs its administrator, even where it is granted already.
   * `byLedger`: the ledger asks, and need not be administrator.
   */
  with<T>(token: CapabilityToken, run: () => T, byLedger = false): T {
    const fun = this.#funOf(token)
    if (!byLedger && !fun.module.isSame(this.#machine.module)) requireAdmin(this.#machine, fun.module)
    if (this.isGranted(token)) return run()
    this.#grant(fun, token, true)
    const depth = this.#slots.length
    const result = run()
    // Tests may have granted more meanwhile.
    while (this.#slots.length >= depth) this.#slots.pop()
    return result
  }

  /** Evaluates the capability that governs a module, which only the module itself would be allowed to. */
  asGovernance(token: CapabilityToken, module: Module): void {
    const fun = module.get(token.name.slice(module.name.length + 1))
    if (!(fun instanceof Fun)) throw evalError(`No such capability: ${token.name}`)
    if (this.isGranted(token)) return
    this.#grant(fun, token, true)
    this.#slots.pop()
  }

  /** Grants for the rest of the command, or of the test, without a body to run in. */
  grantForTest(token: CapabilityToken): void {
    const fun = this.#funOf(token)
    const isKnown = this.#isInstalled(fun, token) || this.#listed(fun, token) !== undefined
    if (fun.managed !== null && !isKnown) this.install(token)
    if (this.isGranted(token)) return
    this.#grant(fun, token, false)
    if (fun.managed !== null || fun.isEvent) this.#slots.pop()
  }

  /** Runs with tokens granted that nothing has to be asked for: the ledger's own. */
  granting<T>(tokens: readonly CapabilityToken[], run: () => T): T {
    const depth = this.#slots.length
    for (const token of tokens) this.#slots.push({ token, composed: [] })
    try {
      return run()
    } finally {
      this.#slots.length = depth
    }
  }

  /**
   * Adds a capability to the one whose body runs. Since language release 5.4.1, one of another module needs its
   * administrator, unless it is granted already; before, anybody could compose it.
   */
  compose(token: CapabilityToken): void {
    if (this.#machine.frames.at(-1)?.kind !== 'defcap')
      throw evalError('compose-capability is allowed in a defcap only')
    if (this.isGranted(token)) return
    const fun = this.#funOf(token)
    const { isLanguage541 } = this.#machine.environment.rules
    if (isLanguage541 && !fun.module.isSame(this.#machine.module)) requireAdmin(this.#machine, fun.module)
    this.#grant(fun, token, true)
    const own = this.#slots.pop()
    const around = this.#slots.at(-1)
    if (own !== undefined) around?.composed.push(own.token, ...own.composed)
  }

  require(token: CapabilityToken): void {
    this.#machine.charge(HELD_COST * (this.size - this.#installed.length))
    if (this.isGranted(token)) return
    this.#machine.charge(MESSAGE_COST * this.#machine.weightOf(token))
    throw txFailure(
      `require-capability: not granted: (${[token.name, ...token.args.map(showValue)].join(' ')})`,
      null,
      `The required capability has not been granted: ${token.name}`,
    )
  }

  install(token: CapabilityToken): void {
    const fun = this.#funOf(token)
    if (fun.managed === null) {
      throw evalError(
        `Install capability failed. Capability is not declared as a managed capability and cannot be installed. ${token.name}`,
      )
    }
    const isListed = fun.managed.by !== null && this.#listed(fun, token) !== undefined
    if (this.#isInstalled(fun, token) || isListed) {
      throw evalError(`Capability already installed: ${token.name}`)
    }
    this.#install(fun, token)
  }

  #isInstalled(fun: Fun, token: CapabilityToken): boolean {
    return this.#findInstalled(fun, token) !== undefined
  }

  #findInstalled(fun: Fun, token: CapabilityToken): Installed | undefined {
    const fixed = fixedArgs(fun, token.args)
    this.#machine.charge(this.#installed.length)
    return this.#installed.find((each) => each.fun === fun.qualified && this.#areEqual(each.fixed, fixed))
  }

  #install(fun: Fun, token: CapabilityToken): Installed {
    const by = fun.managed?.by ?? null
    const left = by === null ? undefined : token.args[by.param]
    const installed = { fun: fun.qualified, fixed: fixedArgs(fun, token.args), token, left, isUsed: false }
    this.#installed.push(installed)
    return installed
  }

  /** The capability that a signer lists for a token, whatever its managed argument. */
  #listed(fun: Fun, token: CapabilityToken): CapabilityToken | undefined {
    const fixed = fixedArgs(fun, token.args)
    const named = tokensByName(this.#machine.environment.signers).get(token.name) ?? []
    return named.find((each) => this.#areEqual(fixedArgs(fun, each.args), fixed))
  }

  /** The installed capability for a token: installed before, or listed by a signer. */
  #managedFor(fun: Fun, token: CapabilityToken): Installed {
    const installed = this.#findInstalled(fun, token)
    if (installed !== undefined) return installed
    const listed = this.#listed(fun, token)
    if (listed !== undefined) return this.#install(fun, listed)
    const advice = 'Check the sigs field or the arguments to verify that the capability is specified correctly.'
    throw evalError(
      `Managed capability not installed: ${token.name} was not installed. ${advice}`,
      null,
      `Managed capability ${token.name} was not installed. ${advice}`,
    )
  }

  /** Evaluates the capability and leaves it granted in a slot of its own. */
  #grant(fun: Fun, token: CapabilityToken, emits: boolean): void {
    const { managed } = fun
    if (managed === null) {
      this.#runBody(fun, token)
      if (fun.isEvent && emits) this.#machine.emit(fun, token.args)
      return
    }
    const installed = this.#managedFor(fun, token)
    if (managed.by === null) {
      if (installed.isUsed) throw txFailure(`Capability already used: ${token.name} can be used once`)
      installed.isUsed = true
      this.#runBody(fun, token)
    } else {
      // Guards in the body see what was installed; what is granted in the end is what was asked for.
      this.#runBody(fun, token, installed.token)
      if (emits) this.#manage(fun, installed, managed.by, token)
      const slot = this.#slots.at(-1)
      if (slot !== undefined) slot.token = token
    }
    if (emits) this.#machine.emit(fun, token.args)
  }

  #manage(
    fun: Fun,
    installed: Installed,
    { param, manager }: { readonly param: number; readonly manager: string },
    token: CapabilityToken,
  ): void {
    const own = fun.module.get(manager) ?? fun.module.imports.get(manager)
    if (!(own instanceof Fun) || own.kind !== 'defun')
      throw evalError(`${manager} is not a function of ${fun.module.name}`)
    const left = this.#machine.callFun(own, [installed.left as Value, token.args[param]], NOWHERE)
    installed.left = left as Value
  }

  /** `held`: what is granted while the body runs. */
  #runBody(fun: Fun, token: CapabilityToken, held = token): void {
    if (token.args.length !== fun.params.length)
      throw evalError(`wrong number of arguments for capability ${token.name}`)
    this.#slots.push({ token: held, composed: [] })
    this.#evaluated.push(held)
    this.#machine.run(fun, token.args, NOWHERE)
    this.#evaluated.pop()
  }

  #isSame(one: CapabilityToken, other: CapabilityToken): boolean {
    if (++this.#comparisons > FREE_COMPARISONS) this.#machine.charge(1)
    return one.name === other.name && this.#areEqual(one.args, other.args)
  }

  #areEqual(one: readonly Value[], other: readonly Value[]): boolean {
    const weight = this.#machine.weightOf(one)
    const isFree = ++this.#comparisons <= FREE_COMPARISONS && weight <= FREE_WEIGHT
    if (!isFree) this.#machine.charge(COMPARE_COST + weight)
    return equalValues(one, other)
  }

  #funOf(token: CapabilityToken): Fun {
    const name = splitName(token.name)
    const module = name === null ? undefined : this.#moduleOf(name.module)
    const fun = name === null ? undefined : module?.get(name.member)
    if (!(fun instanceof Fun) || fun.kind !== 'defcap') throw evalError(`No such capability: ${token.name}`)
    return fun
  }

  #moduleOf(name: string) {
    const { loading } = this.#machine
    return loading?.name === name ? loading : this.#machine.findModule(name)
  }
}

/** All arguments but the managed one. */
function fixedArgs(fun: Fun, args: readonly Value[]): readonly Value[] {
  const param = fun.managed?.by?.param
  return param === undefined ? args : args.filter((_, index) => index !== param)
}

type Signers = Environment['signers']
const found = new WeakMap<Signers, ReadonlyMap<string, readonly CapabilityToken[]>>()

/** What signers list, by the names of the capabilities: a signature may list very many. */
function tokensByName(signers: Signers): ReadonlyMap<string, readonly CapabilityToken[]> {
  const before = found.get(signers)
  if (before !== undefined) return before
  const byName = new Map<string, CapabilityToken[]>()
  for (const tokens of signers.values()) {
    for (const token of tokens) {
      const named = byName.get(token.name)
      if (named === undefined) byName.set(token.name, [token])
      else named.push(token)
    }
  }
  found.set(signers, byName)
  return byName
}

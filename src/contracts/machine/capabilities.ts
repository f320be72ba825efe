/**
 * Which capabilities are granted, and how: by the body of their defcap, by the list of a signature or an installation
 * where they are managed. Some of it takes the administrator of a module. Rules: COMMANDS, language facts.
 */
import { evalError, NOWHERE, txFailure } from '../errors.ts'
import { equalValues } from '../values/equal.ts'
import { showValue } from '../values/print.ts'
import type { CapabilityToken, Value } from '../values/value.ts'
import { Fun, type Installed, type Module, type Run } from './ast.ts'
import { weightOf } from './bounds.ts'
import type { Message } from './environment.ts'
import { splitName } from './names.ts'
import { grantedCount } from './scopes.ts'

/** Thousandths of gas, as on the public network: each capability that is held while one is required. */
const HELD_COST = 100
/** Per unit of size a value in a message. */
const MESSAGE_COST = 5
/** So many comparisons of small arguments are free; more of them, and of larger ones, are paid by the size. */
const FREE_COMPARISONS = 1000
const FREE_WEIGHT = 500
const COMPARE_COST = 50

/** Throws EvalError unless the command has become administrator of the module before. */
export function requireAdmin(run: Run, module: Pick<Module, 'name'>): void {
  if (run.transaction.admin.has(module.name)) return
  throw evalError(
    `Module admin necessary for operation but has not been acquired: ${module.name}`,
    null,
    `Module admin is necessary for operation but has not been acquired: ${module.name}`,
  )
}

/** Whether a capability is granted anywhere in the calls under way. */
export function isGranted(run: Run, token: CapabilityToken): boolean {
  for (const slot of run.call.slots) {
    if (isSame(run, slot.token, token)) return true
    for (const own of slot.composed) if (isSame(run, own, token)) return true
  }
  return false
}

/** Whether a signature that is limited to these capabilities counts here. */
export function covers(run: Run, tokens: readonly CapabilityToken[]): boolean {
  return tokens.some((token) => isGranted(run, token) || isEvaluated(run, token))
}

/** Whether the body of one of these capabilities runs. */
export function isEvaluatingAny(run: Run, tokens: readonly CapabilityToken[]): boolean {
  return tokens.some((token) => isEvaluated(run, token))
}

function isEvaluated(run: Run, token: CapabilityToken): boolean {
  for (const own of run.call.evaluated) if (isSame(run, own, token)) return true
  return false
}

/**
 * Runs with the capability granted. One of another module needs its administrator, even where it is granted already.
 * `byLedger`: the ledger asks, and need not be administrator.
 */
export function withCapability<T>(run: Run, token: CapabilityToken, body: () => T, byLedger = false): T {
  const fun = funOf(run, token)
  if (!byLedger && !fun.module.isSame(run.module)) requireAdmin(run, fun.module)
  if (isGranted(run, token)) return body()
  grant(run, fun, token, true)
  const depth = run.call.slots.length
  const result = body()
  // Tests may have granted more meanwhile.
  while (run.call.slots.length >= depth) run.call.slots.pop()
  return result
}

/** Evaluates the capability that governs a module, which only the module itself would be allowed to. */
export function evaluateGovernance(run: Run, token: CapabilityToken, module: Module): void {
  const fun = module.get(token.name.slice(module.name.length + 1))
  if (!(fun instanceof Fun)) throw evalError(`No such capability: ${token.name}`)
  if (isGranted(run, token)) return
  grant(run, fun, token, true)
  run.call.slots.pop()
}

/** Grants for the rest of the command, or of the test, without a body to run in. */
export function grantForTest(run: Run, token: CapabilityToken): void {
  const fun = funOf(run, token)
  const isKnown = isInstalled(run, fun, token) || listedFor(run, fun, token) !== undefined
  if (fun.managed !== null && !isKnown) installCapability(run, token)
  if (isGranted(run, token)) return
  grant(run, fun, token, false)
  if (fun.managed !== null || fun.isEvent) run.call.slots.pop()
}

/** Runs with tokens granted that nothing has to be asked for: the ledger's own. */
export function granting<T>(run: Run, tokens: readonly CapabilityToken[], body: () => T): T {
  const depth = run.call.slots.length
  for (const token of tokens) run.call.slots.push({ token, composed: [] })
  try {
    return body()
  } finally {
    run.call.slots.length = depth
  }
}

/**
 * Adds a capability to the one whose body runs. Since language release 5.4.1, one of another module needs its
 * administrator, unless it is granted already; before, anybody could compose it.
 */
export function composeCapability(run: Run, token: CapabilityToken): void {
  if (run.call.frames.at(-1)?.kind !== 'defcap') throw evalError('compose-capability is allowed in a defcap only')
  if (isGranted(run, token)) return
  const fun = funOf(run, token)
  const { isLanguage541 } = run.block.rules
  if (isLanguage541 && !fun.module.isSame(run.module)) requireAdmin(run, fun.module)
  grant(run, fun, token, true)
  const own = run.call.slots.pop()
  const around = run.call.slots.at(-1)
  if (own !== undefined) around?.composed.push(own.token, ...own.composed)
}

export function requireCapability(run: Run, token: CapabilityToken): void {
  run.charge(HELD_COST * grantedCount(run.call))
  if (isGranted(run, token)) return
  run.charge(MESSAGE_COST * weightOf(token))
  throw txFailure(
    `require-capability: not granted: (${[token.name, ...token.args.map(showValue)].join(' ')})`,
    null,
    `The required capability has not been granted: ${token.name}`,
  )
}

export function installCapability(run: Run, token: CapabilityToken): void {
  const fun = funOf(run, token)
  if (fun.managed === null) {
    throw evalError(
      `Install capability failed. Capability is not declared as a managed capability and cannot be installed. ${token.name}`,
    )
  }
  const isListed = fun.managed.by !== null && listedFor(run, fun, token) !== undefined
  if (isInstalled(run, fun, token) || isListed) {
    throw evalError(`Capability already installed: ${token.name}`)
  }
  install(run, fun, token)
}

function isInstalled(run: Run, fun: Fun, token: CapabilityToken): boolean {
  return findInstalled(run, fun, token) !== undefined
}

function findInstalled(run: Run, fun: Fun, token: CapabilityToken): Installed | undefined {
  const fixed = fixedArgs(fun, token.args)
  run.charge(run.transaction.installed.length)
  return run.transaction.installed.find((each) => each.fun === fun.qualified && areEqual(run, each.fixed, fixed))
}

function install(run: Run, fun: Fun, token: CapabilityToken): Installed {
  const by = fun.managed?.by ?? null
  const left = by === null ? undefined : token.args[by.param]
  const installed = { fun: fun.qualified, fixed: fixedArgs(fun, token.args), token, left, isUsed: false }
  run.transaction.installed.push(installed)
  return installed
}

/** The capability that a signer lists for a token, whatever its managed argument. */
function listedFor(run: Run, fun: Fun, token: CapabilityToken): CapabilityToken | undefined {
  const fixed = fixedArgs(fun, token.args)
  const named = tokensByName(run.transaction.message.signers).get(token.name) ?? []
  return named.find((each) => areEqual(run, fixedArgs(fun, each.args), fixed))
}

/** The installed capability for a token: installed before, or listed by a signer. */
function managedFor(run: Run, fun: Fun, token: CapabilityToken): Installed {
  const installed = findInstalled(run, fun, token)
  if (installed !== undefined) return installed
  const listed = listedFor(run, fun, token)
  if (listed !== undefined) return install(run, fun, listed)
  const advice = 'Check the sigs field or the arguments to verify that the capability is specified correctly.'
  throw evalError(
    `Managed capability not installed: ${token.name} was not installed. ${advice}`,
    null,
    `Managed capability ${token.name} was not installed. ${advice}`,
  )
}

/** Evaluates the capability and leaves it granted in a slot of its own. */
function grant(run: Run, fun: Fun, token: CapabilityToken, emits: boolean): void {
  const { managed } = fun
  if (managed === null) {
    evaluateBody(run, fun, token)
    if (fun.isEvent && emits) run.emit(fun, token.args)
    return
  }
  const installed = managedFor(run, fun, token)
  if (managed.by === null) {
    if (installed.isUsed) throw txFailure(`Capability already used: ${token.name} can be used once`)
    installed.isUsed = true
    evaluateBody(run, fun, token)
  } else {
    // Guards in the body see what was installed; what is granted in the end is what was asked for.
    evaluateBody(run, fun, token, installed.token)
    if (emits) manage(run, fun, installed, managed.by, token)
    const slot = run.call.slots.at(-1)
    if (slot !== undefined) slot.token = token
  }
  if (emits) run.emit(fun, token.args)
}

function manage(
  run: Run,
  fun: Fun,
  installed: Installed,
  { param, manager }: { readonly param: number; readonly manager: string },
  token: CapabilityToken,
): void {
  const own = fun.module.get(manager) ?? fun.module.imports.get(manager)
  if (!(own instanceof Fun) || own.kind !== 'defun')
    throw evalError(`${manager} is not a function of ${fun.module.name}`)
  const left = run.callFun(own, [installed.left as Value, token.args[param]], NOWHERE)
  installed.left = left as Value
}

/** `held`: what is granted while the body runs. */
function evaluateBody(run: Run, fun: Fun, token: CapabilityToken, held = token): void {
  if (token.args.length !== fun.params.length) throw evalError(`wrong number of arguments for capability ${token.name}`)
  run.call.slots.push({ token: held, composed: [] })
  run.call.evaluated.push(held)
  run.runBody(fun, token.args, NOWHERE)
  run.call.evaluated.pop()
}

function isSame(run: Run, one: CapabilityToken, other: CapabilityToken): boolean {
  if (++run.transaction.comparisons > FREE_COMPARISONS) run.charge(1)
  return one.name === other.name && areEqual(run, one.args, other.args)
}

function areEqual(run: Run, one: readonly Value[], other: readonly Value[]): boolean {
  const weight = weightOf(one)
  const isFree = ++run.transaction.comparisons <= FREE_COMPARISONS && weight <= FREE_WEIGHT
  if (!isFree) run.charge(COMPARE_COST + weight)
  return equalValues(one, other)
}

function funOf(run: Run, token: CapabilityToken): Fun {
  const name = splitName(token.name)
  const module = name === null ? undefined : moduleOf(run, name.module)
  const fun = name === null ? undefined : module?.get(name.member)
  if (!(fun instanceof Fun) || fun.kind !== 'defcap') throw evalError(`No such capability: ${token.name}`)
  return fun
}

function moduleOf(run: Run, name: string) {
  const { loading } = run.program
  return loading?.name === name ? loading : run.findModule(name)
}

/** All arguments but the managed one. */
function fixedArgs(fun: Fun, args: readonly Value[]): readonly Value[] {
  const param = fun.managed?.by?.param
  return param === undefined ? args : args.filter((_, index) => index !== param)
}

type Signers = Message['signers']
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

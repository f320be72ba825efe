/**
 * Granting of capabilities: by the body of their defcap and, if managed, by the capability list of a signature or by
 * installation. Some operations need admin rights on a module.
 */
import { evalError, NOWHERE, txFailure } from '../errors.ts'
import { equalValues } from '../values/equal.ts'
import { showValue } from '../values/print.ts'
import type { CapabilityToken, Value } from '../values/value.ts'
import { Fun, type Installed, type Module, type Run } from './ast.ts'
import { weightOf } from './bounds.ts'
import type { Message } from './environment.ts'
import { PRICE } from './gas-prices.ts'
import { splitName } from './names.ts'
import { grantedCount } from './scopes.ts'
import { asValue } from './term.ts'

/** Work per unit of weight of a value in an error message. */
const MESSAGE_WORK = 5
/** Comparisons of capabilities: the first ones of small arguments are free; others count by weight. */
const FREE_COMPARISONS = 1000
const FREE_WEIGHT = 500
const COMPARE_WORK = 50

/** @throws EvalError unless the command has acquired admin rights on the module */
export function requireAdmin(run: Run, module: Pick<Module, 'name'>): void {
  if (run.transaction.admin.has(module.name)) return
  throw evalError(
    `Module admin necessary for operation but has not been acquired: ${module.name}`,
    null,
    `Module admin is necessary for operation but has not been acquired: ${module.name}`,
  )
}

/** True if a capability is granted anywhere in the call stack. */
export function isGranted(run: Run, token: CapabilityToken): boolean {
  for (const slot of run.call.slots) {
    if (isSame(run, slot.token, token)) return true
    for (const own of slot.composed) if (isSame(run, own, token)) return true
  }
  return false
}

/** True if a signature scoped to these capabilities applies here. */
export function covers(run: Run, tokens: readonly CapabilityToken[]): boolean {
  return tokens.some((token) => isGranted(run, token) || isEvaluated(run, token))
}

/** True if the body of any of these capabilities is running. */
export function isEvaluatingAny(run: Run, tokens: readonly CapabilityToken[]): boolean {
  return tokens.some((token) => isEvaluated(run, token))
}

function isEvaluated(run: Run, token: CapabilityToken): boolean {
  for (const own of run.call.evaluated) if (isSame(run, own, token)) return true
  return false
}

/**
 * Runs `body` with the capability granted. A capability of another module needs admin rights, even if it is granted
 * already.
 * @param byLedger true for calls of the ledger, which need no admin rights
 */
export function withCapability<T>(run: Run, token: CapabilityToken, body: () => T, byLedger = false): T {
  const fun = funOf(run, token)
  if (!byLedger && !fun.module.isSame(run.module)) requireAdmin(run, fun.module)
  if (isGranted(run, token)) return body()
  grant(run, fun, token, true)
  const depth = run.call.slots.length
  const result = body()
  // Test natives may have pushed more slots meanwhile.
  while (run.call.slots.length >= depth) run.call.slots.pop()
  return result
}

/** Evaluates the governance capability of a module on behalf of code outside that module. */
export function evaluateGovernance(run: Run, token: CapabilityToken, module: Module): void {
  const fun = module.get(token.name.slice(module.name.length + 1))
  if (!(fun instanceof Fun)) throw evalError(`No such capability: ${token.name}`)
  if (isGranted(run, token)) return
  grant(run, fun, token, true)
  run.call.slots.pop()
}

/** Grants a capability for the rest of the command or test, without a body. */
export function grantForTest(run: Run, token: CapabilityToken): void {
  const fun = funOf(run, token)
  const isKnown = isInstalled(run, fun, token) || listedFor(run, fun, token) !== undefined
  if (fun.managed !== null && !isKnown) installCapability(run, token)
  if (isGranted(run, token)) return
  grant(run, fun, token, false)
  if (fun.managed !== null || fun.isEvent) run.call.slots.pop()
}

/** Runs `body` with tokens granted unconditionally; for the ledger's own capabilities. */
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
 * Composes a capability into the one whose body is running.
 *
 * As of language release 5.4.1, a capability of another module needs admin rights unless it is granted already. Release
 * 5.4 lets any module compose it.
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
  run.charge(PRICE.granted * grantedCount(run.call))
  if (isGranted(run, token)) return
  run.work(MESSAGE_WORK * weightOf(token))
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
  run.work(run.transaction.installed.length)
  return run.transaction.installed.find((each) => each.fun === fun.qualified && areEqual(run, each.fixed, fixed))
}

function install(run: Run, fun: Fun, token: CapabilityToken): Installed {
  const by = fun.managed?.by ?? null
  const left = by === null ? undefined : token.args[by.param]
  const installed = { fun: fun.qualified, fixed: fixedArgs(fun, token.args), token, left, isUsed: false }
  run.transaction.installed.push(installed)
  return installed
}

/** Finds the capability that a signer lists for a token, ignoring the managed argument. */
function listedFor(run: Run, fun: Fun, token: CapabilityToken): CapabilityToken | undefined {
  const fixed = fixedArgs(fun, token.args)
  const named = tokensByName(run.transaction.message.signers).get(token.name) ?? []
  return named.find((each) => areEqual(run, fixedArgs(fun, each.args), fixed))
}

/**
 * Finds the installed capability for a token; installs the one that a signer lists if necessary.
 * @throws EvalError if there is neither
 */
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

/** Evaluates a capability and leaves it granted in a slot of its own. */
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
    // While the body runs, guards see the installed token; afterwards the requested token is granted.
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
  installed.left = asValue(run.callFun(own, [installed.left as Value, token.args[param]], NOWHERE))
}

/** @param held token that is granted while the body runs */
function evaluateBody(run: Run, fun: Fun, token: CapabilityToken, held = token): void {
  if (token.args.length !== fun.params.length) throw evalError(`wrong number of arguments for capability ${token.name}`)
  run.call.slots.push({ token: held, composed: [] })
  run.call.evaluated.push(held)
  run.runBody(fun, token.args, NOWHERE)
  run.call.evaluated.pop()
}

function isSame(run: Run, one: CapabilityToken, other: CapabilityToken): boolean {
  if (++run.transaction.comparisons > FREE_COMPARISONS) run.work(1)
  return one.name === other.name && areEqual(run, one.args, other.args)
}

function areEqual(run: Run, one: readonly Value[], other: readonly Value[]): boolean {
  const weight = weightOf(one)
  const isFree = ++run.transaction.comparisons <= FREE_COMPARISONS && weight <= FREE_WEIGHT
  if (!isFree) run.work(COMPARE_WORK + weight)
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

/** All arguments except the managed one. */
function fixedArgs(fun: Fun, args: readonly Value[]): readonly Value[] {
  const param = fun.managed?.by?.param
  return param === undefined ? args : args.filter((_, index) => index !== param)
}

type Signers = Message['signers']
const indexes = new WeakMap<Signers, ReadonlyMap<string, readonly CapabilityToken[]>>()

/** Indexes the capabilities that signers list by name. A signature may list many. */
function tokensByName(signers: Signers): ReadonlyMap<string, readonly CapabilityToken[]> {
  const before = indexes.get(signers)
  if (before !== undefined) return before
  const byName = new Map<string, CapabilityToken[]>()
  for (const tokens of signers.values()) {
    for (const token of tokens) {
      const named = byName.get(token.name)
      if (named === undefined) byName.set(token.name, [token])
      else named.push(token)
    }
  }
  indexes.set(signers, byName)
  return byName
}

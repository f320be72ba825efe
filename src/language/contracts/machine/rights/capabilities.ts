/**
 * Granting of capabilities: by the body of their defcap and, if managed, by the capability list of a signature or by
 * installation. Some operations need admin rights on a module.
 */
import { type ContractError, evalError, NOWHERE, type TextPlace, txFailure } from '../../errors.ts'
import { failure } from '../../failures/failure.ts'
import { splitName } from '../../syntax/names.ts'
import { compareText, equalValues } from '../../values/compare.ts'
import { Decimal } from '../../values/decimal.ts'
import { showCall } from '../../values/print.ts'
import { CapabilityToken, type Value } from '../../values/value.ts'
import { FunctionDefinition, type ManagedParam, type Module, type Run } from '../ast.ts'
import { weightOf } from '../gas/bounds.ts'
import { PRICE } from '../gas/prices.ts'
import type { InstalledCapability, SignerCapabilities } from '../grants.ts'
import { grantedCount } from '../scopes.ts'
import { asValue } from '../term.ts'
import { runAsStep } from '../tracer.ts'
import { callingModule } from './access.ts'

/** Work per unit of weight of a value in an error message. */
const MESSAGE_WORK = 5
/** Comparisons of capabilities: the first ones of small arguments are free; others count by weight. */
const FREE_COMPARISONS = 1000
const FREE_WEIGHT = 500
const COMPARE_WORK = 50

/**
 * @param module name of a module
 * @throws EvalError outside of the module, unless the command has acquired admin rights on it
 */
export function requireInside(run: Run, module: string): void {
  if (callingModule(run)?.name === module || run.transaction.admin.has(module)) return
  throw failure('NO_ADMIN', { module })
}

/** True if a capability is granted anywhere in the call stack. */
export function isGranted(run: Run, token: CapabilityToken): boolean {
  for (const slot of run.call.slots) {
    if (isSame(run, slot.token, token)) return true
    for (const own of slot.composed) if (isSame(run, own, token)) return true
  }
  return false
}

/**
 * True if a signature applies here.
 *
 * A scoped signature counts while one of its capabilities is evaluated. Outside of bodies of capabilities, it counts
 * while one of them is granted. An unscoped one no longer counts once code has installed a capability.
 * @param tokens capabilities that scope the signature
 */
export function signatureApplies(run: Run, tokens: readonly CapabilityToken[]): boolean {
  if (tokens.length === 0) return !run.transaction.hasInstalled
  const isInBody = run.call.evaluated.length > 0
  return tokens.some((token) => (isInBody ? isEvaluated(run, token) : isGranted(run, token)))
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
 * @param options `byLedger` is true for calls of the ledger, which need no admin rights
 * @throws ContractError if the body of the capability or its manager refuses, or without admin rights
 */
export function withCapability<T>(
  run: Run,
  token: CapabilityToken,
  body: () => T,
  { byLedger = false, place = NOWHERE }: { readonly byLedger?: boolean; readonly place?: TextPlace } = {},
): T {
  const fun = funOf(run, token)
  if (!byLedger) requireInside(run, fun.module.name)
  if (isGranted(run, token)) return body()
  grant(run, fun, token, { place })
  const depth = run.call.slots.length
  const result = body()
  // Test natives may have pushed more slots meanwhile.
  while (run.call.slots.length >= depth) run.call.slots.pop()
  return result
}

/**
 * Evaluates the governance capability of a module on behalf of code outside that module.
 * @throws ContractError if it refuses
 */
export function evaluateGovernance(run: Run, token: CapabilityToken, module: Module): void {
  const fun = module.get(token.name.slice(module.name.length + 1))
  if (!(fun instanceof FunctionDefinition)) throw evalError(`No such capability: ${token.name}`)
  if (isGranted(run, token)) return
  grant(run, fun, token)
  run.call.slots.pop()
}

/**
 * Grants a capability for the rest of the test, once its own body has passed. A managed one is only installed, without
 * its manager.
 * @throws EvalError for a managed capability that is installed, and for one that only emits events
 */
export function grantForTest(run: Run, token: CapabilityToken): void {
  const fun = funOf(run, token)
  if (fun.managed !== null || fun.isEvent) install(run, fun, token)
  if (isGranted(run, token)) return
  grant(run, fun, token, { isTest: true })
  if (fun.managed !== null) run.call.slots.pop()
}

/**
 * Grants a capability for the rest of the command, and does not ask its body: the privilege of a node's owner. A managed
 * one is installed. Its body runs when code acquires it.
 * @throws EvalError for the same as grantForTest
 */
export function grantWithoutBody(run: Run, token: CapabilityToken): void {
  const fun = funOf(run, token)
  if (token.args.length !== fun.params.length) throw wrongArguments(token)
  if (fun.managed !== null || fun.isEvent) install(run, fun, token)
  else if (!isGranted(run, token)) run.call.slots.push({ token, composed: [] })
}

/** Runs `body` with tokens granted unconditionally; for the ledger's own capabilities. */
export function withGranted<T>(run: Run, tokens: readonly CapabilityToken[], body: () => T): T {
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
 * @throws ContractError if the capability refuses, or without admin rights
 */
export function composeCapability(run: Run, token: CapabilityToken): void {
  if (isGranted(run, token)) return
  const fun = funOf(run, token)
  if (run.block.rules.isLanguage541) requireInside(run, fun.module.name)
  grant(run, fun, token)
  const own = run.call.slots.pop()
  const around = run.call.slots.at(-1)
  if (own !== undefined) around?.composed.push(own.token, ...own.composed)
}

/** @throws TxFailure unless the capability is granted */
export function requireCapability(run: Run, token: CapabilityToken): void {
  const { tracer, module } = run
  if (tracer === null) requireGranted(run, token)
  else {
    const place = run.call.nativePlace
    const step = { kind: 'guard', name: 'require-capability', args: [token], module, place } as const
    runAsStep(tracer, step, () => requireGranted(run, token))
  }
}

function requireGranted(run: Run, token: CapabilityToken): void {
  const count = grantedCount(run.call)
  run.charge(PRICE.granted * count, () => `GCapOp (CapOpRequire ${count})`)
  if (isGranted(run, token)) return
  run.work(MESSAGE_WORK * weightOf(token))
  throw txFailure(
    `require-capability: not granted: ${showCall(token.name, token.args)}`,
    null,
    `The required capability has not been granted: ${token.name}`,
  )
}

/**
 * Installs a managed capability from code. From then on, unscoped signatures of the command do not count.
 * @throws EvalError for a capability that is not managed, is installed, or is listed by a signer
 */
export function installCapability(run: Run, token: CapabilityToken): void {
  const fun = funOf(run, token)
  install(run, fun, token)
  if (fun.managed?.by != null && findListed(run, fun, token) !== undefined) throw alreadyInstalled(token)
  run.transaction.hasInstalled = true
}

/**
 * Emits the event of a capability from the code of its module.
 * @throws EvalError from other code, and for a capability without event
 */
export function emitEvent(run: Run, token: CapabilityToken): void {
  const fun = funOf(run, token)
  const { module } = fun
  requireInside(run, module.name)
  if (!fun.isEvent && fun.managed === null) {
    throw failure('NO_EVENT', { name: token.name, full: `${token.name}.{${module.hash}}` })
  }
  const calling = callingModule(run)?.name
  if (calling !== module.name) throw failure('EVENT_OF_OTHER_MODULE', { module: calling ?? module.name })
  run.emit(fun, token.args)
}

function findInstalled(run: Run, fun: FunctionDefinition, token: CapabilityToken): InstalledCapability | undefined {
  const fixed = fixedArgs(fun, token.args)
  run.work(run.transaction.installed.length)
  return run.transaction.installed.find((each) => each.fun === fun.qualified && areEqual(run, each.fixed, fixed))
}

/** @throws EvalError for a capability that is not managed, and for one that is installed */
function install(run: Run, fun: FunctionDefinition, token: CapabilityToken): InstalledCapability {
  if (fun.managed === null) throw failure('NOT_MANAGED', { name: token.name })
  if (findInstalled(run, fun, token) !== undefined) throw alreadyInstalled(token)
  const { by } = fun.managed
  const left = by === null ? undefined : token.args[by.param]
  const installed = { fun: fun.qualified, fixed: fixedArgs(fun, token.args), token, left, isUsed: false }
  run.transaction.installed = [...run.transaction.installed, installed]
  return installed
}

function alreadyInstalled({ name, args }: CapabilityToken): ContractError {
  return failure('INSTALLED_BEFORE', { name, token: () => showCall(name, args) })
}

/** Replaces an installed capability, by what it was installed for. A failed attempt may have removed it meanwhile. */
function replaceInstalled(
  run: Run,
  installed: InstalledCapability,
  changes: Pick<InstalledCapability, 'left' | 'isUsed'>,
): void {
  const others = run.transaction.installed.filter(
    (each) => each.fun !== installed.fun || !areEqual(run, each.fixed, installed.fixed),
  )
  run.transaction.installed = [...others, { ...installed, ...changes }]
}

/** Order of managed arguments: texts, then integers, then decimals, each by size. All others are alike. */
function compareAmounts(one: Value, other: Value): number {
  if (typeof one === 'string' && typeof other === 'string') return compareText(one, other)
  if (typeof one === 'bigint' && typeof other === 'bigint') return one < other ? -1 : Number(one > other)
  if (one instanceof Decimal && other instanceof Decimal) return one.compare(other)
  return kindOf(one) - kindOf(other)
}

function kindOf(value: Value): number {
  if (typeof value === 'string') return 0
  if (typeof value === 'bigint') return 1
  return value instanceof Decimal ? 2 : 3
}

/** Finds the smallest capability that a signer lists for a token, ignoring the managed argument. */
function findListed(run: Run, fun: FunctionDefinition, token: CapabilityToken): CapabilityToken | undefined {
  const fixed = fixedArgs(fun, token.args)
  const named = tokensByName(run).get(token.name) ?? []
  const listed = named.filter((each) => areEqual(run, fixedArgs(fun, each.args), fixed))
  const param = fun.managed?.by?.param
  if (param === undefined) return listed[0]
  return listed.toSorted((one, other) => compareAmounts(one.args[param], other.args[param]))[0]
}

/**
 * Finds the installed capability for a token; installs the one that a signer lists if necessary.
 * @throws EvalError if there is neither
 */
function findOrInstall(run: Run, fun: FunctionDefinition, token: CapabilityToken): InstalledCapability {
  const installed = findInstalled(run, fun, token)
  if (installed !== undefined) return installed
  const listed = findListed(run, fun, token)
  if (listed !== undefined) return install(run, fun, listed)
  throw failure('NOT_INSTALLED', { name: token.name, token: () => showCall(token.name, token.args) })
}

/**
 * Evaluates a capability and leaves it granted in a slot of its own.
 *
 * While its body and its manager run, guards see the installed token; afterwards the requested token is granted.
 * @param isTest true to leave out the manager and its event
 */
function grant(
  run: Run,
  fun: FunctionDefinition,
  token: CapabilityToken,
  { isTest = false, place = run.call.nativePlace } = {},
): void {
  const { tracer, module } = run
  if (tracer === null) grantNow(run, fun, token, isTest)
  else {
    const step = { kind: 'capability', name: token.name, args: token.args, module, place } as const
    runAsStep(tracer, step, () => grantNow(run, fun, token, isTest))
  }
}

function grantNow(run: Run, fun: FunctionDefinition, token: CapabilityToken, isTest: boolean): void {
  const { managed } = fun
  const { call } = run
  if (token.args.length !== fun.params.length) throw wrongArguments(token)
  const by = managed?.by ?? null
  const installed = managed === null ? null : findOrInstall(run, fun, token)
  if (installed !== null && by === null) {
    if (installed.isUsed) throw usedTwice()
    replaceInstalled(run, installed, { left: undefined, isUsed: true })
  }
  const held = installed !== null && by !== null ? installed.token : token
  const around = call.evaluated.length
  call.slots.push({ token: held, composed: [] })
  call.evaluated.push(held)
  run.runCapability(fun, token.args)
  if (installed !== null && by !== null && !isTest) askManager(run, fun, installed, by, token)
  call.evaluated.length = around
  if (managed === null ? fun.isEvent : !isTest) run.emit(fun, token.args)
  const slot = call.slots.at(-1)
  if (slot !== undefined) slot.token = token
}

function wrongArguments({ name }: CapabilityToken): ContractError {
  return evalError(`wrong number of arguments for capability ${name}`)
}

function usedTwice(): ContractError {
  return txFailure(
    'One-shot managed capability used more than once',
    null,
    'Managed capabilities can only be used once.',
  )
}

/** Asks the manager for the amount that is left after a request. */
function askManager(
  run: Run,
  fun: FunctionDefinition,
  installed: InstalledCapability,
  { param, name, manager }: ManagedParam,
  token: CapabilityToken,
): void {
  if (manager === null) throw evalError(`${name} is not a function of ${fun.module.name}`)
  const left = asValue(run.callFun(manager, [installed.left as Value, token.args[param]], NOWHERE))
  replaceInstalled(run, installed, { left, isUsed: false })
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

/**
 * Makes the token of a capability. Within this transaction, code of an earlier version of a module goes on with that
 * version. A stored token means the capability of the current version, whether it comes from memory or from the disk.
 */
export function tokenOf({ transaction }: Run, fun: FunctionDefinition, args: readonly Value[]): CapabilityToken {
  const token = new CapabilityToken(fun.qualified, args)
  transaction.capabilities.set(token, fun)
  return token
}

function funOf(run: Run, token: CapabilityToken): FunctionDefinition {
  const known = run.transaction.capabilities.get(token)
  if (known !== undefined) return known
  const name = splitName(token.name)
  const module = name === null ? undefined : moduleOf(run, name.module)
  const fun = name === null ? undefined : module?.get(name.member)
  if (!(fun instanceof FunctionDefinition) || fun.kind !== 'defcap')
    throw evalError(`No such capability: ${token.name}`)
  return fun
}

function moduleOf(run: Run, name: string) {
  return run.program.loading?.name === name ? run.program.loading : run.findModule(name)
}

/** All arguments except the managed one. */
function fixedArgs(fun: FunctionDefinition, args: readonly Value[]): readonly Value[] {
  const param = fun.managed?.by?.param
  return param === undefined ? args : args.filter((_, index) => index !== param)
}

/** Indexes the capabilities on first use. Tests may change the signers of a transaction. */
function tokensByName({ transaction }: Run): SignerCapabilities['byName'] {
  const { signers } = transaction.message
  if (transaction.listed?.signers === signers) return transaction.listed.byName
  const byName = new Map<string, CapabilityToken[]>()
  for (const tokens of signers.values()) {
    for (const token of tokens) {
      const named = byName.get(token.name)
      if (named === undefined) byName.set(token.name, [token])
      else named.push(token)
    }
  }
  transaction.listed = { signers, byName }
  return byName
}

/** Natives for capabilities and guards. */
import { evalError, txFailure } from '../errors.ts'
import { Fun, type Module, type Run } from '../machine/ast.ts'
import { composeCapability, installCapability, isEvaluatingAny, requireCapability } from '../machine/capabilities.ts'
import { refuseInDefcap } from '../machine/forms.ts'
import { parsePrice } from '../machine/gas-prices.ts'
import { acquireAdmin, enforceGuard } from '../machine/guards.ts'
import { type Arguments, type Native, native } from '../machine/native.ts'
import { pactIdOf, yieldObject } from '../machine/pacts.ts'
import { storable } from '../machine/term.ts'
import { Guard } from '../values/value.ts'

/**
 * Module of the calling code.
 * @throws EvalError at the top level
 */
function moduleOf(args: Arguments<Run>): Module {
  const { module } = args.run
  if (module === null) throw args.error(`${args.native} is allowed in modules only`)
  return module
}

function enforce(name: string): Native<Run> {
  return native(name, 1, 1, (args) => {
    const [guard] = args.all
    if (typeof guard === 'string') args.charge(parsePrice(guard))
    enforceGuard(args.run, typeof guard === 'string' ? guard : args.guard(0))
    return true
  })
}

function emit(args: Arguments<Run>): boolean {
  const event = args.token(0)
  const module = moduleOf(args)
  const fun = event.name.startsWith(`${module.name}.`) ? module.get(event.name.slice(module.name.length + 1)) : null
  if (!(fun instanceof Fun)) throw evalError(`Emitted event does not match module: ${module.name}`)
  if (!fun.isEvent && fun.managed === null) throw evalError(`Invalid event capability: ${event.name}`)
  args.run.emit(fun, event.args)
  return true
}

/**
 * True if the verifier covers a capability whose body is running.
 * @throws TxFailure otherwise
 */
function enforceVerifier(args: Arguments<Run>): boolean {
  const verifier = args.text(0)
  const { transaction, call } = args.run
  if (call.frames.at(-1)?.kind !== 'defcap')
    throw args.error('enforce-verifier: native must be called within a defcap body')
  const tokens = transaction.message.verifiers.get(verifier)
  if (tokens === undefined) throw txFailure(`Verifier ${verifier} failed with the message: not in transaction`)
  if (!isEvaluatingAny(args.run, tokens)) throw txFailure(`Verifier ${verifier} failed with the message: not in scope`)
  return true
}

export const capabilities: readonly Native<Run>[] = [
  enforce('enforce-guard'),
  enforce('enforce-keyset'),
  native('keyset-ref-guard', 1, 1, (args) => {
    const name = args.text(0)
    args.charge(parsePrice(name))
    if (args.run.transaction.state.get('keysets', name) === undefined)
      throw evalError(`Cannot find keyset in database: '${name}`)
    return new Guard({ kind: 'keysetRef', name })
  }),
  native('require-capability', 1, 1, (args) => {
    requireCapability(args.run, args.token(0))
    return true
  }),
  native('compose-capability', 1, 1, (args) => {
    composeCapability(args.run, args.token(0))
    return true
  }),
  native('install-capability', 1, 1, (args) => {
    refuseInDefcap(args.run, 'install-capability', args.place)
    installCapability(args.run, args.token(0))
    return 'Installed capability'
  }),
  native('emit-event', 1, 1, emit),
  native('create-capability-guard', 1, 1, (args) => {
    const token = storable(args.token(0), 'a guard')
    const { module } = args.run
    if (module !== null && !token.name.startsWith(`${module.name}.`))
      throw evalError(`a capability guard of another module: ${token.name}`)
    return new Guard({ kind: 'capability', name: token.name, args: token.args, pactId: null })
  }),
  native('create-capability-pact-guard', 1, 1, (args) => {
    const token = storable(args.token(0), 'a guard')
    return new Guard({ kind: 'capability', name: token.name, args: token.args, pactId: pactIdOf(args.run) })
  }),
  native('create-module-guard', 1, 1, (args) => {
    return new Guard({ kind: 'module', module: moduleOf(args).name, name: args.text(0) })
  }),
  native('create-pact-guard', 1, 1, (args) => {
    return new Guard({ kind: 'pact', pactId: pactIdOf(args.run), name: args.text(0) })
  }),
  native('acquire-module-admin', 1, 1, (args) => {
    const { name } = args.module(0)
    const module = args.run.findModule(name)
    if (module === undefined) throw evalError(`Cannot find module: ${name}`)
    acquireAdmin(args.run, module)
    return `Module admin for module ${name} acquired`
  }),
  native('enforce-verifier', 1, 1, enforceVerifier),
  native('yield', 1, 2, (args) => {
    const data = args.object(0)
    yieldObject(args.run, data, args.has(1) ? args.text(1) : null)
    return data
  }),
]

/** Natives for capabilities and guards. */
import { evalError, txFailure } from '../../errors.ts'
import { failure } from '../../failures/failure.ts'
import type { Run } from '../../machine/ast.ts'
import { yieldObject } from '../../machine/evaluate/pacts.ts'
import { ofTextParse } from '../../machine/gas/cost-names.ts'
import { parsePrice } from '../../machine/gas/prices.ts'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import { callingModule, nativeFailure, refuseInCapability, requireCapabilityBody } from '../../machine/rights/access.ts'
import {
  composeCapability,
  emitEvent,
  installCapability,
  isEvaluatingAny,
  requireCapability,
} from '../../machine/rights/capabilities.ts'
import { acquireAdmin, checkKeysetFormat, enforceGuard } from '../../machine/rights/guards.ts'
import { pactIdOf } from '../../machine/scopes.ts'
import { Guard } from '../../values/value.ts'

function enforce(name: string): Native<Run> {
  return native(name, 1, 1, (args) => {
    const [guard] = args.all
    if (typeof guard === 'string') args.charge(parsePrice(guard), ofTextParse(guard))
    enforceGuard(args.run, typeof guard === 'string' ? guard : args.guard(0))
    return true
  })
}

/**
 * True if the verifier covers a capability whose body is running.
 * @throws TxFailure otherwise
 */
function enforceVerifier(args: Arguments<Run>): boolean {
  const verifier = args.text(0)
  requireCapabilityBody(args.run, args.native, args.place)
  const tokens = args.run.transaction.message.verifiers.get(verifier)
  const failure = (message: string) =>
    txFailure(
      `Verifier failure ${verifier}: ${message}`,
      null,
      `Verifier ${verifier} failed with the message: ${message}`,
    )
  if (tokens === undefined) throw failure('not in transaction')
  if (!isEvaluatingAny(args.run, tokens)) throw failure('not in scope')
  return true
}

export const capabilities: readonly Native<Run>[] = [
  enforce('enforce-guard'),
  enforce('enforce-keyset'),
  native('keyset-ref-guard', 1, 1, (args) => {
    const name = args.text(0)
    args.charge(parsePrice(name), ofTextParse(name))
    checkKeysetFormat(name)
    if (args.run.transaction.state.get('keysets', name) === undefined) throw failure('NO_KEYSET', { name })
    return new Guard({ kind: 'keysetRef', name })
  }),
  native('require-capability', 1, 1, (args) => {
    requireCapability(args.run, args.token(0))
    return true
  }),
  native('compose-capability', 1, 1, (args) => {
    requireCapabilityBody(args.run, args.native, args.place)
    composeCapability(args.run, args.token(0))
    return true
  }),
  native('install-capability', 1, 1, (args) => {
    const token = args.token(0)
    refuseInCapability(args.run, args.native, args.place)
    installCapability(args.run, token)
    return 'Installed capability'
  }),
  native('emit-event', 1, 1, (args) => {
    emitEvent(args.run, args.token(0))
    return true
  }),
  native('create-capability-guard', 1, 1, (args) => {
    const token = args.token(0)
    return new Guard({ kind: 'capability', name: token.name, args: token.args, pactId: null })
  }),
  native('create-capability-pact-guard', 1, 1, (args) => {
    const token = args.token(0)
    return new Guard({ kind: 'capability', name: token.name, args: token.args, pactId: pactIdOf(args.run) })
  }),
  native('create-module-guard', 1, 1, (args) => {
    const name = args.text(0)
    const module = callingModule(args.run)
    if (module === null) {
      throw nativeFailure(args.native, 'create-module-guard: must call within module', args.place)
    }
    return new Guard({ kind: 'module', module: module.name, name })
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
  // A call of a pact within a step of another continues it; the word only says so.
  native('continue', 1, 1, ({ all: [term] }) => term),
  native('yield', 1, 2, (args) => {
    const data = args.object(0)
    yieldObject(args.run, data, args.has(1) ? args.text(1) : null)
    return data
  }),
]

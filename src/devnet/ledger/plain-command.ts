/**
 * Recognizes commands that cannot take long whatever the state: a few calls of the coin contract with literal
 * arguments, on accounts with ordinary keysets, and arithmetic on literals. The node executes them without a thread.
 */
import type { Module } from '#language/contracts/machine/ast.ts'
import type { ReadableState } from '#language/contracts/machine/state.ts'
import type { CallForm, Form } from '#language/contracts/syntax/form.ts'
import { Guard, type Value } from '#language/contracts/values/value.ts'
import type { Command } from '../command/command.ts'
import { isGasPayer } from './gas.ts'

/** Maximum characters of such a command, and bytes of its data: parsing them takes well below a millisecond. */
const MAX_CHARACTERS = 4096
/** Maximum calls in its code. */
const MAX_CALLS = 4
/** Maximum keys of the keyset of an account: each is compared with the signers. */
const MAX_KEYS = 16
/** Functions of the coin contract that run no code of others, and how many of their arguments are accounts. */
const FUNCTIONS: ReadonlyMap<string, number> = new Map([
  ['coin.transfer', 2],
  ['coin.transfer-create', 2],
  ['coin.get-balance', 1],
  ['coin.details', 1],
])
/** Natives that take no longer than their arguments are long, if all of them are literals. */
const ARITHMETIC: readonly string[] = ['+', '-', '*', '=', '!=', '<', '<=', '>', '>=']
/** Maximum levels of arithmetic. */
const MAX_LEVELS = 8
const PREDICATES: readonly string[] = ['keys-all', 'keys-any', 'keys-2']

/** @param genesis state after the first block, whose coin contract is known */
export function isPlainCommand(state: ReadableState, genesis: ReadableState, command: Command): boolean {
  const { payload, cmd, verifiers } = command
  if (payload.kind !== 'exec' || cmd.length > MAX_CHARACTERS || verifiers.length > 0) return false
  if (!hasPlainPayer(state, genesis, command)) return false
  if (payload.code.fault !== null) return false
  const { forms } = payload.code
  return forms.length <= MAX_CALLS && forms.every((form) => isPlainCall(state, form))
}

/** Whether buying the gas of a command cannot take long: the sender pays, whose account has an ordinary keyset. */
export function hasPlainPayer(state: ReadableState, genesis: ReadableState, { grants, meta, cmd }: Command): boolean {
  if (cmd.length > MAX_CHARACTERS || !isPlainAccount(state, meta.sender)) return false
  const coin = state.get<Module>('modules', 'coin')
  if (coin === undefined || !isSame(coin, genesis.get<Module>('modules', 'coin'))) return false
  for (const tokens of grants.values()) if (tokens.some(isGasPayer)) return false
  return true
}

/** Whether a module is one that is known: the module itself, or one with its text in a forked network. */
function isSame(module: Module, known: Module | undefined): boolean {
  if (module === known) return true
  return (
    module.hash === known?.hash && module.code === known.code && module.dependencies.size === known.dependencies.size
  )
}

function isPlainCall(state: ReadableState, form: Form): boolean {
  if (form.form !== 'call' || isArithmetic(form)) return isArithmetic(form)
  const [head, ...args] = form.items
  if (head?.form !== 'atom' || head.member !== null) return false
  const accounts = FUNCTIONS.get(head.name)
  if (accounts === undefined || !args.every((arg) => isLiteral(arg) || isKeysetOfData(arg))) return false
  return args.slice(0, accounts).every((arg) => arg.form === 'string' && isPlainAccount(state, arg.value))
}

function isArithmetic(form: Form, level = 0): boolean {
  if (form.form !== 'call') return isLiteral(form)
  const [head, ...args] = form.items
  if (head?.form !== 'atom' || !ARITHMETIC.includes(head.name) || level === MAX_LEVELS) return false
  return args.every((arg) => isArithmetic(arg, level + 1))
}

const isLiteral = ({ form }: Form) => form === 'string' || form === 'number'

/** `(read-keyset "name")` */
function isKeysetOfData(form: Form): boolean {
  if (form.form !== 'call') return false
  const [head, name] = (form as CallForm).items
  return form.items.length === 2 && head.form === 'atom' && head.name === 'read-keyset' && name.form === 'string'
}

/** Whether an account does not exist, or has a guard that runs no code. */
function isPlainAccount(state: ReadableState, account: string): boolean {
  const row = state.get<ReadonlyMap<string, Value>>('table:coin.coin-table', account)
  if (row === undefined) return true
  const guard = row.get('guard')
  if (!(guard instanceof Guard)) return false
  return isPlainKeyset(guard.is.kind === 'keysetRef' ? state.get<Guard>('keysets', guard.is.name) : guard)
}

function isPlainKeyset(guard: Guard | undefined): boolean {
  if (guard?.is.kind !== 'keyset') return false
  return guard.is.keys.length <= MAX_KEYS && PREDICATES.includes(guard.is.predicate)
}

/** Describes a signed command in printable texts of limited length. */
import { printable } from '#ground/base/printable.ts'
import type { CommandAction, LoggedCommand } from '#ground/schema/devnet-events.ts'
import type { Form } from '#language/contracts/syntax/form.ts'
import type { CommandCode } from '../command/code.ts'
import type { Command } from '../command/command.ts'

/** Request keys and ids of pacts are shorter. */
export const MAX_KEY = 64
/** Account names have at most this many characters. */
const MAX_ACCOUNT = 256
const MAX_AMOUNT = 80
const MAX_CODE = 200
/** Longer code is more than a transfer, and is not parsed. */
const MAX_TRANSFER = 2000

/** Finds possible transfers, at a fraction of the time of parsing the code. */
const MAYBE_TRANSFER = /^\s*\(\s*[^\s()"';]+\.transfer(?:-create|-crosschain)?\s/

/** Function of a token -> its number of arguments, and the positions of the amount and the target chain. */
const transfers: Readonly<
  Record<string, { readonly count: number; readonly amount: number; readonly chain?: number }>
> = {
  transfer: { count: 3, amount: 2 },
  'transfer-create': { count: 4, amount: 3 },
  'transfer-crosschain': { count: 5, amount: 4, chain: 3 },
}

export function describeCommand({ key, meta, payload }: Pick<Command, 'key' | 'meta' | 'payload'>): LoggedCommand {
  const action: CommandAction =
    payload.kind === 'cont'
      ? {
          kind: 'continuation',
          pactId: printable(payload.pactId, MAX_KEY),
          step: payload.step,
          isRollback: payload.isRollback,
        }
      : (transferIn(payload.code) ?? { kind: 'code', code: printable(payload.code.text, MAX_CODE) })
  return { requestKey: printable(key, MAX_KEY), sender: printable(meta.sender, MAX_ACCOUNT), action }
}

/** @returns null unless the code is a single transfer with literal arguments */
function transferIn(code: CommandCode): CommandAction | null {
  const { text } = code
  if (text.length > MAX_TRANSFER || !MAYBE_TRANSFER.test(text) || code.fault !== null) return null
  const [call, ...others] = code.forms
  if (call?.form !== 'call' || others.length > 0) return null
  const [head, ...args] = call.items
  if (head.form !== 'atom') return null
  const dot = head.name.lastIndexOf('.')
  const shape = transfers[head.name.slice(dot + 1)]
  if (shape === undefined || args.length !== shape.count) return null
  const [sender, receiver] = [textOf(args[0]), textOf(args[1])]
  const amount = args[shape.amount]
  const toChain = shape.chain === undefined ? null : textOf(args[shape.chain])
  if (sender === null || receiver === null || amount.form !== 'number') return null
  if (shape.chain !== undefined && toChain === null) return null
  return {
    kind: 'transfer',
    sender,
    receiver,
    amount: printable(text.slice(amount.from, amount.to), MAX_AMOUNT),
    token: printable(head.name.slice(0, dot), MAX_ACCOUNT),
    toChain,
  }
}

const textOf = (form: Form) => (form.form === 'string' ? printable(form.value, MAX_ACCOUNT) : null)

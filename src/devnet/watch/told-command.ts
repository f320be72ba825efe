/** Reads a signed command into printable texts of limited length. */
import { ContractError } from '../../contracts/errors.ts'
import type { Form } from '../../contracts/syntax/form.ts'
import { read } from '../../contracts/syntax/reader.ts'
import { printable } from '../../core/printable.ts'
import type { CommandAction, ToldCommand } from '../../schema/devnet-events.ts'

/** Request keys and identities of pacts are shorter. */
export const MAX_KEY = 64
/** Account names have at most so many characters. */
const MAX_ACCOUNT = 256
const MAX_AMOUNT = 80
const MAX_CODE = 200
/** Longer code is more than a transfer, and is not read. */
const MAX_TRANSFER = 2000

/** Finds what may be a transfer, at a fraction of the time that reading the code takes. */
const MAYBE_TRANSFER = /^\s*\(\s*[^\s()"';]+\.transfer(?:-create|-crosschain)?\s/

/** Function of a token -> its number of arguments, and which of them are the amount and the chain of the receiver. */
const transfers: Readonly<
  Record<string, { readonly count: number; readonly amount: number; readonly chain?: number }>
> = {
  transfer: { count: 3, amount: 2 },
  'transfer-create': { count: 4, amount: 3 },
  'transfer-crosschain': { count: 5, amount: 4, chain: 3 },
}

/** `cmd`: of a command whose shape was checked. */
export function toldCommand(requestKey: string, cmd: string): ToldCommand {
  const { meta, payload } = JSON.parse(cmd) as {
    readonly meta: { readonly sender: string }
    readonly payload: {
      readonly exec?: { readonly code: string } | null
      readonly cont?: { readonly pactId: string | number; readonly step: number; readonly rollback: boolean } | null
    }
  }
  const { exec, cont } = payload
  const action: CommandAction = cont
    ? {
        kind: 'continuation',
        pactId: printable(String(cont.pactId), MAX_KEY),
        step: cont.step,
        isRollback: cont.rollback,
      }
    : actionOf(exec?.code ?? '')
  return { requestKey: printable(requestKey, MAX_KEY), sender: printable(meta.sender, MAX_ACCOUNT), action }
}

function actionOf(code: string): CommandAction {
  return transferIn(code) ?? { kind: 'code', code: printable(code, MAX_CODE) }
}

/** null: the code is anything but one transfer whose arguments stand in it. */
function transferIn(code: string): CommandAction | null {
  if (code.length > MAX_TRANSFER || !MAYBE_TRANSFER.test(code)) return null
  const [call, ...others] = formsOf(code)
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
    amount: printable(code.slice(amount.from, amount.to), MAX_AMOUNT),
    token: printable(head.name.slice(0, dot), MAX_ACCOUNT),
    toChain,
  }
}

function formsOf(code: string): readonly Form[] {
  try {
    return read(code)
  } catch (error) {
    if (error instanceof ContractError) return []
    throw error
  }
}

const textOf = (form: Form) => (form.form === 'string' ? printable(form.value, MAX_ACCOUNT) : null)

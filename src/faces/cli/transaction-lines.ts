/** The console lines for transactions of a development network. */
import { NO_PRINT, PRINT_ADVICE } from '#ground/base/errors.ts'
import { placeText } from '#ground/base/printable.ts'
import type {
  CommandAction,
  IncludedTransaction,
  TransactionEvent,
  UndoneTransaction,
} from '#ground/schema/devnet-events.ts'
import { type ConsoleLine, place } from './line.ts'

const SHOWN_KEY = 10
const SHOWN_CODE = 72
/** Longer names are cut to their beginning and end: the key of a `k:` account has 64 digits. */
const SHOWN_ACCOUNT = 20
const [ACCOUNT_START, ACCOUNT_END] = [10, 4]
const SHOWN_RESULT = 80
const SHOWN_EVENTS = 3

/** The lines for an event: one, or none for a transaction that another block included at once. */
export function transactionLines(event: TransactionEvent): ConsoleLine[] {
  switch (event.step) {
    case 'pending':
      return [line('pending', 'dim', [chainText(event), commandText(event)])]
    case 'included':
      return [includedLine(event)]
    case 'undone':
      return event.wentTo === 'chain'
        ? []
        : [line('undone', 'yellow', [place(event), commandText(event), undoneText(event)])]
    case 'dropped':
      return [line('dropped', 'red', [chainText(event), commandText(event), event.reason])]
    case 'refused': {
      const { chain, requestKey, action, httpStatus, reason } = event
      const where = chain === null ? [] : [`chain ${chain}`]
      const what = requestKey === null ? `HTTP ${httpStatus}` : shortKey(requestKey)
      return [line('refused', 'red', [...where, what, ...(action === null ? [] : [actionText(action)]), reason])]
    }
    case 'skipped':
      return [line('...', 'dim', [`${event.steps} more transaction steps not shown: too many at once`])]
  }
}

/** The line of a pending transaction: its waiting time, and the origin of blocks. */
export function waitingLine(
  event: Extract<TransactionEvent, { step: 'pending' }>,
  waitedSeconds: number,
  blocksBy: string,
): ConsoleLine {
  const why = `in no block for ${waitedSeconds} s; ${blocksBy}`
  return line('pending', 'yellow', [chainText(event), commandText(event), why])
}

function line(label: string, style: ConsoleLine['style'], parts: readonly string[]): ConsoleLine {
  return { label, style, text: parts.join('  ') }
}

function includedLine(event: IncludedTransaction): ConsoleLine {
  const { status, gas, result, isAgain } = event
  const isFailed = status === 'failure'
  const parts = [
    place(event),
    commandText(event),
    ...(isAgain ? ['included again'] : []),
    `gas ${gas}`,
    isFailed
      ? `${result}${placeText(event.place)}${NO_PRINT.test(result) ? `; ${PRINT_ADVICE}` : ''}`
      : cut(result, SHOWN_RESULT),
    ...eventsText(event),
  ]
  return line(isFailed ? 'failed' : 'ok', isFailed ? 'red' : 'green', parts)
}

/** Leaves out events of the coin: each transaction has one for its fee, and lines of transfers show theirs. */
function eventsText({ events }: IncludedTransaction): string[] {
  const names = events.filter((name) => name !== 'coin.TRANSFER')
  if (names.length === 0) return []
  const more = names.length - SHOWN_EVENTS
  return [`events ${names.slice(0, SHOWN_EVENTS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`]
}

function undoneText({ by, wentTo, reason }: UndoneTransaction): string {
  const cause = by === 'revert' ? 'by a revert' : 'by a reorganisation'
  return `${cause}, ${wentTo === 'pool' ? 'pending again' : `not pending again: ${reason}`}`
}

const chainText = ({ chain }: { readonly chain: number }) => `chain ${chain}`

function commandText({ requestKey, action }: { readonly requestKey: string; readonly action: CommandAction }): string {
  return `${shortKey(requestKey)}  ${actionText(action)}`
}

/** `sender00 -> sender01 10.5`, code, or the step of a pact. */
export function actionText(action: CommandAction): string {
  switch (action.kind) {
    case 'transfer': {
      const { sender, receiver, amount, token, toChain } = action
      const coins = token === 'coin' ? amount : `${amount} ${token}`
      return `${shortAccount(sender)} -> ${shortAccount(receiver)} ${coins}${toChain === null ? '' : ` to chain ${toChain}`}`
    }
    case 'code':
      return cut(action.code, SHOWN_CODE)
    case 'continuation': {
      const { pactId, step, isRollback } = action
      return `${isRollback ? 'rollback' : 'continuation'} of ${shortKey(pactId)} step ${step}`
    }
  }
}

const shortKey = (key: string) => (key.length > SHOWN_KEY ? `${key.slice(0, SHOWN_KEY)}…` : key)
const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

function shortAccount(name: string): string {
  return name.length > SHOWN_ACCOUNT ? `${name.slice(0, ACCOUNT_START)}…${name.slice(-ACCOUNT_END)}` : name
}

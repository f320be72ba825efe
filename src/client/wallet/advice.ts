/**
 * Advice for commands that fail. It depends on where a command failed and on the kind of the failure. The text of a
 * failure counts from its beginning only, since code can quote any text in its own.
 */
import { NO_PRINT, PRINT_ADVICE } from '#ground/base/errors.ts'
import type { CommandError } from '#ground/schema/command-bodies.ts'

/** The command that failed. */
export interface FailedCommand {
  /** The text that was signed. */
  readonly cmd: string
}

interface FailureHint {
  readonly pattern: RegExp
  readonly advice: string | ((match: RegExpMatchArray, command: FailedCommand | undefined) => string)
}

/** How nodes begin a refusal: of a preflight, and of `/send`. */
const REFUSAL =
  /^(?:Validation failed: |One or more transactions were invalid: Transaction "[^"]*" at index \d+ failed with: )/
const BUYING = /^Attempt to buy gas failed with: /
/** How a failed purchase of gas begins, with the request key. */
const BOUGHT = /^(?:"([\w-]{43})" )?Failed to buy gas: /
const GAS = 'coin.GAS'
const MORE_GAS = 'give more gas with `gasLimit`'

/** A check of the fields of a command failed. `/local` gives all such checks in a list. */
function fieldCheck(text: string): RegExp {
  return new RegExp(`^(?:Metadata validation failed: .*|insert error: )?(?:${text})`, 'i')
}

/** The sender could not pay for gas. */
const GAS_RULES: readonly FailureHint[] = [
  {
    pattern: /^Insufficient funds/,
    advice: 'the sender has too few coins on this chain for gas limit times gas price',
  },
  {
    pattern: /^No value found in table coin_coin-table for key: (\S+)/,
    advice: ([, named], command) => {
      // Nodes shorten long names.
      const account = senderOf(command) ?? named
      return `there is no account ${account} on this chain: newcut balance ${account} shows where it is`
    },
  },
  {
    pattern: /^Keyset failure/,
    advice: (_, command) =>
      command !== undefined && isWithoutGas(command)
        ? "no signature allows the purchase of gas: add `cap: '(coin.GAS)'`"
        : 'the sender is guarded by other keys: `key` names who signs, `sender` who pays for gas',
  },
]

const OUT_OF_TIME = fieldCheck(
  'Tx time outside of valid range|Transaction time-to-live|Transaction creation time too far',
)

/** Nodes refuse the command as such. */
const LIMIT_RULES: readonly FailureHint[] = [
  {
    pattern: fieldCheck('Transaction gas limit exceeds'),
    advice: 'give less with `gasLimit`: no block has so much',
  },
  { pattern: fieldCheck('Transaction gas limit \\(\\d+\\) is below'), advice: MORE_GAS },
  {
    pattern: OUT_OF_TIME,
    advice: '`ttl` is at most 48h; is the clock here right?',
  },
  {
    pattern: fieldCheck('Transaction gas price \\(\\S+\\) is below minimum gas price \\((\\S+)\\)'),
    advice: ([, least]) => `give more with \`gasPrice\`: at least ${least}`,
  },
  {
    pattern: fieldCheck("Transaction gas price|Gas price decimal precision|This transaction's gas price"),
    advice: '0.00000001 is the usual `gasPrice`',
  },
]

/** Code failed, by the kind of its failure. */
const CODE_RULES: Readonly<Record<string, readonly FailureHint[]>> = {
  EvalError: [
    { pattern: /^Gas limit "\d+" exceeded/, advice: MORE_GAS },
    { pattern: NO_PRINT, advice: PRINT_ADVICE },
    {
      pattern: /^Managed capability \S+ was not installed\./,
      advice: 'list it with `cap`, with the arguments that the code uses',
    },
  ],
  TxFailure: [
    {
      pattern: /^Keyset failure \( \S+ \): /,
      advice: 'the key that guards this has not signed: `key` names who signs',
    },
  ],
}

/** Advice on a failed result, or undefined. */
export function adviceOnResult(
  { type, message }: Pick<CommandError, 'type' | 'message'>,
  requestKey: string,
  command?: FailedCommand,
): string | undefined {
  // Only the node can name the request key: code cannot quote the hash of the command that contains it.
  const own = `"${requestKey}" `
  if (!message.startsWith(own)) return adviceBy(CODE_RULES[type ?? ''] ?? [], message, command)
  const cause = message.slice(own.length)
  const bought = BOUGHT.exec(cause)
  if (bought !== null) return adviceBy(GAS_RULES, cause.slice(bought[0].length), command)
  return cause.startsWith('Gas limit ') ? MORE_GAS : undefined
}

/** Whether a node refuses a command because of its time. @param text the body of its answer */
export function isOutOfTime(text: string): boolean {
  return OUT_OF_TIME.test(text.replace(REFUSAL, ''))
}

/** Whether a node refuses a command because it cannot read its code. @param text the body of its answer */
export function isUnreadableCode(text: string): boolean {
  return text.replace(REFUSAL, '').startsWith('Pact parse error: ')
}

/** Advice on a refusal by a node, or undefined. @param text the body of its answer */
export function adviceOnRefusal(text: string, command?: FailedCommand): string | undefined {
  const cause = text.replace(REFUSAL, '')
  const purchase = BUYING.exec(cause)
  if (purchase === null) return adviceBy(LIMIT_RULES, cause, command)
  return adviceBy(GAS_RULES, cause.slice(purchase[0].length).replace(BOUGHT, ''), command)
}

function adviceBy(rules: readonly FailureHint[], text: string, command: FailedCommand | undefined): string | undefined {
  for (const { pattern, advice } of rules) {
    const match = text.match(pattern)
    if (match !== null) return typeof advice === 'string' ? advice : advice(match, command)
  }
  return undefined
}

/** The account that was to pay for gas. */
function senderOf(command: FailedCommand | undefined): string | undefined {
  if (command === undefined) return undefined
  const { meta } = JSON.parse(command.cmd) as { readonly meta?: { readonly sender?: string } }
  return meta?.sender
}

/** True if every signature lists capabilities, and none of them is that of gas. */
function isWithoutGas({ cmd }: FailedCommand): boolean {
  const { signers } = JSON.parse(cmd) as {
    signers: readonly { readonly clist?: readonly { readonly name: string }[] }[]
  }
  return signers.every(({ clist = [] }) => clist.length > 0 && clist.every(({ name }) => name !== GAS))
}

/** `newcut balance [ACCOUNT]`: the coins of an account on every chain, once or as they change. */

import type { NodeClient } from '#client/node/client.ts'
import { isRetryable } from '#client/node/errors.ts'
import { type AskOptions, accountOn } from '#client/wallet/ask.ts'
import { checkPayee, paidAccountOn as payeeOn } from '#compose/payee.ts'
import type { Config } from '#faces/cli/config.ts'
import { linePrinter } from '#faces/cli/line.ts'
import type { balanceOptions } from '#faces/cli/options/wallet.ts'
import type { CommandContext, Terminal } from '#faces/cli/terminal.ts'
import { describeError } from '#ground/base/errors.ts'
import type { Decimal } from '#language/contracts/values/decimal.ts'
import { chainsOf, withNode } from './input/with-node.ts'
import { type BalanceReport, balanceJson, balanceLines, totalOf } from './results/balance-lines.ts'

type BalanceConfig = Config<typeof balanceOptions>

/** By default, the account is the payee of the configuration. */
export function runBalance(given: string | undefined, config: BalanceConfig, context: CommandContext): Promise<number> {
  const { account = null, 'public-key': publicKeys = null, json, watch } = config.values
  const payee = {
    account: given ?? account,
    predicate: 'keys-all',
    publicKeys: given === undefined ? publicKeys : null,
  }
  if (given === undefined) checkPayee(payee)
  return withNode(config, context, async (client, stopped) => {
    const name = payee.account ?? payeeOn(client.info.nodeVersion, payee).account
    const { out, nowMs } = context
    const makeView = json ? jsonView : out.isTTY && watch ? terminalView : textView
    const view = makeView(name, context)
    const readBalances: ReadBalances = (chains) => balancesOn(client, name, chains, { signal: stopped, nowMs })
    const balances = await readBalances(chainsOf(client))
    const isNowhere = [...balances.values()].every((each) => each === null)
    view.first(balances, isNowhere && !json ? await guessAt(client, name, { signal: stopped, nowMs: nowMs() }) : '')
    if (watch) await follow(client, { look: readBalances, balances, view }, stopped)
    return 0
  })
}

/** A question for an account with a similar name. */
async function guessAt(client: NodeClient, name: string, call: AskOptions): Promise<string> {
  const { suggestAccount } = await import('#client/wallet/plan.ts')
  return suggestAccount(client, chainsOf(client)[0], name, call)
}

/** @returns the balance on each of these chains, or null for a chain without the account. */
async function balancesOn(
  client: NodeClient,
  name: string,
  chains: readonly number[],
  { signal, nowMs }: { readonly signal: AbortSignal; readonly nowMs: () => number },
) {
  const entries = chains.map(async (chain) => {
    const account = await accountOn(client, chain, name, { signal, nowMs: nowMs() })
    return [chain, account?.balance ?? null] as const
  })
  return new Map<number, Decimal | null>(await Promise.all(entries))
}

/** The display of balances: all of them, then changes. */
interface BalanceView {
  readonly first: (balances: BalanceReport, guess: string) => void
  readonly showChange: (balances: BalanceReport, chain: number, before: Decimal | null) => void
  readonly trouble: (message: string) => void
}

/** Asks for the balances on these chains. */
type ReadBalances = (chains: readonly number[]) => Promise<Map<number, Decimal | null>>

interface BalanceWatch {
  readonly look: ReadBalances
  readonly balances: Map<number, Decimal | null>
  readonly view: BalanceView
}

/**
 * Asks again after each new block of a chain, until the user stops the program. If the node goes down, it says so once,
 * waits for the node, and then asks for all chains.
 */
async function follow(client: NodeClient, { look, balances, view }: BalanceWatch, signal: AbortSignal): Promise<void> {
  let isAway = false
  const onTrouble = (error: unknown) => {
    if (!isAway) view.trouble(describeError(error))
    isAway = true
  }
  const onOpen = () => {
    isAway = false
  }
  for await (const update of client.headerUpdates({ signal, onTrouble, onOpen })) {
    const chains = update.type === 'gap' ? chainsOf(client) : [update.header.chainId]
    try {
      for (const [chain, balance] of await look(chains)) {
        const before = balances.get(chain) ?? null
        if (before?.toString() === balance?.toString()) continue
        balances.set(chain, balance)
        view.showChange(balances, chain, before)
      }
    } catch (error) {
      // The user stopped the program during a request.
      if (signal.aborted) return
      if (!isRetryable(error)) throw error
      onTrouble(error)
    }
  }
}

function jsonView(name: string, { out }: Terminal): BalanceView {
  const print = (balances: BalanceReport) => void out.write(`${balanceJson(name, balances)}\n`)
  return { first: print, showChange: print, trouble: () => undefined }
}

/** Prints all balances once, then a line for each change. */
function textView(name: string, { out, err, environment, nowMs }: Terminal): BalanceView {
  const line = linePrinter(out, environment, nowMs)
  return {
    first: (balances, guess) => void out.write(`${balanceLines(name, balances, guess).join('\n')}\n`),
    showChange: (balances, chain, before) => {
      const now = balances.get(chain) ?? null
      const by = now === null || before === null ? null : now.sub(before)
      const change = by === null ? '' : `  ${by.mantissa > 0n ? '+' : ''}${by.normalise()}`
      const text = `chain ${String(chain).padEnd(2)} ${now?.toSource() ?? 'no account'}${change}  total ${totalOf(balances).toSource()}`
      line({ label: 'changed', style: 'green', text })
    },
    trouble: (text) => linePrinter(err, environment, nowMs)({ label: 'trouble', style: 'yellow', text }),
  }
}

/** Redraws all balances in the same place. */
function terminalView(name: string, { out }: Terminal): BalanceView {
  let height = 0
  let question = ''
  const draw = (balances: BalanceReport, note = '') => {
    const lines = [...balanceLines(name, balances, question), note === '' ? 'Ctrl-C ends it' : note]
    out.write(`${height === 0 ? '' : `\x1b[${height}A\x1b[J`}${lines.join('\n')}\n`)
    height = lines.length
  }
  let shown: BalanceReport = new Map()
  const show = (balances: BalanceReport) => {
    shown = balances
    draw(balances)
  }
  const first = (balances: BalanceReport, guess: string) => {
    question = guess
    show(balances)
  }
  return { first, showChange: show, trouble: (message) => draw(shown, message) }
}

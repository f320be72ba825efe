/** `newcut payouts`: the share of each user in the rewards of a pool, and its sources. `--pay` pays it. */

import type { NodeClient } from '#client/node/client.ts'
import type { NamedKey } from '#client/wallet/known-keys.ts'
import { checkPayee, paidAccountOn } from '#compose/payee.ts'
import { openShareReader, type ShareSource } from '#compose/share-reader.ts'
import type { Config } from '#faces/cli/config.ts'
import { writeFlags } from '#faces/cli/config-file.ts'
import type { payoutsOptions } from '#faces/cli/options/payouts.ts'
import { progressBarFor, progressReporter } from '#faces/cli/progress.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { type Fraction, fractionOf, unitsOf } from '#ground/base/coins.ts'
import { describeError, operatingError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import { systemClock } from '#ground/platform/clock.ts'
import type { ShareReader } from '#mining/accounts/share-store.ts'
import { stateFolder } from '#mining/journal/folder.ts'
import { findPosition } from '#mining/source/node/mining-node.ts'
import type { PoolRules } from '#pool/payouts/assess.ts'
import { type PayoutSetup, payPayouts, reportPayouts } from '#pool/payouts/payout-run.ts'
import type { PayoutReport } from '#pool/payouts/report.ts'
import { type PayoutStorage, payoutStorageIn } from '#pool/payouts/storage.ts'
import { commandErrors } from './input/errors.ts'
import { linkSetup } from './input/fleet-setup.ts'
import { termsOf } from './input/sender.ts'
import { signingKeys } from './input/signing-keys.ts'
import { withNode } from './input/with-node.ts'
import { isOfRun, type PayingRun, payoutLines, waitText } from './results/payouts-lines.ts'
import { StepLines } from './results/step-lines.ts'

type PayoutsConfig = Config<typeof payoutsOptions>

/**
 * Resolves with exit code 1 if a due payment could not be made.
 * @throws NewcutError
 */
export function runPayouts(config: PayoutsConfig, context: CommandContext): Promise<number> {
  const { values } = config
  const { environment, nowMs } = context
  const bar = progressBarFor(context.err, environment, nowMs, values.json)
  const terminal = bar.wrapTerminal(context)
  const print = printerTo(terminal.out)
  const steps = new StepLines(values.json, terminal)
  const divide = async (client: NodeClient, signal: AbortSignal) => {
    const { nodeVersion: network } = client.info
    const keys = values.pay ? signingKeys(values.key, network, (message) => steps.warn(message)) : null
    const folder = folderOf(config, context)
    const source = sourceOf(config, { folder, network, onWarning: (message) => steps.warn(message) })
    const openReader = () => openShareReader(source, systemClock, signal)
    const rules = rulesOf(config, network, keys)
    const onNotice = (message: string) => steps.warn(message)
    const onProgress = progressReporter(bar)
    const storage = payoutStorageIn(folder)
    const setup = setupOf(client, { config, openReader, storage, rules, signal, onNotice, onProgress })
    const { report, run, troubles } =
      keys === null
        ? { report: await reportPayouts(setup), run: null, troubles: [] }
        : await steps.guide(() => pay(setup, { config, keys, steps, blockDelayMs: client.blockDelayMs }), signal)
    bar.clear()
    if (values.json) print(JSON.stringify({ ...report, troubles }))
    else for (const line of payoutLines(report, run)) print(line)
    return troubles.length === 0 ? 0 : 1
  }
  return withNode(config, context, (client, signal) => divide(client, signal).finally(bar.clear))
}

/** The account that blocks pay: that of the options, of the first key, or of the network. */
function rulesOf({ values }: PayoutsConfig, network: string, keys: readonly NamedKey[] | null): PoolRules {
  const { account = null, 'public-key': publicKeys = null, scheme, window, fee, confirmations } = values
  const payee = { account, predicate: 'keys-all', publicKeys }
  checkPayee(payee)
  const byKey = publicKeys === null && keys !== null ? keys[0].account : null
  const pool = account ?? byKey ?? paidAccountOn(network, payee).account
  const percent = exactFractionOf(fee)
  return {
    account: pool,
    network,
    scheme,
    confirmations,
    window: { text: window, value: exactFractionOf(window) },
    fee: { text: fee, value: { numerator: percent.numerator, denominator: percent.denominator * 100n } },
  }
}

/** The options are valid decimal numbers. */
function exactFractionOf(text: string): Fraction {
  const fraction = fractionOf(text)
  if (fraction === null) throw new Error(`${text} is not a decimal number`)
  return fraction
}

function folderOf({ values: { state } }: PayoutsConfig, { environment }: CommandContext): string {
  if (state !== 'off') return state ?? stateFolder(environment, process.platform)
  throw operatingError(commandErrors.stateOff)
}

interface SourceContext {
  readonly folder: string
  readonly network: string
  readonly onWarning: (message: string) => void
}

function sourceOf({ values }: PayoutsConfig, { onWarning, ...own }: SourceContext): ShareSource {
  const { from, fleet, 'http-token': token, 'nats-domain': domain } = values
  if (fleet !== undefined) return { kind: 'fleet', server: { ...linkSetup(values, fleet), domain }, onWarning }
  if (from === undefined) return { kind: 'state', ...own, onWarning }
  const host = from.host.includes(':') ? `[${from.host}]` : from.host
  return { kind: 'miner', url: `http://${host}:${from.port}`, token }
}

interface PayoutParts {
  readonly config: PayoutsConfig
  readonly openReader: () => Promise<ShareReader>
  readonly storage: PayoutStorage
  readonly rules: PoolRules
  readonly signal: AbortSignal
  readonly onNotice: (message: string) => void
  readonly onProgress: OnProgress
}

function setupOf(client: NodeClient, { config, ...rest }: PayoutParts): PayoutSetup {
  const minimum = unitsOf(config.values.minimum) ?? 0n
  return {
    client,
    ...rest,
    network: client.network.network,
    placeOf: (block, signal) => findPosition(client, block, { signal }),
    minimum,
    clock: systemClock,
  }
}

interface PaymentContext {
  readonly config: PayoutsConfig
  readonly keys: readonly NamedKey[]
  readonly steps: StepLines
  /** Mean time between blocks of a chain. */
  readonly blockDelayMs: number
}

/** Pays. `troubles`: the reasons for due payments that were not made. */
async function pay(
  setup: PayoutSetup,
  { config, keys, steps, blockDelayMs }: PaymentContext,
): Promise<{ readonly report: PayoutReport; readonly run: PayingRun; readonly troubles: readonly string[] }> {
  const run = { since: new Date(setup.clock.wallMs()).toISOString(), settled: new Set<string>() }
  const troubles: string[] = []
  const tell = (message: string) => {
    troubles.push(message)
    steps.warn(message)
  }
  const report = await payPayouts({
    ...setup,
    keys: keys.map(({ key }) => key),
    terms: termsOf(config.values),
    onStep: (step) => {
      if (step.type === 'sent') steps.goOnWith('newcut payouts --pay')
      steps.show(step)
    },
    onTrouble: (chain, error) => {
      const hint = error.hint === undefined ? '' : `; ${error.hint}`
      tell(writeFlags(`chain ${chain}: ${describeError(error)}${hint}`))
    },
    onWaiting: (payouts) => steps.say('waiting', waitText(payouts, setup.rules.confirmations, blockDelayMs)),
    onSettled: ({ requestKey }) => run.settled.add(requestKey),
  })
  const failed = report.payments.filter((payment) => isOfRun(payment, run) && payment.state !== 'paid')
  for (const { chain, account, amount, state, requestKey } of failed) {
    tell(`chain ${chain}: ${amount} for ${account} ${state} (${requestKey}); it is due again`)
  }
  return { report, run, troubles }
}

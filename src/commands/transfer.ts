/** `newcut transfer [FROM] TO AMOUNT`: moves coins on a chain, or from one chain to another. */

import type { NodeClient } from '#client/node/client.ts'
import type { CommandSender } from '#client/wallet/command-sender.ts'
import { completeCrossing, crossingOf } from '#client/wallet/crossing.ts'
import { checkGasPayer, planTransfer } from '#client/wallet/plan.ts'
import { type Keyset, readAmount, type Transfer } from '#client/wallet/transfer.ts'
import type { Config } from '#faces/cli/config.ts'
import type { transferOptions } from '#faces/cli/options/wallet.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { publicKeyIn, publicKeyProblem } from '#faces/cli/values.ts'
import { operatingError } from '#ground/base/errors.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import { readJsonArgument } from './input/code-argument.ts'
import { commandErrors } from './input/errors.ts'
import { checkRequestKey, commandSenderFor, findResult, termsOf } from './input/sender.ts'
import { signingKeys } from './input/signing-keys.ts'
import { checkChain, withNode } from './input/with-node.ts'
import { StepLines } from './results/step-lines.ts'
import { resultJson } from './results/value-lines.ts'

type TransferConfig = Config<typeof transferOptions>

/** The parts of a transfer. */
interface TransferContext {
  readonly client: NodeClient
  readonly commandSender: CommandSender
  readonly steps: StepLines
  readonly keys: ReturnType<typeof signingKeys>
  readonly config: TransferConfig
  readonly signal: AbortSignal
  /** Unix time in milliseconds. */
  readonly nowMs: () => number
}

/**
 * Moves coins, and prints the result.
 * @throws NewcutError before it sends a transfer that cannot work
 */
export function runTransfer(args: readonly string[], config: TransferConfig, context: CommandContext): Promise<number> {
  const print = printerTo(context.out)
  const { values } = config
  const wanted = requestOf(args, config)
  const steps = new StepLines(values.json, context)
  return withNode(config, context, (client, signal) =>
    steps.guide(async () => {
      const keys = signingKeys(values.key, client.info.nodeVersion, (message) => steps.warn(message))
      const commandSender = commandSenderFor(client, values, steps.show, signal)
      const { nowMs } = context
      const setting: TransferContext = { client, commandSender, steps, keys, config, signal, nowMs }
      const done = wanted === null ? await continueTransfer(setting) : await move(setting, wanted)
      print(values.json ? resultJson(done.chain, done.result) : done.text)
      return 0
    }, signal),
  )
}

/** @returns receiver, amount and the optional sender, or null to continue an earlier transfer. */
interface TransferRequest extends Omit<Transfer, 'from'> {
  readonly from: string | null
  readonly receiverKeyset: Keyset | null
}

function requestOf(args: readonly string[], config: TransferConfig): TransferRequest | null {
  const { continue: requestKey, 'receiver-keyset': keyset } = config.values
  if (requestKey !== undefined) {
    checkRequestKey(requestKey, '--continue')
    if (args.length === 0) return null
    throw operatingError(commandErrors.continuedTransfer, { words: args.join(' ') })
  }
  if (args.length < 2 || args.length > 3) {
    throw operatingError(commandErrors.transferArguments)
  }
  const [to, amount] = args.slice(-2)
  const receiverKeyset = keyset === undefined ? null : keysetIn(readJsonArgument(keyset, '--receiver-keyset'))
  return { from: args.length === 3 ? args[0] : null, to, amount: readAmount(amount), receiverKeyset }
}

function keysetIn(json: string): Keyset {
  const { keys, pred = 'keys-all' } = (parsePlainJson(json) ?? {}) as {
    readonly keys?: unknown
    readonly pred?: unknown
  }
  const isKeys = Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'string')
  if (isKeys && typeof pred === 'string') return { keys: keys.map(withoutPrefix), pred }
  throw operatingError(commandErrors.notKeyset, { json })
}

/**
 * @returns the public key of `k:KEY`. The network judges other keys.
 * @throws NewcutError BAD_OPTION for a `k:` without a valid key, because its coins could not be spent
 */
function withoutPrefix(key: string): string {
  if (!key.startsWith('k:')) return key
  const publicKey = publicKeyIn(key)
  if (publicKey !== undefined) return publicKey
  throw operatingError(commandErrors.wrongKeyOfKeyset, { key, problem: publicKeyProblem(key) ?? 'is not a public key' })
}

interface TransferOutcome {
  readonly chain: number
  readonly result: CommandResult
  readonly text: string
}

async function move(
  setting: TransferContext,
  { from, to, amount, receiverKeyset }: TransferRequest,
): Promise<TransferOutcome> {
  const { client, commandSender, steps, keys, config, signal, nowMs } = setting
  const { chain, 'to-chain': targetChain = chain, 'gas-payer': payer } = config.values
  checkChain(client, chain, '--chain')
  checkChain(client, targetChain, '--to-chain')
  const transfer = { from: from ?? keys[0].account, to, amount }
  const signers = keys.map(({ key }) => key)
  const request = { transfer, chain, targetChain, keys: signers, receiverKeyset, terms: termsOf(config.values) }
  const gasPayer = payer ?? transfer.from
  const planned = await planTransfer(client, { ...request, gasPayer }, { signal, nowMs: nowMs() })
  const moved = `${amount} coins from ${transfer.from} to ${to}`
  if (chain === targetChain) {
    const result = await commandSender.submitAndWait(planned)
    return { chain, result, text: `moved ${moved} on chain ${chain}` }
  }
  steps.say('step 1', `of 2: take ${amount} coins from ${transfer.from} on chain ${chain}`)
  const first = await commandSender.submit(planned)
  steps.goOnWith(continueLine(first.hash, chain))
  const result = await complete(setting, {
    chain,
    result: await commandSender.waitForResult(chain, first.hash, first),
    gasPayer,
  })
  return { ...result, text: `moved ${moved}, from chain ${chain} to chain ${targetChain}` }
}

/** Step 2 of a transfer whose step 1 is in the chain. */
async function complete(
  { commandSender, steps, keys }: TransferContext,
  { chain, result, gasPayer }: { readonly chain: number; readonly result: CommandResult; readonly gasPayer: string },
): Promise<Omit<TransferOutcome, 'text'>> {
  const crossing = crossingOf(result, chain)
  const { targetChain } = crossing
  steps.halfway(continueLine(crossing.requestKey, chain))
  steps.say('step 2', `of 2: give them out on chain ${targetChain}, where ${gasPayer} pays for gas`)
  const last = await completeCrossing(commandSender, crossing, { gasPayer, keys: keys.map(({ key }) => key) })
  if (last !== null) return { chain: targetChain, result: last }
  steps.say('done', `somebody has already continued it on chain ${targetChain}`)
  return { chain, result }
}

const continueLine = (requestKey: string, chain: number) => `newcut transfer --continue ${requestKey} --chain ${chain}`

/** `--continue`: finds step 1, or waits for it on the chain that was named. */
async function continueTransfer(setting: TransferContext): Promise<TransferOutcome> {
  const { client, commandSender, steps, keys, config, signal, nowMs } = setting
  const { continue: requestKey = '', 'gas-payer': payer } = config.values
  const chain = config.origins.get('chain') === 'default' ? null : config.values.chain
  if (chain !== null) checkChain(client, chain, '--chain')
  const first =
    chain === null
      ? await findResult(client, requestKey, signal)
      : { chain, result: await commandSender.waitForResult(chain, requestKey) }
  if (first === null) {
    throw operatingError(commandErrors.noResult, { key: requestKey, what: 'its first step' })
  }
  steps.halfway(continueLine(requestKey, first.chain))
  const { targetChain } = crossingOf(first.result, first.chain)
  const sender = first.result.continuation?.continuation.args[0]
  const gasPayer = payer ?? (typeof sender === 'string' ? sender : keys[0].account)
  const payment = { gasPayer, targetChain, keys: keys.map(({ key }) => key), terms: termsOf(config.values) }
  await checkGasPayer(client, payment, { signal, nowMs: nowMs() })
  const last = await complete(setting, { ...first, gasPayer })
  return { ...last, text: `the transfer from chain ${first.chain} is complete on chain ${targetChain}` }
}

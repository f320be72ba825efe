/** `newcut fund ACCOUNT AMOUNT`: mints coins for an account of a development network. */

import { NodeRefusal } from '#client/node/errors.ts'
import { Requests } from '#client/node/requests.ts'
import { readAmount } from '#client/wallet/transfer.ts'
import type { Config } from '#faces/cli/config.ts'
import type { fundOptions } from '#faces/cli/options/wallet.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import type { ExactJson } from '#ground/base/json.ts'
import { controlOperations, type DevnetStatus } from '#ground/schema/control.ts'
import { fundRequest } from '#ground/schema/fund-request.ts'
import { valueFromJson, valueToJson } from '#language/contracts/values/wire.ts'
import { commandErrors } from './input/errors.ts'
import { checkChain, withNode } from './input/with-node.ts'
import { valueText, withoutControls } from './results/value-lines.ts'

/** The block may have to wait for the proof of work of a network. */
const TIMEOUT_MS = 60_000

interface RunResult {
  readonly status: string
  readonly data?: ExactJson
  readonly error?: { readonly message?: string }
}

/** @throws BAD_OPTION for an invalid amount, NODE_REFUSED for an account that cannot get coins */
export function runFund(
  [account, given]: readonly [account: string, amount: string],
  config: Config<typeof fundOptions>,
  { out, untilStopped }: CommandContext,
): Promise<number> {
  const print = printerTo(out)
  const amount = String(readAmount(given))
  const { chain, json } = config.values
  return withNode(config, { untilStopped }, async (client, signal) => {
    checkChain(client, chain, '--chain')
    const requests = new Requests(client.http, '')
    const status = await requests.json(controlOperations.devnetStatus, { signal }).catch((error: unknown) => {
      throw isUnserved(error) ? noControlError(error) : error
    })
    // An older newcut does not say.
    const { minting = 'coinbase' } = status.body as Partial<DevnetStatus>
    const body = fundRequest({ account, amount, chain }, minting)
    const ran = await requests.json(controlOperations.run, { body, signal, timeoutMs: TIMEOUT_MS })
    const { result, ...about } = ran.body as { readonly result: RunResult } & Record<string, unknown>
    if (result.status !== 'success') throw fundError(account, chain, result)
    const balance = valueFromJson(result.data ?? null)
    if (json) {
      const { requestKey, height, hash } = about
      const facts = JSON.stringify({ account, chain, amount, requestKey, height, hash })
      print(`${facts.slice(0, -1)},"balance":${valueToJson(balance)}}`)
    } else print(`${amount} coins for ${account} on chain ${chain}, which now has ${valueText(balance)}`)
    return 0
  })
}

function fundError(account: string, chain: number, { status, error }: RunResult): NewcutError {
  const message = withoutControls(error?.message ?? status)
  const isMissing = message.includes('No value found in table')
  const why = isMissing ? `there is no such account on chain ${chain}` : message
  const advice = isMissing
    ? 'a new account must be k:KEY, with the public key that guards it'
    : `newcut balance ${account} shows the coins that it has`
  return operatingError(commandErrors.notFunded, { account, reason: why, advice })
}

/** Whether the node has no control requests at all. */
function isUnserved(error: unknown): error is NodeRefusal {
  return error instanceof NodeRefusal && error.status === 404 && error.excerpt === ''
}

function noControlError(cause: NodeRefusal): NewcutError {
  return operatingError(commandErrors.noControl, undefined, cause)
}

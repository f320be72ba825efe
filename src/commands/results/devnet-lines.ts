/** The first lines of `newcut devnet`, and its events about accounts and requests. */

import type { Devnet, ServedRequest } from '#compose/devnet.ts'
import { isPageOn, PAGE_PATH } from '#compose/mine-page.ts'
import { type Payee, paidAccountOn, paidLine } from '#compose/payee.ts'
import type { ConsoleEvent } from '#faces/cli/notices.ts'
import type { devnetOptions } from '#faces/cli/options/devnet.ts'
import type { Values } from '#faces/cli/options/row.ts'
import { printable } from '#ground/base/printable.ts'
import { DEVELOPMENT_PHRASE, developmentAccounts, phrasePath } from '#ground/chain/development-accounts.ts'
import { development } from '#ground/chain/network-data.ts'
import { describeAutoMine } from '#ground/schema/devnet-modes.ts'
import { pinText } from '#language/copy/pin.ts'
import { networkLine } from './network-lines.ts'

type DevnetValues = Values<typeof devnetOptions>

/** Whether the node serves the page /mine. */
export const hasPage = (values: DevnetValues) => isPageOn(values['mine-page'], development.name)

/** The first key that may mine; without such keys, the built-in key. */
export function payeeOf(values: DevnetValues): Payee {
  const [key] = values['mining-public-key'] ?? []
  return { account: null, predicate: 'keys-all', publicKeys: key === undefined ? null : [key] }
}

/** Its last line is the address for a browser, which is in sight when the banner fills the terminal. */
export function devnetBanner(devnet: Devnet, values: DevnetValues): string[] {
  const { blocks, cut, network, url } = devnet
  const api = `${url}/${values.product}/0.0/${network.name}`
  return [
    networkLine(devnet),
    ...(values.data === undefined ? [] : [`data: ${values.data}, ${blocks} blocks`]),
    ...(values['state-file'] === undefined
      ? []
      : [`state: ${values['state-file']}, ${blocks} blocks; saved at the end`]),
    ...forkLines(devnet),
    ...blockLines(devnet, values),
    ...impersonationLines(values),
    ...(values['allow-print'] ? ['print: contracts may call it, which live networks refuse'] : []),
    ...accountLines(devnet),
    ...(values.mine ? [paidLine(paidAccountOn(network.name, payeeOf(values)))] : []),
    `clients: ${api}/chain/0/pact${cut.size === 1 ? '' : ` (chains 0 to ${cut.size - 1})`}`,
    `mine it: newcut mine --node ${url}`,
    ...(hasPage(values) ? [`mine in a browser: ${url}${PAGE_PATH}`] : []),
    `try its calls in a browser: ${url}/explorer/api`,
    `control it: ${url}/devnet/status`,
    `see it in a browser: ${url}/`,
  ]
}

/** Whose signatures are not checked. */
function impersonationLines({ impersonate = [] }: DevnetValues): string[] {
  if (impersonate.length === 0) return []
  const whose = impersonate.includes('*') ? 'of any key' : `of ${impersonate.join(', ')}`
  return [`impersonation: signatures ${whose} are not checked`]
}

/** Accounts of the phrase, with their keys. */
function accountLines({ accounts }: Devnet): string[] {
  if (accounts.length === 0) return []
  const names = accounts.length === 1 ? '--key account0 signs' : `--key account0 to account${accounts.length - 1} sign`
  return [
    `accounts of the phrase '${DEVELOPMENT_PHRASE}', path ${phrasePath('i')}; ${names}, on no other network:`,
    ...accounts.map(({ account, secretKey }, i) => `  account${i} ${account} secret ${secretKey}`),
  ]
}

/** The fork, the cut with which another run begins at the same blocks, and the danger of a live name. */
function forkLines({ fork, network }: Devnet): string[] {
  if (fork === null) return []
  const { pin, url } = fork
  const lines = [
    `fork: ${pin.network} at height ${pin.height}, from ${url}`,
    `the same fork again: --fork-cut '${pinText(pin)}'`,
  ]
  if (network.name === development.name) return lines
  const what = `what clients sign here is valid on the live ${network.name} until its ttl, two days at most`
  return [...lines, `DANGER: ${what}; newcut sends nothing there, but anybody who sees it can: use no real keys`]
}

/** The origin of blocks, and how to make one if none comes by itself. */
function blockLines({ settings: { autoMine }, url }: Devnet, { mine }: DevnetValues): string[] {
  if (mine) return ['mine: this process mines']
  const order = `make a block: curl -H 'content-type: application/json' -d '{"0":1}' ${url}/make-blocks`
  if (autoMine === null) {
    const hint = '--mine or --auto-mine constant:2s makes them automatically'
    return [`blocks: only from miners and POST /make-blocks; ${hint}`, order]
  }
  return [`auto-mine: ${describeAutoMine(autoMine)}`, ...(autoMine.kind === 'on-demand' ? [order] : [])]
}

const WARNING = 'these keys are public: never use them on another network'

/** Names, keys, coins, and how to sign with them at this node. `GET /devnet/accounts` has them as well. */
export function fundedAccounts(url: string): ConsoleEvent {
  const accounts = developmentAccounts.map(({ balance, ...account }) => ({ ...account, coinsAtGenesis: balance }))
  const hint = `sign as one of them: newcut transfer sender01 1.5 --key sender00 --node ${url}`
  return { type: 'accounts', warning: WARNING, accounts, hint }
}

/** The longest path to show, in characters. */
const MAX_SHOWN_PATH = 200

export function requestEvent({ method, path, status, milliseconds, bytes }: ServedRequest): ConsoleEvent {
  const ms = Math.round(milliseconds * 10) / 10
  return { type: 'request', method, path: printable(path, MAX_SHOWN_PATH), status, ms, bytes }
}

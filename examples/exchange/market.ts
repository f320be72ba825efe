/** The token and the exchange as functions of TypeScript: deploys them, fills a pool, trades. */
import { readFileSync } from 'node:fs'
import type { NodeClient } from 'newcut/node'
import {
  ask,
  type Capability,
  CommandSender,
  callsOf,
  GAS,
  type NamedKey,
  showValue,
  valueFromJson,
} from 'newcut/wallet'
import type { Capabilities, Functions } from './contracts.d.ts'

const CHAIN = 0
const call = callsOf<Functions>()
/** Arguments that are code. */
const COIN = () => 'coin'
const TOKEN = () => 'free.token'
const MINE = () => '(read-keyset "mine")'

type Result = Awaited<ReturnType<CommandSender['submitAndWait']>>

/** An account at the market. Amounts are decimal texts, so nothing is rounded. */
export class Market {
  readonly #client: NodeClient
  readonly #owner: NamedKey
  readonly #sender: CommandSender
  readonly #data: string

  constructor(client: NodeClient, owner: NamedKey) {
    this.#client = client
    this.#owner = owner
    this.#sender = new CommandSender(client, { terms: { gasLimit: 100_000, gasPrice: '0.00000001', ttlMs: 900_000 } })
    const keyset = { keys: [owner.key.publicKey], pred: 'keys-all' }
    this.#data = JSON.stringify({ mine: keyset, upgrade: false })
  }

  /** Deploys both contracts, with keysets of this account as their owners, and makes the pool. */
  async deploy(): Promise<void> {
    const keysets = ['token', 'exchange'].map((name) => `(define-keyset "free.${name}-admin" (read-keyset "mine"))`)
    await this.#send(`(namespace "free") ${keysets.join(' ')}`)
    for (const name of ['token.pact', 'exchange.pact']) await this.#send(readFileSync(name, 'utf8'))
    await this.#send(call('free.exchange.create-pool', COIN, TOKEN))
  }

  async isDeployed(): Promise<boolean> {
    const modules = await this.#ask('(list-modules)')
    return Array.isArray(modules) && modules.includes('free.exchange')
  }

  async mint(amount: string): Promise<Result> {
    return await this.#send(call('free.token.mint', this.#owner.account, MINE, { decimal: amount }))
  }

  async deposit(coins: string, tokens: string): Promise<Result> {
    const { account } = this.#owner
    const first = { decimal: coins }
    const second = { decimal: tokens }
    const caps: [Capabilities['coin.TRANSFER'], Capabilities['free.token.TRANSFER']] = [
      { name: 'coin.TRANSFER', args: [account, await this.reserve(), first] },
      { name: 'free.token.TRANSFER', args: [account, await this.reserve(), second] },
    ]
    return await this.#send(call('free.exchange.deposit', 'coin/free.token', account, MINE, first, second), caps)
  }

  /** Sells coins for at least `minTokens`. */
  async sellCoins(coins: string, minTokens: string): Promise<Result> {
    const { account } = this.#owner
    const amount = { decimal: coins }
    const cap: Capabilities['coin.TRANSFER'] = { name: 'coin.TRANSFER', args: [account, await this.reserve(), amount] }
    const code = call('free.exchange.swap', COIN, TOKEN, account, MINE, amount, { decimal: minTokens })
    return await this.#send(code, [cap])
  }

  /** @returns the account of the pool */
  async reserve(): Promise<string> {
    return String(await this.#ask(`(at "account" ${call('free.exchange.get-pool', COIN, TOKEN)})`))
  }

  /** @returns the tokens that the pool pays for coins now */
  async quote(coins: string): Promise<string> {
    return showValue(await this.#ask(call('free.exchange.quote', COIN, TOKEN, { decimal: coins })))
  }

  async tokens(): Promise<string> {
    return showValue(await this.#ask(call('free.token.get-balance', this.#owner.account)))
  }

  #ask(code: string) {
    return ask(this.#client, CHAIN, { code })
  }

  #send(code: string, capabilities: readonly Capability[] = []): Promise<Result> {
    return this.#sender.submitAndWait({
      chain: CHAIN,
      payload: { code, data: this.#data },
      sender: this.#owner.account,
      keys: [this.#owner.key],
      capabilities: capabilities.length === 0 ? [] : [GAS, ...capabilities],
    })
  }
}

/** Events of a result as lines. The last one is the fee. */
export function eventLines({ events = [] }: Result): string[] {
  return events.map(({ module: { namespace, name: module }, name, params }) => {
    const qualified = [namespace, module, name].filter((part) => part !== null).join('.')
    return [qualified, ...params.map((each) => showValue(valueFromJson(each)))].join(' ')
  })
}

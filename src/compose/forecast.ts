/** The reward of future blocks, as the network of a node has it. */

import type { NodeClient } from '#client/node/client.ts'
import type { Clock } from '#ground/base/clock.ts'
import { NewcutError } from '#ground/base/errors.ts'
import type { RewardCall } from '#ground/chain/coinbase.ts'
import { expectedReward } from '#ground/chain/reward.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import type { MoneyOptions } from '#mining/mine/money.ts'

/** How long an answer counts. */
const ANSWER_MS = 3_600_000
/** Time from a failed call to the next. */
const RETRY_MS = 60_000

export interface ForecastPorts {
  readonly clock: Clock
  /** Receives the trouble of a call. */
  readonly onEvent: (event: MinerEvent) => void
  readonly stopped: AbortSignal
  /** Called with a bug: an error that the node did not cause. */
  readonly onFault: (error: unknown) => void
}

/** The expected reward by height and number of chains. A reader of an answer that is an hour old starts the next call. */
export function forecastOf(
  client: Pick<NodeClient, 'network' | 'info' | 'local' | 'cut'>,
  ports: ForecastPorts,
): NonNullable<MoneyOptions['rewardAt']> {
  const { forecast } = client.network.network
  if (forecast.model === 'none') return () => null
  if (forecast.model === 'table') return expectedReward
  return new CallForecast(client, forecast.call, ports).rewardAt
}

class CallForecast {
  readonly #client: Pick<NodeClient, 'info' | 'network' | 'local' | 'cut'>
  readonly #call: RewardCall
  readonly #ports: ForecastPorts
  #coins: number | null = null
  #dueMs = Number.NEGATIVE_INFINITY
  #isTold = false

  constructor(client: Pick<NodeClient, 'info' | 'network' | 'local' | 'cut'>, call: RewardCall, ports: ForecastPorts) {
    this.#client = client
    this.#call = call
    this.#ports = ports
  }

  readonly rewardAt = (): number | null => {
    const { clock, stopped, onFault } = this.#ports
    const now = clock.monotonicMs()
    if (now >= this.#dueMs && !stopped.aborted) {
      this.#dueMs = now + RETRY_MS
      void this.#ask(now).catch(onFault)
    }
    return this.#coins
  }

  async #ask(now: number): Promise<void> {
    const { stopped } = this.#ports
    try {
      const { fetchReward } = await import('#client/wallet/reward.ts')
      const coins = await fetchReward(this.#client, this.#call, { chain: 0 }, { signal: stopped })
      if (coins === null) return this.#tell('it returned no amount of coins')
      this.#coins = Number(coins)
      this.#dueMs = now + ANSWER_MS
      this.#isTold = false
    } catch (error) {
      if (stopped.aborted) return
      if (!(error instanceof NewcutError)) throw error
      this.#tell(error.message)
    }
  }

  /** Reports the first of several failures in a row. */
  #tell(reason: string): void {
    const { code, chain = 0 } = this.#call
    const message = `the reward of future blocks is unknown: coin.call ${code} on chain ${chain}: ${reason}`
    if (!this.#isTold) this.#ports.onEvent({ type: 'trouble', message })
    this.#isTold = true
  }
}

/** A network with a pool on it: real blocks that pay the pool's account, and prepared shares for them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NodeClient } from '../../src/client/node/client.ts'
import { accountOn } from '../../src/client/wallet/ask.ts'
import { CommandSender } from '../../src/client/wallet/command-sender.ts'
import { type SigningKey, signingKey } from '../../src/client/wallet/keys.ts'
import { knownKey } from '../../src/client/wallet/known-keys.ts'
import { planTransfer } from '../../src/client/wallet/plan.ts'
import { readAmount } from '../../src/client/wallet/transfer.ts'
import { type Devnet, type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { unitsOf } from '../../src/ground/base/coins.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { LevelStore } from '../../src/mining/accounts/level-store.ts'
import type { ShareEntry } from '../../src/mining/accounts/share-store.ts'
import { solve } from '../solve.ts'
import { until } from '../wait.ts'
import { share } from './memory-shares.ts'

/** The n-th key pair and its account. */
export const keyPair = (n: number): { readonly key: SigningKey; readonly account: string; readonly secret: string } => {
  const secret = n.toString(16).padStart(64, '0')
  const key = signingKey(secret)
  return { key, secret, account: `k:${key.publicKey}` }
}

export interface PoolBlock {
  readonly block: string
  readonly chain: number
  readonly height: number
}

export class PoolGround {
  readonly folder = mkdtempSync(join(tmpdir(), 'newcut-payouts-'))
  readonly pool = keyPair(0xf001)
  /** The file with the pool's key. */
  readonly keyFile = join(this.folder, 'pool.key')
  readonly state = join(this.folder, 'state')
  readonly devnet: Devnet
  readonly client: NodeClient
  readonly #begunMs = systemClock.wallMs()
  #shares = 0

  /** Number of steps of all commands: pending, in a block, undone. */
  readonly #steps: () => number

  private constructor(devnet: Devnet, client: NodeClient, steps: () => number) {
    this.devnet = devnet
    this.client = client
    this.#steps = steps
    writeFileSync(this.keyFile, `# secret-key: ${this.pool.secret}\n`, { mode: 0o600 })
    mkdirSync(this.state)
  }

  static async start(options: DevnetOptions = {}): Promise<PoolGround> {
    let steps = 0
    const onTransaction = () => void steps++
    const devnet = await startDevnet({ port: 0, graph: 'pair', pow: false, difficulty: 20n, onTransaction, ...options })
    return new PoolGround(devnet, await NodeClient.connect({ url: devnet.url }), () => steps)
  }

  async close(): Promise<void> {
    await this.client.close()
    await this.devnet.close()
    rmSync(this.folder, { recursive: true })
  }

  /** Mines a block that pays the pool, or another account. */
  async mine(chain: number, account = this.pool.account): Promise<PoolBlock> {
    const miner = { account, predicate: 'keys-all', publicKeys: [account.slice(2)] }
    for (;;) {
      const { work } = await this.client.work(miner, chain)
      const bytes = solve(work.bytes)
      await this.client.solved(bytes)
      const hash = blockHash(bytes)
      const { chainId, height } = work.fields
      await until(async () => (await this.client.cut()).hashes[chainId].height >= height)
      if (chainId === chain) return { block: encodeBase64Url(hash), chain, height: Number(height) }
    }
  }

  /** Makes blocks on top of all chains that pay another account. */
  async bury(blocks: number): Promise<void> {
    await this.order('make-blocks', Object.fromEntries(this.chains.map((chain) => [chain, blocks])))
  }

  /**
   * Makes blocks for commands until a payer has ended: those that include pending ones, and those that make them final.
   * A command may come while blocks are made, and get into the last of them: each step of a command needs more blocks.
   */
  async buryPending<T>(confirmations: number, payer: Promise<T>): Promise<T> {
    let [isOver, seen] = [false, this.#steps()]
    const ended = payer.finally(() => {
      isOver = true
    })
    await until(async () => {
      const steps = this.#steps()
      if (!isOver && (this.devnet.pending > 0 || steps !== seen)) {
        seen = steps
        await this.bury(confirmations)
      }
      return isOver
    })
    return await ended
  }

  /** Replaces the highest blocks of a chain. */
  async orphan(chain: number, depth: number): Promise<void> {
    await this.order('fork', { chain, depth })
  }

  get chains(): number[] {
    return this.client.info.nodeChains.map(Number).sort((a, b) => a - b)
  }

  async order(name: string, body: unknown): Promise<void> {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${this.devnet.url}/devnet/${name}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`)
  }

  /** A share; times increase from call to call. */
  share(user: string, difficulty: number, block: PoolBlock | null = null): ShareEntry {
    const n = ++this.#shares
    return share({
      id: block?.block ?? `s${String(n).padStart(6, '0')}`,
      timeMs: this.#begunMs + n,
      user,
      difficulty,
      block: block?.block ?? null,
      chain: block?.chain ?? 0,
      height: block?.height ?? 1,
    })
  }

  /** Appends shares to the share log of the pool, as its miner does. */
  async keep(...shares: readonly ShareEntry[]): Promise<void> {
    const folder = join(this.state, 'shares')
    mkdirSync(folder, { recursive: true })
    const store = await LevelStore.open({ folder, network: 'development', clock: systemClock })
    await store.append(shares)
    await store.close()
  }

  /** Sends coins for gas to the pool, from an account that the network funds. */
  async fund(chain: number, amount = '1.0'): Promise<void> {
    const { account: from, key } = knownKey('sender00') as { readonly account: string; readonly key: SigningKey }
    const transfer = { from, to: this.pool.account, amount: readAmount(amount) }
    const request = await planTransfer(this.client, { transfer, chain, keys: [key] })
    const commandSender = new CommandSender(this.client)
    const command = commandSender.sign(request)
    await commandSender.send(chain, command)
    await this.bury(2)
    await commandSender.waitForResult(chain, command.hash, command)
  }

  /** Balance in units of 10^-12 coins, or null if the account does not exist. */
  async balance(chain: number, account: string): Promise<bigint | null> {
    const found = await accountOn(this.client, chain, account)
    return found === null ? null : unitsOf(found.balance.toString())
  }
}

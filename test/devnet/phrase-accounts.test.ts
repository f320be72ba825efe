/** Accounts of the phrase that a node funds when it starts. */
import { rm } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { knownKey } from '../../src/client/wallet/known-keys.ts'
import { type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { run, startHere, stopAll } from '../cli/run.ts'
import { startRemote } from '../copy/network.ts'
import { temporaryDirectory } from './grow.ts'

async function start(options: DevnetOptions) {
  const devnet = await startDevnet({ port: 0, graph: 'pair', autoMine: { kind: 'on-demand' }, ...options })
  onTestFinished(() => devnet.close())
  const balance = async (account: string, chain: number) => {
    const { result } = await devnet.run({ chain, code: `(coin.get-balance "${account}")` })
    return (result as { readonly data?: unknown }).data
  }
  return { devnet, balance, heights: () => [...devnet.cut.values()].map(({ height }) => Number(height)) }
}

describe('accounts of the phrase', () => {
  it('accounts of the phrase have coins on every chain, and keys that sign', async () => {
    const { devnet, balance, heights } = await start({ phraseAccounts: 3 })
    expect(devnet.accounts.map(({ account }) => account)).toEqual(
      [0, 1, 2].map((index) => knownKey(`account${index}`)?.account),
    )
    expect(heights()).toEqual([1, 1])
    const [first, , last] = devnet.accounts
    expect(await balance(first.account, 0)).toBe(10_000)
    expect(await balance(last.account, 1)).toBe(10_000)
  })

  it('accounts of the phrase get coins once: after a restart only those that a chain does not have', async () => {
    const dataDir = await temporaryDirectory()
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const before = await start({ dataDir, phraseAccounts: 2 })
    await before.devnet.close()
    const same = await start({ dataDir, phraseAccounts: 2, graph: undefined })
    expect(same.heights()).toEqual([1, 1])
    await same.devnet.close()
    const more = await start({ dataDir, phraseAccounts: 3, graph: undefined })
    expect(more.heights()).toEqual([2, 2])
    const balances = await Promise.all(more.devnet.accounts.map(({ account }) => more.balance(account, 0)))
    expect(balances).toEqual([10_000, 10_000, 10_000])
    await more.devnet.close()
    expect(await checkDataDirectory(dataDir)).toMatchObject({ findings: [] })
  })

  it('accounts of the phrase are funded above the pin of a fork, and with proof of work', async () => {
    const remote = await startRemote()
    const fork = { url: remote.devnet.url, perSecond: 1000 }
    const forked = await start({ fork, graph: undefined, phraseAccounts: 1 })
    expect(await forked.balance(forked.devnet.accounts[0].account, 1)).toBe(10_000)
    const mined = await startDevnet({ port: 0, graph: 'pair', difficulty: 20n, phraseAccounts: 1 })
    onTestFinished(() => mined.close())
    expect(mined.settings.pow).toBe(true)
    expect([...mined.cut.values()].map(({ height }) => Number(height))).toEqual([1, 1])
  })

  it('accounts of the phrase may be more than fit into one block', async () => {
    const { devnet, balance } = await start({ phraseAccounts: 230, graph: 'singleton' })
    expect(await balance(devnet.accounts[229].account, 0)).toBe(10_000)
  })

  it('accounts of the phrase are printed with their keys, which sign by name', async () => {
    onTestFinished(() => stopAll())
    const args = [
      'devnet',
      '--port',
      '0',
      '--auto-mine',
      'on-arrival:0',
      '--graph',
      'pair',
      '--accounts',
      '2',
      '--impersonate',
      '*',
    ]
    const node = startHere(args)
    const [, url] = await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/)
    const [, secret] = await node.sees(/ {2}account1 k:[0-9a-f]{64} secret ([0-9a-f]{64})\n/)
    await node.sees(/\nimpersonation: signatures of any key are not checked\n/)
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    const sent = await run(['transfer', `k:${'ab'.repeat(32)}`, '1.5', '--key', 'account1'], { NEWCUT_NODE: url })
    expect(sent).toMatchObject({ code: 0, out: expect.stringContaining('moved 1.5 coins from k:') })
  })

  it.each([[-1], [1001], [1.5]])('the number of accounts of the phrase cannot be %d', async (phraseAccounts) => {
    await expect(startDevnet({ port: 0, phraseAccounts })).rejects.toMatchObject({
      code: 'BAD_OPTION',
      message: expect.stringContaining('phraseAccounts'),
    })
  })
})

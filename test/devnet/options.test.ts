import { describe, expect, it } from 'vitest'
import { until } from '../wait.ts'
import { jsonOf, start } from './common.ts'
import { grow, temporaryDirectory } from './grow.ts'
import { Peer } from './request.ts'
import { type DevnetOptions, startDevnet } from './whole-node.ts'

/** The error of startDevnet for options from untyped JavaScript. */
const refusal = async (options: unknown) => {
  const devnet = await startDevnet(options as DevnetOptions).catch((error) => error)
  if (!(devnet instanceof Error)) await devnet.close()
  return devnet
}

describe('startDevnet refuses', () => {
  it.each<[object, string]>([
    [{ autoMine: 'on-demand' }, "autoMine: 'on-demand'; expected { kind: 'on-demand' }, { kind: 'on-arrival', "],
    [{ autoMine: { kind: 'constant' } }, "autoMine: { kind: 'constant' }; expected { kind: 'on-demand' }, "],
    [{ autoMine: { kind: 'constant', blockTimeMs: '2s' } }, "autoMine: { kind: 'constant', blockTimeMs: '2s' }; expec"],
    [
      { autoMine: { kind: 'on-arrival', confirmations: 101 } },
      "autoMine: { kind: 'on-arrival', confirmations: 101 }; e",
    ],
    [
      { autoMine: { kind: 'on-arrival', blockTimeMs: 5 } },
      "autoMine: { kind: 'on-arrival', blockTimeMs: 5 }; expected",
    ],
    [{ autoMine: { kind: 'simulated', blockTimeMs: 5 } }, "autoMine: { kind: 'simulated', blockTimeMs: 5 }; expected"],
    [{ difficulty: 1000 }, 'difficulty: 1000; expected a bigint of at least 1 and below 2^256'],
    [{ difficulty: 0n }, 'difficulty: 0n; expected a bigint of at least 1 and below 2^256'],
    [{ graph: 'cube' }, "graph: 'cube'; expected one of 'singleton', 'pair', "],
    [{ port: '1848' }, "port: '1848'; expected a whole number from 0 to 65535"],
    [{ port: 65_536 }, 'port: 65536; expected a whole number from 0 to 65535'],
    [{ blockDelayMs: Number.NaN }, 'blockDelayMs: NaN; expected a number of milliseconds above 0'],
    [{ pow: 'no' }, "pow: 'no'; expected true or false"],
    [{ accounts: ['k:abc'] }, "accounts: [ 'k:abc' ]; expected a list of { account, predicate, publicKeys }"],
    [{ product: 'kadena' }, "product: 'kadena'; expected one of 'chainweb', 'ledger'"],
    [{ updateStreamLimit: -1 }, 'updateStreamLimit: -1; expected a whole number from 0 to '],
    [{ dataDir: '' }, "dataDir: ''; expected some text"],
    [{ onSolved: true }, 'onSolved: true; expected a function'],
    [{ pow: true, autoMine: { kind: 'on-demand' } }, 'autoMine makes blocks without proof of work'],
  ])('startDevnet refuses %o with BAD_OPTION, and says what would be right', async (options, text) => {
    expect(await refusal({ port: 0, ...options })).toMatchObject({
      code: 'BAD_OPTION',
      message: expect.stringContaining(text),
    })
  })

  it('startDevnet refuses an unknown option, and lists the known ones', async () => {
    expect(await refusal({ port: 0, chains: 10 })).toMatchObject({
      code: 'BAD_OPTION',
      message: 'chains: there is no such option',
      hint: expect.stringMatching(/^options are host, port, dataDir, .*\bgraph\b/),
    })
  })

  it('startDevnet refuses options that are not an object', async () => {
    expect(await refusal('petersen')).toMatchObject({ code: 'BAD_OPTION' })
  })
})

it('startDevnet treats undefined as an omitted option', async () => {
  const { devnet } = await start({ graph: undefined, pow: undefined, dataDir: undefined })
  expect(devnet.cut.size).toBe(20)
})

it('startDevnet makes five blocks on top of a block on arrival, unless an option names another number', async () => {
  const { devnet } = await start({ autoMine: { kind: 'on-arrival' } })
  expect(devnet.settings.autoMine).toEqual({ kind: 'on-arrival', confirmations: 5 })
  const other = await start({ autoMine: { kind: 'on-arrival', confirmations: 2 } })
  expect(other.devnet.settings.autoMine).toEqual({ kind: 'on-arrival', confirmations: 2 })
})

describe('a network on disk', () => {
  const constant = { kind: 'constant', blockTimeMs: 20 } as const
  const modeOf = async (url: string) => {
    const peer = new Peer(url)
    const { mode } = jsonOf(await peer.get('/devnet/status'))
    peer.close()
    return mode
  }

  it('a network on disk continues with its first auto-mine mode', async () => {
    const dataDir = await temporaryDirectory()
    const first = await startDevnet({ port: 0, graph: 'pair', dataDir, autoMine: constant })
    await first.close()
    const again = await start({ dataDir, difficulty: undefined })
    expect(again.devnet.settings.autoMine).toEqual(constant)
    expect(await modeOf(again.devnet.url)).toBe('a block on every chain each 20 ms')
    const { blocks } = again.devnet
    await until(() => again.devnet.blocks >= blocks + 4)
  })

  it('a network on disk switches to the auto-mine mode that it is opened with, and keeps it', async () => {
    const dataDir = await temporaryDirectory()
    await (await startDevnet({ port: 0, graph: 'pair', dataDir, autoMine: constant })).close()
    await (await startDevnet({ port: 0, dataDir, autoMine: { kind: 'on-demand' } })).close()
    const { devnet } = await start({ dataDir, difficulty: undefined })
    expect(await modeOf(devnet.url)).toBe('blocks by POST /make-blocks')
  })

  it('a network on disk has no auto-mining if it started without', async () => {
    const dataDir = await temporaryDirectory()
    const first = await startDevnet({ port: 0, graph: 'pair', pow: false, dataDir })
    grow(first, 3)
    await first.close()
    const { devnet } = await start({ dataDir, difficulty: undefined })
    expect(devnet.settings.autoMine).toBe(null)
    expect(devnet.blocks).toBe(5)
    expect(await modeOf(devnet.url)).toBe('blocks by miners')
  })
})

/** The table of options: programs, HTTP, flags and the documentation have the same names, limits and defaults. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { devnetOptions, flagsOfOptions } from '../../src/faces/cli/options/devnet.ts'
import type { OptionSpec } from '../../src/faces/cli/options/row.ts'
import { plainOptions } from '../../src/ground/schema/devnet-options.ts'
import { jsonOf, start } from './common.ts'
import { type DevnetOptions, startDevnet } from './whole-node.ts'

const defaults = Object.entries(plainOptions).flatMap(([name, row]) =>
  'fallback' in row ? [[name, row.fallback] as const] : [],
)
const refusal = (options: object) => startDevnet(options as DevnetOptions).catch((error: unknown) => error)

/** Names of the properties of DevnetOptions, with their comments. */
const documented = new Map(
  [
    ...readFileSync(new URL('../../src/devnet/options/devnet-options.ts', import.meta.url), 'utf8').matchAll(
      /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}readonly (\w+)\?:/g,
    ),
  ].map(([, comment, name]) => [name, comment.replaceAll(/\s*\n\s*\*\s*/g, ' ')]),
)

/** Names in the hint of the error for an unknown option. */
async function knownNames(): Promise<string[]> {
  const { hint } = (await refusal({ nosuch: 1 })) as { readonly hint: string }
  return hint.replace('options are ', '').split(', ')
}

describe('the table of options', () => {
  it('the table of options has a row for each documented property, and no other', async () => {
    expect((await knownNames()).toSorted()).toEqual([...documented.keys()].toSorted())
  })

  it('the table of options refuses a value that no option takes, each with its message', async () => {
    const names = await knownNames()
    const messages = await Promise.all(names.map(async (name) => String(await refusal({ [name]: { wrong: true } }))))
    expect(messages.map((message) => message.replace(/; expected .+$/, ''))).toEqual(
      names.map((name) => `NewcutError: ${name}: { wrong: true }`),
    )
    for (const message of messages) expect(message).toMatch(/; expected \S+ \S+/)
  })
})

describe('the default of an option', () => {
  it.each(defaults)('the default %s is a value that the option takes: %s', (name, fallback) => {
    expect(plainOptions[name as keyof typeof plainOptions].fits(fallback)).toBe(true)
  })

  it.each(defaults)('the default %s is in its documentation: %s', (name, fallback) => {
    const isTime = name.endsWith('Ms')
    const number = Number(fallback) / (isTime ? 1000 : 1)
    const isLarge = number >= 10_000
    const text = `${isLarge ? number.toLocaleString('en-US') : isTime ? number : fallback}${isTime ? ' s' : ''}`
    expect(documented.get(name)).toContain(`Default ${text}`)
  })

  it.each(Object.entries(flagsOfOptions))('the default %s is that of the flag --%s', (name, flag) => {
    const { kind, fallback } = devnetOptions[flag] as OptionSpec<unknown>
    const row = plainOptions[name as keyof typeof plainOptions] as (typeof plainOptions)['port'] | undefined
    expect(fallback).toEqual(row?.fallback)
    // A flag takes no whole number that programs may not give.
    if (row?.range === undefined) return
    const [least, most] = row.range
    const taken = [least - 1, least, most, most + 1].map((value) => kind.parse(String(value)) === value)
    expect(taken[0] || taken[3]).toBe(false)
    if (!flag.endsWith('-limit')) expect(taken).toEqual([false, true, true, false])
  })

  it('the default of an option holds in a node without options, in its settings and over HTTP', async () => {
    const { devnet, peer } = await start({ graph: undefined, difficulty: undefined })
    const { graph, blockDelayMs, difficulty, pow, release: nodeRelease, forkEpoch } = devnet.settings
    const settings = { graph, blockDelayMs, difficulty, pow, nodeRelease, forkEpoch }
    expect(settings).toEqual(Object.fromEntries(defaults.filter(([name]) => Object.hasOwn(settings, name))))
    expect(devnet.accounts).toHaveLength(plainOptions.phraseAccounts.fallback)

    const { updateStreamMs, updateStreamLimit, workLimit, workLifetimeMs, headerStreamLimit } = plainOptions
    const { listenLimit, listenMs } = plainOptions
    expect(jsonOf(await peer.get('/config'))).toMatchObject({
      [`${plainOptions.product.fallback}Version`]: 'development',
      mining: {
        coordination: {
          limit: workLimit.fallback,
          updateStreamLimit: updateStreamLimit.fallback,
          updateStreamTimeout: updateStreamMs.fallback / 1000,
        },
      },
      devnet: {
        chains: 20,
        blockDelay: blockDelayMs * 1000,
        proofOfWork: pow,
        nodeRelease,
        forkEpoch,
        workLifetime: workLifetimeMs.fallback / 1000,
        headerStreamLimit: headerStreamLimit.fallback,
        listenLimit: listenLimit.fallback,
        listenTimeout: listenMs.fallback / 1000,
      },
    })
  })
})

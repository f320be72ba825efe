/**
 * Where the rooms of src/ meet badly. Each list has today's offenders and only shrinks: an entry that no longer offends
 * fails the test too, until it is taken out.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))
const names = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
const texts = new Map(names.map((name) => [name, readFileSync(join(src, name), 'utf8')]))
/** Without comments. */
const code = new Map([...texts].map(([name, text]) => [name, text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')]))

const IMPORT = /^(?:import|export) (type )?(?:[^'"]*? from )?'([^']+)'/gm

/** File -> those of src/ that it imports at its top. */
function graphOf(withTypes: boolean): Map<string, string[]> {
  const importsOf = (name: string) =>
    [...(code.get(name) ?? '').matchAll(IMPORT)].flatMap(([, type, path]) => {
      if (!path.startsWith('.') || (type !== undefined && !withTypes)) return []
      return relative(src, resolve(src, dirname(name), path))
    })
  return new Map(names.map((name) => [name, importsOf(name).filter((to) => code.has(to))]))
}

/** Files that one file leads to, itself included where it is in a circle. */
function reached(graph: ReadonlyMap<string, readonly string[]>, from: string): Set<string> {
  const found = new Set<string>()
  const waiting = [...(graph.get(from) ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue
    found.add(next)
    waiting.push(...(graph.get(next) ?? []))
  }
  return found
}

/** Groups of files each of which leads to all others of its group. */
function circles(withTypes: boolean): string[][] {
  const graph = graphOf(withTypes)
  const reach = new Map(names.map((name) => [name, reached(graph, name)]))
  const inCircles = names.filter((name) => reach.get(name)?.has(name))
  const groups = inCircles.map((name) =>
    inCircles.filter((other) => reach.get(name)?.has(other) && reach.get(other)?.has(name)).toSorted(),
  )
  return [...new Map(groups.map((group) => [group.join(' '), group])).values()].toSorted()
}

/** File -> how often the pattern is found in it, of the rooms that are named. */
function counts(pattern: RegExp, ...rooms: readonly string[]): Record<string, number> {
  const found = [...code].flatMap(([name, text]) => {
    if (rooms.length > 0 && !rooms.some((room) => name.startsWith(`${room}/`))) return []
    const count = text.match(pattern)?.length ?? 0
    return count === 0 ? [] : [[name, count] as const]
  })
  return Object.fromEntries(found.toSorted())
}

describe('imports', () => {
  it('make no circle at run time', () => {
    expect(circles(false)).toEqual([])
  })

  it('make these circles where types count', () => {
    expect(circles(true)).toEqual([
      ['cli/answers.ts', 'cli/console.ts', 'cli/hotkeys.ts', 'cli/levels.ts', 'cli/lines.ts'],
      ['cli/plain-commands.ts', 'cli/program.ts', 'cli/wallet-commands.ts'],
      [
        'contracts/machine/callables.ts',
        'contracts/machine/capabilities.ts',
        'contracts/machine/definitions.ts',
        'contracts/machine/expr.ts',
        'contracts/machine/guards.ts',
        'contracts/machine/machine.ts',
        'contracts/machine/pacts.ts',
        'contracts/machine/types.ts',
      ],
      ['contracts/natives/arguments.ts', 'contracts/natives/native.ts'],
    ])
  })

  it('of a miner and a leader of a fleet lead to no node, no contract and no page', () => {
    const graph = graphOf(false)
    for (const command of ['commands/mine.ts', 'commands/lead.ts']) {
      const foreign = [...reached(graph, command)].filter((name) => /^(devnet|contracts|page|wallet)\//.test(name))
      expect([command, foreign]).toEqual([command, []])
    }
  })

  it('of the evaluator lead to these natives', () => {
    const found = [...graphOf(true)].flatMap(([from, list]) =>
      from.startsWith('contracts/machine/') ? list.filter((to) => to.startsWith('contracts/natives/')) : [],
    )
    expect(found.toSorted()).toEqual([
      'contracts/natives/arguments.ts',
      'contracts/natives/costs.ts',
      'contracts/natives/costs.ts',
      'contracts/natives/native.ts',
    ])
  })
})

describe('names', () => {
  const definitions = new Map<string, string[]>()
  for (const [name, text] of code) {
    for (const [, type] of text.matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm)) {
      definitions.set(type, [...(definitions.get(type) ?? []), name])
    }
  }

  it('of exported types have one definition each, but for these', () => {
    const twice = [...definitions].filter(([, files]) => files.length > 1).map(([type]) => type)
    expect(twice.toSorted()).toEqual([
      'About',
      'Account',
      'AccountView',
      'Answered',
      'Asset',
      'Balances',
      'Block',
      'BlockState',
      'BlockView',
      'Braid',
      'Call',
      'Command',
      'CommandResult',
      'Continuation',
      'ContractEvent',
      'Control',
      'Draft',
      'Entry',
      'Environment',
      'EventStream',
      'ExecutedView',
      'Extension',
      'Failure',
      'Fault',
      'Found',
      'HandInOptions',
      'HeadView',
      'Journal',
      'Line',
      'ListOptions',
      'Machine',
      'MinerOptions',
      'NetworkView',
      'Operation',
      'Order',
      'Origin',
      'Outcome',
      'Output',
      'Page',
      'Pauses',
      'Payload',
      'Place',
      'Refusal',
      'Refused',
      'Report',
      'RequestView',
      'Results',
      'Rules',
      'Schema',
      'Share',
      'Signer',
      'Snapshot',
      'Snapshots',
      'Standing',
      'State',
      'Step',
      'Steps',
      'Table',
      'Token',
      'Value',
      'Verdict',
      'View',
    ])
  })
})

describe('files', () => {
  it('have at most 400 lines, but for these', () => {
    const long = [...texts].filter(([, text]) => text.split('\n').length > 401).map(([name]) => name)
    expect(long.toSorted()).toEqual([
      'cli/options.ts',
      'engine/fleet/fleet.ts',
      'mine/miner.ts',
      'node/client.ts',
      'source/node/node-source.ts',
      'source/node/step.ts',
    ])
  })

  it('runMiner binds at most so many names', () => {
    const text = code.get('compose/miner.ts') ?? ''
    const [, body = ''] = /export async function runMiner[\s\S]*?\{\n([\s\S]*?)\n\}\n/.exec(text) ?? []
    expect(body.match(/^ +(?:const|let) /gm)?.length).toBe(35)
  })
})

describe('ports', () => {
  const optional = (file: string, port: string) => {
    const [, body = ''] = new RegExp(`interface ${port} \\{\\n([\\s\\S]*?)\\n\\}`).exec(code.get(file) ?? '') ?? []
    return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\?/gm)].map(([, name]) => `${port}.${name}`)
  }

  it('have no optional members but these', () => {
    const found = [optional('source/source.ts', 'Source'), optional('engine/engine.ts', 'Engine')]
    expect([...found, optional('engine/engine.ts', 'EngineEvents')].flat()).toEqual([
      'Source.setChains',
      'Source.nodes',
      'Source.chains',
      'Engine.rigs',
      'Engine.fleet',
      'EngineEvents.onFleet',
    ])
  })

  it('are used without a look behind them, but here', () => {
    expect(
      counts(/instanceof (?:\w*Engine|\w*Source|\w*Fleet|\w*Rigs?|Stratum\w*)\b/g, 'compose', 'mine', 'api'),
    ).toEqual({})
  })

  it('of the engine speak of rigs, fleets and shares in so many lines', () => {
    const lines = (code.get('engine/engine.ts') ?? '').split('\n').filter((line) => /\b(rig|fleet|share)/i.test(line))
    expect(lines.length).toBe(17)
  })
})

describe('ways to do one thing', () => {
  it('questions that are asked twice are asked here', () => {
    expect(counts(/\bhedged\(/g, 'source')).toEqual({
      'source/node/depths.ts': 2,
      'source/node/hand-in.ts': 1,
      'source/node/heartbeat.ts': 1,
      'source/node/look.ts': 1,
      'source/node/node-source.ts': 1,
    })
  })

  it('the cut of a node is asked for here', () => {
    expect(counts(/\bclient\.cut\(|\.cut\(\{/g, 'source')).toEqual({
      'source/many/reached-node.ts': 1,
      'source/node/head-reader.ts': 1,
      'source/node/mining-node.ts': 3,
    })
  })

  const readersBy = (file: string) =>
    [...graphOf(false)]
      .filter(([from, list]) => from.startsWith('devnet/') && list.includes(file))
      .map(([from]) => from)

  it('signed commands are read here', () => {
    expect(readersBy('devnet/command/read.ts').toSorted()).toEqual([
      'devnet/http/read-all.ts',
      'devnet/http/routes/commands.ts',
      'devnet/http/routes/local.ts',
      'devnet/http/routes/mempool.ts',
      'devnet/http/view/command-view.ts',
      'devnet/ledger/execute-payload.ts',
      'devnet/mempool/mempools.ts',
      'devnet/watch/transaction-watch.ts',
    ])
  })

  it('the code of commands is read here', () => {
    expect(readersBy('contracts/syntax/reader.ts')).toEqual(['devnet/command/code.ts'])
  })

  it('event streams are opened here', () => {
    expect(counts(/new EventSource\(/g)).toEqual({
      'dashboard/browser/stream.ts': 1,
      'node/event-stream.ts': 1,
      'page/browser/explorer/live.ts': 1,
      'page/browser/news.ts': 1,
    })
  })
})

/**
 * Weak joints between the rooms of src/. Each list has today's offenders and only shrinks: an entry that no longer
 * offends also fails, until it is removed.
 */
import { describe, expect, it } from 'vitest'
import { allBudgets, modulesAtOnce, sumOfBudget } from './budgets.ts'
import { code, graphOf as graphBy, reached, roomOf, texts } from './import-graph.ts'

const names = [...code.keys()]

/** File -> the files of src/ that it imports statically. */
const graphOf = (withTypes: boolean) => graphBy(({ isType, isLate }) => !isLate && (withTypes || !isType))

/** Import cycles: groups of files that all reach each other. */
function circles(withTypes: boolean): string[][] {
  const graph = graphOf(withTypes)
  const reach = new Map(names.map((name) => [name, reached(graph, name)]))
  const inCircles = names.filter((name) => reach.get(name)?.has(name))
  const groups = inCircles.map((name) =>
    inCircles.filter((other) => reach.get(name)?.has(other) && reach.get(other)?.has(name)).toSorted(),
  )
  return [...new Map(groups.map((group) => [group.join(' '), group])).values()].toSorted()
}

/** File -> number of matches of the pattern, in the named rooms or in all. */
function counts(pattern: RegExp, ...rooms: readonly string[]): Record<string, number> {
  const found = [...code].flatMap(([name, text]) => {
    if (rooms.length > 0 && !rooms.includes(roomOf(name))) return []
    const count = text.match(pattern)?.length ?? 0
    return count === 0 ? [] : [[name, count] as const]
  })
  return Object.fromEntries(found.toSorted())
}

describe('imports', () => {
  it('imports form no cycle at run time', () => {
    expect(circles(false)).toEqual([])
  })

  it('imports form no cycle either if types count', () => {
    expect(circles(true)).toEqual([])
  })

  it('imports of a miner and a leader of a fleet lead to no node, no contract and no page of a node', () => {
    const graph = graphOf(false)
    for (const command of ['commands/mine.ts', 'commands/lead.ts']) {
      const foreign = [...reached(graph, command)].filter((name) =>
        /^(devnet|contracts|wallet|web\/(explorer|mine-page))\//.test(name),
      )
      expect(foreign, command).toEqual([])
    }
  })

  it('imports of a command load at most this many modules at once', () => {
    const graph = graphOf(false)
    const loaded = (...from: readonly string[]) => {
      const all = ['newcut.ts', 'commands/command-line.ts', ...from]
      return new Set([...all, ...all.flatMap((file) => [...reached(graph, file)])]).size
    }
    const tables = ['commands/commands.ts', 'faces/cli/config-file.ts']
    const nodes = ['compose/source/nodes.ts', 'compose/search/own.ts', 'mining/engine/cpu/cpu.ts']
    const counts = {
      mine: loaded(...tables, 'commands/mine.ts', ...nodes),
      lead: loaded(...tables, 'commands/lead.ts', 'compose/source/nodes.ts', 'compose/search/leader.ts'),
      devnet: loaded(...tables, 'commands/devnet.ts'),
      send: loaded(...tables, 'commands/send.ts'),
      keygen: loaded('commands/keygen.ts'),
    }
    const over = Object.entries(counts).filter(
      ([name, count]) => count > sumOfBudget(modulesAtOnce[name as keyof typeof counts]),
    )
    expect(over).toEqual([])
  })

  it('imports load more modules than before only for a reason: each part of a budget has its own', () => {
    const unreasoned = Object.entries(allBudgets).filter(([, budget]) => {
      const reasons = budget.map(([, reason]) => reason)
      return new Set(reasons).size < reasons.length || !reasons.every((reason) => /^[A-Z].{15,}\.$/.test(reason))
    })
    expect(unreasoned).toEqual([])
    expect(Object.values(allBudgets).every((budget) => budget.every(([number]) => number > 0))).toBe(true)
  })

  it('imports of the evaluator lead to no natives', () => {
    const found = [...graphOf(true)].flatMap(([from, list]) =>
      from.startsWith('language/contracts/machine/')
        ? list.filter((to) => to.startsWith('language/contracts/natives/'))
        : [],
    )
    expect(found).toEqual([])
  })

  it('imports of the evaluator come from its creators', () => {
    const makers = [...graphOf(true)].filter(([, list]) =>
      list.includes('language/contracts/machine/evaluate/evaluator.ts'),
    )
    expect(makers.map(([name]) => name).toSorted()).toEqual([
      'language/contracts/check.ts',
      'language/contracts/repl/test-run.ts',
      'language/contracts/run.ts',
      'language/contracts/stored-modules.ts',
      'language/contracts/trace/tracing-evaluator.ts',
    ])
  })
})

describe('the evaluator', () => {
  it('the evaluator has no public fields that change: its scopes hold what changes', () => {
    const [, body = ''] =
      /export class Evaluator [^{]*\{\n([\s\S]*?)\n\}\n/.exec(
        code.get('language/contracts/machine/evaluate/evaluator.ts') ?? '',
      ) ?? []
    expect(body).not.toBe('')
    expect(
      [...body.matchAll(/^ {2}(?!readonly |#|get )(\w+)\??(?:: [^(]*)?(?: = .*)?$|^ {2}set (\w+)/gm)].map(
        ([line]) => line,
      ),
    ).toEqual([])
  })
})

describe('names', () => {
  const definitions = new Map<string, string[]>()
  for (const [name, text] of code) {
    for (const [, type] of text.matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm)) {
      definitions.set(type, [...(definitions.get(type) ?? []), name])
    }
  }

  it('each name of an exported type has one definition, except these', () => {
    const twice = [...definitions].filter(([, files]) => files.length > 1).map(([type]) => type)
    expect(twice.toSorted()).toEqual(['Block', 'Command'])
  })
})

describe('words of a solution', () => {
  const verdict =
    /['"](?:accepted|unconfirmed|stale|orphaned|rejected|lost)['"]|\b(?:accepted|unconfirmed|stale|orphaned|rejected|lost):/g

  it('three or more words of a solution occur together in the listed files only', () => {
    const files = [...code].filter(([, text]) => {
      const found = text.match(verdict)?.map((word) => word.replace(/\W/g, '')) ?? []
      return new Set(found).size > 2
    })
    expect(files.map(([name]) => name).toSorted()).toEqual([
      'faces/cli/levels.ts',
      'faces/cli/lines.ts',
      'faces/web/dashboard/browser/blocks.ts',
      'faces/web/mine-page/browser/view.ts',
      'ground/chain/solution.ts',
      'mining/engine/fleet/fleet.ts',
      'mining/journal/journal-listener.ts',
      'mining/journal/record.ts',
      'mining/mine/solution-tracker.ts',
      'mining/source/fleet/solutions.ts',
      'mining/source/node/follow-up.ts',
      'mining/source/node/submit.ts',
    ])
  })
})

describe('type names', () => {
  const files = new Map<string, Set<string>>()
  for (const [name, text] of code) {
    for (const [, type] of text.matchAll(/^(?:export )?(?:abstract )?(?:interface|type|class) (\w+)/gm)) {
      files.set(type, (files.get(type) ?? new Set()).add(name))
    }
  }

  it('type names occur in at most two files', () => {
    const often = [...files].filter(([, in_]) => in_.size > 2).map(([type]) => type)
    expect(often).toEqual([])
  })

  it('type names that are words of the design occur in one file', () => {
    const words = ['Work', 'Job', 'Share', 'Solution', 'Verdict', 'Snapshot', 'Source', 'Engine', 'Rig']
    expect(words.filter((word) => (files.get(word)?.size ?? 0) > 1)).toEqual([])
  })
})

describe('files', () => {
  it('files have at most 400 lines', () => {
    const long = [...texts].filter(([, text]) => text.split('\n').length > 401).map(([name]) => name)
    expect(long.toSorted()).toEqual([])
  })

  it('runMiner binds at most this many names', () => {
    const text = code.get('compose/miner.ts') ?? ''
    const [, body = ''] = /export async function runMiner[\s\S]*?\{\n([\s\S]*?)\n\}\n/.exec(text) ?? []
    expect(body.match(/^ +(?:const|let) /gm)?.length).toBeLessThanOrEqual(12)
  })
})

describe('ports', () => {
  const optional = (file: string, port: string) => {
    const [, body = ''] = new RegExp(`interface ${port} \\{\\n([\\s\\S]*?)\\n\\}`).exec(code.get(file) ?? '') ?? []
    return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\?/gm)].map(([, name]) => `${port}.${name}`)
  }

  it('ports have no optional members', () => {
    const found = [optional('mining/source/source.ts', 'Source'), optional('mining/engine/engine.ts', 'Engine')]
    expect([...found, optional('mining/engine/engine.ts', 'EngineEvents')].flat()).toEqual([])
  })

  it('callers use ports without a look at their implementation, except here', () => {
    expect(
      counts(/instanceof (?:\w*Engine|\w*Source|\w*Fleet|\w*Rigs?|Stratum\w*)\b/g, 'compose', 'mine', 'api'),
    ).toEqual({})
  })

  it('the ports of the engine do not mention rigs, fleets and shares', () => {
    const lines = (code.get('mining/engine/engine.ts') ?? '')
      .split('\n')
      .filter((line) => /\b(rig|fleet|share)/i.test(line))
    expect(lines).toHaveLength(0)
  })
})

describe('ways to do one thing', () => {
  it('one place hedges requests', () => {
    expect(counts(/\bsendHedged\(/g)).toEqual({ 'mining/source/node/calls.ts': 1 })
  })

  it('the cut of a node is requested in the listed files only', () => {
    expect(counts(/\bclient\.cut\(|\.cut\(\{/g, 'source')).toEqual({
      'mining/source/nodes/reached-node.ts': 1,
      'mining/source/node/mining-node.ts': 3,
    })
  })

  const readersBy = (file: string) =>
    [...graphOf(false)]
      .filter(([from, list]) => from.startsWith('devnet/') && list.includes(file))
      .map(([from]) => from)

  it('signed commands are read in the listed files only', () => {
    expect(readersBy('devnet/command/read.ts').toSorted()).toEqual([
      'devnet/copy/compare-code.ts',
      'devnet/debugging/transaction-program.ts',
      'devnet/execution/thread.ts',
      'devnet/http/lookup/pact-index.ts',
      'devnet/http/read-all.ts',
      'devnet/http/routes/commands.ts',
      'devnet/http/routes/control-run.ts',
      'devnet/http/routes/local.ts',
      'devnet/http/routes/mempool.ts',
      'devnet/http/routes/trace.ts',
      'devnet/http/view/command-view.ts',
      'devnet/ledger/execute-payload.ts',
      'devnet/mempool/mempools.ts',
      'devnet/simulation/commands.ts',
      'devnet/watch/transaction-watch.ts',
    ])
  })

  it('the code of commands is read in the listed files only', () => {
    expect(readersBy('language/contracts/syntax/program.ts')).toEqual(['devnet/command/code.ts'])
  })

  it('event streams are opened in the listed files only', () => {
    expect(counts(/new EventSource\(/g)).toEqual({
      'client/node/event-stream.ts': 1,
      'faces/web/kit/stream.ts': 1,
    })
  })

  it('files are replaced in the listed files only', () => {
    expect(counts(/\brename(Sync)?\(/g)).toEqual({
      'ground/base/replace-file.ts': 1,
      // The command of the language server.
      'language/editor/protocol/answers.ts': 1,
      'language/editor/protocol/server.ts': 1,
    })
  })

  it('elements of pages are made in the listed files only', () => {
    expect(counts(/\.createElement/g, 'web')).toEqual({ 'faces/web/kit/dom.ts': 2 })
  })
})

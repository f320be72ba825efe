/**
 * House rules that a script can check. Lists of known offenders only shrink: a file that offends less than its entry
 * says also fails, until the entry is updated.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { filesBelow } from '../scripts/sources.ts'
import { parts, projects, QUICK } from '../scripts/test/parts.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const files = filesBelow(folder).filter((name) => /\.(ts|mjs|js)$/.test(name) && name !== 'house.test.ts')

const sourceFolder = fileURLToPath(new URL('../src/', import.meta.url))
const sources = filesBelow(sourceFolder).filter((name) => /\.(ts|js)$/.test(name))

/** File -> number of matches of the pattern in its code. */
function counts(pattern: RegExp, names = files, from = folder): Record<string, number> {
  const found = names.map((name) => {
    const code = readFileSync(`${from}${name}`, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    return [name, code.match(pattern)?.length ?? 0] as const
  })
  return Object.fromEntries(found.filter(([, count]) => count > 0))
}

/** File -> number of matches, and the reason. */
type Exceptions = Readonly<Record<string, readonly [count: number, reason: string]>>

const countsOf = (exceptions: Exceptions) =>
  Object.fromEntries(Object.entries(exceptions).map(([name, [count]]) => [name, count]))

/** Tests wait for an event, or advance their own clock. These files wait for real time. */
const sleeps: Exceptions = {
  'attack/attack.ts': [4, 'a lie lasts for a second'],
  'attack/lies/solved.ts': [1, 'a lie lasts for a while'],
  'attack/proxy.ts': [2, 'a node at some distance'],
  'attack/responders.ts': [4, 'a node that answers slowly'],
  'cli/devnet-tools.test.ts': [1, 'the command beside the network asks it until it has blocks'],
  'cli/pausing.test.ts': [1, 'another program that keeps a core busy'],
  'cli/secrets.test.ts': [1, 'a worker that takes a moment'],
  'devnet/kill-node.ts': [4, 'kills at random moments'],
  'devnet/slow-requests.test.ts': [1, 'a client that sends slowly'],
  'engine/external.test.ts': [2, 'a worker that takes a moment, and one that goes on'],
  'engine/native-kernel.test.ts': [3, 'compilers that hang'],
  'fuzz/main.ts': [2, 'a command of its own, for as long as it is told'],
  'fuzz/targets/pool.ts': [1, 'a pool session that is given a moment'],
  'gpu/batch-child.mjs': [1, 'a child that is slow'],
  'judges/programs/attempt.mjs': [3, 'a program that pauses after an error, and a call without an end'],
  'payouts/kill-rounds.ts': [1, 'a blow at a random moment'],
  'rounds/fleet-rounds.ts': [4, 'kills at random moments'],
  'rounds/kill-rounds.ts': [3, 'kills at random moments'],
  'rounds/relay-field.ts': [2, 'a pace'],
  'rounds/relay-rounds.ts': [4, 'kills at random moments'],
  'rounds/soak.test.ts': [2, 'a pace'],
  'scripts/runner.test.ts': [2, 'programs that never end'],
  'source/node-source.test.ts': [1, 'a node that answers after 20 ms'],
  'sensors/powercap-folder.ts': [1, 'a counter of energy that goes on'],
  'source/pool/official.ts': [1, 'the pace of a server'],
  'wait.ts': [1, 'looks again after a pause'],
}

/** Tests do not measure: speed depends on the machine. */
const clocks: Exceptions = {
  'attack/proxy.ts': [2, 'the times of exchanges in the report of a failure'],
  'base/json.test.ts': [2, 'a ratio of two measurements in one run'],
  'bench/slowness.ts': [2, 'a measurement, in the part of the benchmarks'],
  'bench/wasm-stack.test.ts': [2, 'a measurement, in the part of the benchmarks'],
  'cli/pausing.test.ts': [2, 'another program that keeps a core busy'],
  'devnet/thread-limits.test.ts': [2, 'a load of known processor time, beside a limit of processor time'],
  'engine/cpu.test.ts': [2, 'the bound is a rate'],
  'fuzz/engine.ts': [4, 'processor time of a reader'],
  'fuzz/fuzz.test.ts': [2, 'a load of known processor time'],
  'fuzz/main.ts': [4, 'a command of its own, for as long as it is told'],
  'node/client.test.ts': [1, 'the span of a request bounds the difference of two clocks'],
  'rounds/fleet-rounds.ts': [2, 'told in the output'],
  'rounds/soak.test.ts': [2, 'a pace'],
}

/** Programs wait between attempts by `base/backoff.ts` alone. These files have a formula of their own. */
const backoffs: Exceptions = {
  'ground/base/backoff.ts': [1, 'the formula'],
}

it('no source has a backoff of its own', () => {
  const doubled = /(?:Ms|_MS)\)? \* 2 \*\* /g
  expect(counts(doubled, sources, sourceFolder)).toEqual(countsOf(backoffs))
})

/** One guard keeps foreign pages away. */
const guards: Exceptions = {
  'ground/base/host.ts': [2, 'the guard'],
}

it('no source has a guard against foreign pages of its own', () => {
  expect(counts(/sec-fetch-site/g, sources, sourceFolder)).toEqual(countsOf(guards))
})

/** Amounts of coins are read by `base/coins.ts` alone. */
const decimals: Exceptions = {
  'ground/base/coins.ts': [3, 'the reader'],
  'language/contracts/natives/data/logarithm.ts': [1, 'decimals of the language'],
  'language/contracts/repl/generators.ts': [1, 'decimals of the language'],
  'language/contracts/values/decimal.ts': [2, 'decimals of the language'],
  'ground/chain/block-fees.ts': [2, 'the exponent of a gas price'],
}

it('no source has a reader of amounts of its own', () => {
  expect(counts(/10n \*\* /g, sources, sourceFolder)).toEqual(countsOf(decimals))
})

/** Caches drop their oldest entries by generations (`base/recent.ts`). */
const generations: Exceptions = {
  'ground/base/recent.ts': [1, 'the cache'],
}

it('no source has a cache of generations of its own', () => {
  expect(counts(/this\.#(?:old|older) = this\.#/g, sources, sourceFolder)).toEqual(countsOf(generations))
})

it('sources make folders by one function, which returns also where nobody can make one', () => {
  expect(counts(/\bmkdir(?:Sync)?\([^)]*\brecursive\b/g, sources, sourceFolder)).toEqual({})
})

it('no test sleeps', () => {
  expect(counts(/\bset(?:Timeout|Interval)(?:\(| as )|await (?:sleep|delay|pause)\(/g)).toEqual(countsOf(sleeps))
})

it('no test measures time', () => {
  const reading =
    /performance\.now\(\)|hrtime|Date\.now\(\) *[-<>]|[-<>] *Date\.now\(\)|\b(?:cpuUsage|resourceUsage)\(/g
  expect(counts(reading)).toEqual(countsOf(clocks))
})

/** A time limit is for what hangs: ten minutes, or more. These limits are of something else, with a reason. */
const limits: Exceptions = {
  'fuzz/main.ts': [1, 'a pause in a command of its own'],
  'gpu/chromium.ts': [1, 'the start of a browser, which may hang'],
  'grafana/grafana.test.ts': [1, 'below the limit of its test, to name what did not answer'],
  'package/install.test.ts': [1, 'a question to the registry: without its answer the test is skipped'],
  'package/project.test.ts': [1, 'a question to the registry: without its answer the test is skipped'],
}

it('no test has a time limit below ten minutes', () => {
  const duration = /(?:\d{1,2}|[1-5]\d\d)_\d{3}\b(?! [*+])/.source
  expect(counts(new RegExp(`^ *\\}, ${duration}\\)$|\\btimeout: ${duration}`, 'gm'))).toEqual(countsOf(limits))
})

it('no test is retried', () => {
  expect(counts(/['"`], *\{[^{}]*\bretry: *[1-9]/g)).toEqual({})
})

/** Every skip states a reason, through needs.ts or in its call. */
it('no test is skipped without a reason', () => {
  expect(counts(/\.(?:skipIf|runIf|todo|only)\(|\.skip\(\)/g)).toEqual({})
})

it('every test file belongs to one part', () => {
  const tests = files.filter((name) => name.endsWith('.test.ts')).map((name) => `test/${name}`)
  const pattern = (glob: string) => glob.replaceAll('.', '\\.').replaceAll('**/', '(.+/)?').replaceAll('*', '[^/]*')
  const holds = (globs: readonly string[], file: string) =>
    globs.some((glob) => new RegExp(`^${pattern(glob)}$`).test(file))
  const owners = (file: string) =>
    projects.filter(({ include, exclude }) => holds(include, file) && !holds(exclude, file)).map(({ name }) => name)
  expect(tests.filter((file) => owners(file).length !== 1)).toEqual([])
  const listed = parts.filter(({ name }) => name !== QUICK).flatMap((part) => part.files)
  expect(listed.filter((file) => !tests.includes(file))).toEqual([])
})

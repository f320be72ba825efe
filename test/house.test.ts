/**
 * The manners of the house, as far as a script can check them. Lists of known offenders only shrink: a file that offends
 * less than its entry says fails the test too, until the entry says so.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parts, projects, QUICK } from '../scripts/test/parts.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(ts|mjs|js)$/.test(name) && name !== 'house.test.ts')
  .toSorted()

/** File -> how often the pattern is found in its code. */
function counts(pattern: RegExp): Record<string, number> {
  const found = files.map((name) => {
    const code = readFileSync(`${folder}${name}`, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    return [name, code.match(pattern)?.length ?? 0] as const
  })
  return Object.fromEntries(found.filter(([, count]) => count > 0))
}

/** A test waits for the thing itself, or moves a clock of its own. What is listed waits for time, and why. */
const sleeps: Readonly<Record<string, number>> = {
  'attack/attack.ts': 4,
  'attack/lies/solved.ts': 1,
  'attack/tell.ts': 4,
  'cli/devnet-tools.test.ts': 1,
  'cli/exit-codes.test.ts': 1,
  'cli/pausing.test.ts': 1,
  'cli/secrets.test.ts': 1,
  'conformance/engine.ts': 3,
  'core/blake2b.test.ts': 1,
  'devnet/auto-mine.test.ts': 1,
  'devnet/backup.test.ts': 1,
  'devnet/control-blocks.test.ts': 1,
  'devnet/event-stream.test.ts': 1,
  'devnet/kill-node.ts': 4,
  'devnet/slow-requests.test.ts': 1,
  'devnet/turns.test.ts': 1,
  'engine/cpu.test.ts': 3,
  'engine/external.test.ts': 1,
  'engine/native-kernel.test.ts': 3,
  'engine/stratum/difficulty.test.ts': 1,
  'engine/stratum/limits.test.ts': 1,
  'fuzz/main.ts': 2,
  'fuzz/targets/pool.ts': 1,
  'gpu/batch-child.mjs': 1,
  'gpu/engine.test.ts': 1,
  'gpu/wait.ts': 2,
  'journal/crash.test.ts': 2,
  'rounds/fleet-rounds.ts': 4,
  'rounds/kill-rounds.ts': 3,
  'rounds/soak.test.ts': 2,
  'scripts/runner.test.ts': 2,
  'source/node-source.test.ts': 1,
  'source/pool/official.ts': 1,
  'wait.ts': 1,
}

/** A test does not measure: how fast something is depends on the machine. */
const clocks: Readonly<Record<string, number>> = {
  'bench/wasm-stack.test.ts': 2,
  'cli/pausing.test.ts': 2,
  'engine/cpu.test.ts': 2,
  'engine/external.test.ts': 2,
  'fuzz/engine.ts': 2,
  'fuzz/main.ts': 4,
  'gpu/wait.ts': 2,
  'rounds/fleet-rounds.ts': 2,
  'rounds/soak.test.ts': 2,
}

it('no test sleeps', () => {
  expect(counts(/\bset(?:Timeout|Interval)\(|node:timers\/promises|await (?:sleep|delay|pause)\(/g)).toEqual(sleeps)
})

it('no test measures time', () => {
  expect(counts(/performance\.now\(\)|hrtime|Date\.now\(\) *[-<>]|[-<>] *Date\.now\(\)|expectSoon\(/g)).toEqual(clocks)
})

it('no test is tried again', () => {
  expect(counts(/['"`], *\{[^{}]*\bretry: *[1-9]/g)).toEqual({})
})

/** Skips say why: through needs.ts, or with a reason. */
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

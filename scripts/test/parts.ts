/**
 * The parts of the tests. Every test file belongs to one: to the part that lists it, else to the quick set. The quick set
 * has everything once; the other parts repeat, take long, or need programs that few machines have.
 */

export interface Part {
  readonly name: string
  /** For people, in a few words. */
  readonly what: string
  /** Globs from the root of the project. */
  readonly files: readonly string[]
  /** How many files run at a time. */
  readonly workers: number
}

export const QUICK = 'quick'

const inFolder = (folder: string, ...names: readonly string[]) => names.map((name) => `test/${folder}/${name}.test.ts`)

const listed: readonly Part[] = [
  {
    name: 'sim',
    what: '1,000 seeds of the simulation, and all that ever showed a fault',
    files: inFolder('sim', 'seeds'),
    workers: 1,
  },
  {
    name: 'lies',
    what: 'a miner at a node that lies, in every way',
    files: inFolder('attack', 'chains', 'everything', 'for-ever', 'solved', 'start', 'updates', 'work'),
    workers: 3,
  },
  {
    name: 'terminal',
    what: 'what takes long to be drawn, and every shell',
    files: inFolder('cli', 'progress-terminal'),
    workers: 1,
  },
  {
    name: 'kills',
    what: 'processes that are killed and stopped, again and again',
    files: [...inFolder('rounds', 'fleet', 'kill', 'soak'), ...inFolder('devnet', 'kill')],
    workers: 1,
  },
]

const ALL_TESTS = 'test/**/*.test.ts'

export const parts: readonly Part[] = [
  { name: QUICK, what: 'everything once: what npm test runs', files: [ALL_TESTS], workers: 2 },
  ...listed,
]

/** Files of other parts, which a part whose globs match them leaves out. */
export function excludedFrom(part: Part): readonly string[] {
  return part.name === QUICK ? listed.flatMap(({ files }) => files) : []
}

/** The line that says what `--part` takes. */
export const partNames = parts.map(({ name }) => name).join(', ')

/**
 * The parts of the tests. Each test file belongs to the part that lists it, or else to the quick set. The quick set
 * covers everything once; other parts repeat, take long, or need uncommon programs.
 */

export interface Part {
  readonly name: string
  /** Short description for people. */
  readonly what: string
  /** Globs relative to the root. */
  readonly files: readonly string[]
  /** Number of files that run at a time. */
  readonly workers: number
  /** Whether it can run beside other such parts: its tests mostly wait, or have a clock of their own. */
  readonly waits?: true
  /** Whether it needs the packages of test/package.json. */
  readonly judges?: true
}

export const QUICK = 'quick'

/** Files at a time across all waiting parts. */
const WAITING = 4

const inFolder = (folder: string, ...names: readonly string[]) => names.map((name) => `test/${folder}/${name}.test.ts`)

const listed: readonly Part[] = [
  {
    name: 'sim',
    what: 'seeds of the simulation, and all that ever showed a fault',
    files: [...inFolder('sim', 'jobs', 'seeds', 'sim'), ...inFolder('payouts', 'pool-seeds')],
    workers: WAITING,
    waits: true,
  },
  {
    name: 'lies',
    what: 'a miner at a node that lies, in every way, and malformed inputs',
    files: [
      ...inFolder(
        'attack',
        'chains',
        'everything',
        'families',
        'until-stopped',
        'solved',
        'solved-work',
        'start',
        'updates',
      ),
      ...inFolder('attack', 'work'),
      ...inFolder('fuzz', 'fuzz'),
      'test/flips.test.ts',
    ],
    workers: WAITING,
    waits: true,
  },
  {
    name: 'kills',
    what: 'processes that are killed and stopped, again and again',
    files: [
      ...inFolder('rounds', 'fleet', 'fleet-each', 'kill', 'kill-each', 'relays', 'shares', 'soak'),
      ...inFolder('devnet', 'kill', 'kill-once'),
      ...inFolder('journal', 'crash'),
      ...inFolder('payouts', 'kill', 'kill-each'),
      ...inFolder('stratum', 'behind-pool'),
    ],
    workers: WAITING,
    waits: true,
  },
  {
    name: 'conformance',
    what: 'our node and our clients, judged by the cases of conformance/',
    files: [...inFolder('conformance', 'node', 'own-clients'), ...inFolder('source', 'conformance')],
    workers: WAITING,
    waits: true,
  },
  {
    name: 'forks',
    what: 'forks of networks whose node is slow, lies, or is gone',
    files: [
      ...inFolder('copy', 'damage', 'faults', 'headers', 'kill', 'no-node', 'random', 'seam', 'verify'),
      ...inFolder('devnet', 'fork-adoption'),
      ...inFolder('editor', 'live'),
    ],
    workers: WAITING,
    waits: true,
  },
  {
    name: 'rigs',
    what: 'models of rigs at the stratum server, for hours of virtual time',
    files: [...inFolder('engine/stratum', 'difficulty', 'ka3', 'models'), ...inFolder('stratum', 'both-ends')],
    workers: WAITING,
    waits: true,
  },
  {
    name: 'engines',
    what: 'every kernel and GPU driver, and what can go wrong with them',
    files: [
      ...inFolder('gpu', 'browser', 'conformance-all', 'engine', 'faults', 'hang', 'identical', 'shader'),
      ...inFolder('engine', 'conformance', 'native-choice', 'native-kernel', 'spills'),
      ...inFolder('compose', 'change'),
      ...inFolder('package', 'driver'),
    ],
    workers: WAITING,
    waits: true,
  },
  {
    name: 'fleet',
    what: 'miners for several nodes and at a pace, and fleets of several leaders and NATS servers',
    files: [
      ...inFolder('accounts', 'jetstream', 'jetstream-limits', 'jetstream-order'),
      ...inFolder('compose', 'nodes-all', 'paced'),
      ...inFolder(
        'fleet',
        'cluster',
        'command',
        'conformance',
        'domains',
        'election',
        'energy',
        'hardware-errors',
        'leader',
      ),
      ...inFolder('fleet', 'relay-rigs'),
    ],
    workers: WAITING,
    waits: true,
  },
  {
    name: 'devnet',
    what: 'a development network that is damaged, saved, and left alone for long',
    files: inFolder('devnet', 'auto-mine', 'backup', 'damage', 'simulate-limits', 'simulate-writes'),
    workers: WAITING,
    waits: true,
  },
  {
    name: 'commands',
    what: 'newcut as a process: its logs, its live settings, exit codes, terminals and monitors',
    files: [
      ...inFolder(
        'cli',
        'devnet-tools',
        'exit-codes',
        'live',
        'log-file',
        'outputs',
        'pausing',
        'progress-terminal',
        'rigs',
      ),
      ...inFolder('cli', 'terminal'),
      ...inFolder('api', 'monitors'),
      ...inFolder('debugger', 'terminal'),
      ...inFolder('examples', 'exchange'),
      ...inFolder('editor', 'watched-files'),
      ...inFolder('mutation', 'command', 'forks', 'mutate'),
      ...inFolder('payouts', 'own-network', 'rigs'),
    ],
    workers: WAITING,
    waits: true,
  },
  {
    name: 'pages',
    what: 'the pages in a browser',
    files: [
      ...inFolder('web/mine-page', 'browser', 'browser-troubles'),
      ...inFolder('web/explorer', 'all', 'all-find', 'all-keys', 'all-send', 'all-transfers', 'all-views', 'page'),
      ...inFolder('web/dashboard', 'page'),
      ...inFolder('web', 'all-pages'),
    ],
    workers: WAITING,
    waits: true,
    judges: true,
  },
  {
    name: 'bench',
    what: 'the benchmark suites, and what has to be measured',
    files: inFolder('bench', 'bench', 'energy', 'hostile-natives', 'shader', 'wasm-stack'),
    workers: 1,
  },
  {
    name: 'suites',
    what: 'suites of the contract language, by name',
    files: inFolder('judges', 'language-suites'),
    workers: 1,
  },
  {
    name: 'hostile',
    what: 'commands made to take more time, memory or disk than their gas allows, and gas that is computed twice',
    files: [
      ...inFolder('bench', 'hostile'),
      ...inFolder('contracts', 'hostile'),
      ...inFolder('contracts/gas-model', 'rounds'),
    ],
    workers: 1,
  },
  {
    name: 'deploy',
    what: 'deploy/ and grafana/, judged by the programs that read them',
    files: [
      ...inFolder(
        'deploy',
        'compose',
        'container',
        'deploy',
        'kubernetes',
        'logrotate',
        'nats-cluster',
        'rig-sheet',
        'systemd',
      ),
      ...inFolder('grafana', 'grafana'),
    ],
    workers: WAITING,
    waits: true,
    judges: true,
  },
  {
    name: 'package',
    what: 'what a stranger gets: the documents, the installed package, and clients of others at our node',
    files: [
      ...inFolder(
        'judges',
        'client',
        'client-utils',
        'foreign-clients',
        'mutation-report',
        'pact-lang-api',
        'test-results',
      ),
      ...inFolder('package', 'contents', 'install', 'kernels', 'project', 'workflows'),
      ...inFolder('debugger', 'dap', 'transaction'),
      ...inFolder('declarations', 'compiled'),
      ...inFolder('devnet', 'chainweb-client'),
      ...inFolder('wallet', 'same-as-client'),
      'test/docs-samples.test.ts',
      'test/readme.test.ts',
    ],
    workers: WAITING,
    waits: true,
    judges: true,
  },
]

const ALL_TESTS = 'test/**/*.test.ts'

/** The other parts are run in thirds: each file is in one of them. */
export const THIRDS = 3

/** The files of a part that are in a third. */
export const inThird = <T>(files: readonly T[], third: number): T[] =>
  files.filter((_, i) => i % THIRDS === third % THIRDS)

export const parts: readonly Part[] = [
  { name: QUICK, what: 'everything once: what npm test runs', files: [ALL_TESTS], workers: 3 },
  ...listed,
]

/** A vitest project: files that run in the same way. */
export interface Project {
  readonly name: string
  /** Whether each file has its own process. */
  readonly isolate: boolean
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  readonly workers: number
  /** Projects with different orders do not overlap. */
  readonly order: number
}

/** The files of test/ itself, which compare documents and source. */
const DOCUMENTS = 'documents'

/**
 * Rooms of the quick set whose files leave nothing behind: no global, environment or listener. The files of a row share
 * processes, which saves loading the modules for each file. Rows group files by their modules: commands, language,
 * miner, node, everything.
 */
const SHARED: readonly (readonly string[])[] = [
  ['cli'],
  ['contracts', 'debugger', 'editor'],
  ['api', 'compose', 'engine', 'fleet', 'gpu', 'mine', 'source', 'tune', 'web'],
  ['base', 'chain', 'devnet', 'node', 'stratum', 'wallet'],
  ['conformance', 'copy', 'judges', 'payouts'],
  ['accounts', 'journal', 'sensors'],
  ['deploy', 'prose', 'scripts', DOCUMENTS],
]

const filesOf = (rooms: readonly string[]) =>
  rooms.map((room) => (room === DOCUMENTS ? 'test/*.test.ts' : `test/${room}/**/*.test.ts`))
const elsewhere = ['**/node_modules/**', ...listed.flatMap(({ files }) => files)]
const shared = SHARED.map(filesOf)

/** Projects have the name of their part plus the rooms that share processes. */
export const projects: readonly Project[] = parts.flatMap(({ name, files, workers, waits }, place): Project[] => {
  const order = waits ? parts.length : place
  const { TEST_THIRD: third } = process.env
  const include = third === undefined ? files : inThird(files, Number(third))
  if (name !== QUICK) return [{ name, isolate: true, include, exclude: [], workers, order }]
  const alone = { name, isolate: true, include: files, exclude: [...elsewhere, ...shared.flat()], workers, order }
  const together = shared.map((include, i) => {
    return { name: `${name}-${SHARED[i].join('-')}`, isolate: false, include, exclude: elsewhere, workers, order }
  })
  return [alone, ...together]
})

/** The part of a project. */
export const partOf = (project: string): string => project.split('-')[0]

/** The projects of these parts. */
export const projectsOf = (names: readonly string[]): readonly string[] =>
  projects.map(({ name }) => name).filter((name) => names.includes(partOf(name)))

/** The parts that need the packages of test/package.json, among those named, or those with a file that a word selects. */
export const judgesOf = (names: readonly string[], filters: readonly string[]): readonly string[] =>
  parts
    .filter(({ judges }) => judges)
    .filter(({ name, files }) =>
      filters.length === 0 ? names.includes(name) : filters.some((word) => files.some((file) => file.includes(word))),
    )
    .map(({ name }) => name)

/** Groups parts that run at the same time, in order of execution. */
export function runsOf(names: readonly string[]): string[][] {
  const waiting = parts.filter(({ name, waits }) => waits && names.includes(name)).map(({ name }) => name)
  const alone = parts.filter(({ name, waits }) => !waits && names.includes(name)).map(({ name }) => [name])
  return waiting.length > 0 ? [...alone, waiting] : alone
}

/** The values of `--part`. */
export const partNames = parts.map(({ name }) => name).join(', ')

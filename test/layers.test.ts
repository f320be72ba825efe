import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/**
 * Allowed imports between the folders of src/ ('' is main.ts and newcut.ts). Everything may import core and base.
 * mine knows sources and engines by their port files only. node and devnet meet only on the wire; they share just the
 * schemas of the bodies.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  '': ['commands', 'cli', 'platform', 'core', 'base'],
  commands: [
    'accounts',
    'payouts',
    'compose',
    'stratum-check',
    'conformance',
    'stratum',
    'cli',
    'editor',
    'contracts',
    'declarations',
    'wallet',
    'source',
    'api',
    'journal',
    'sensors',
    'mine',
    'engine',
    'fleet',
    'node',
    'devnet',
    'fork',
    'schema',
    'platform',
    'core',
    'base',
  ],
  compose: [
    'accounts',
    'payouts',
    'api',
    'web',
    'journal',
    'sensors',
    'mine',
    'source',
    'engine',
    'fleet',
    'node',
    'devnet',
    'fork',
    'schema',
    'platform',
    'core',
    'base',
  ],
  cli: ['mine', 'source', 'engine', 'schema', 'core', 'base'],
  api: ['accounts', 'mine', 'source', 'stratum', 'platform', 'core', 'base'],
  journal: ['mine', 'schema', 'core', 'base'],
  sensors: ['mine', 'core', 'base'],
  mine: ['source', 'engine', 'core', 'base'],
  web: ['accounts', 'mine', 'source', 'engine', 'node', 'schema', 'core', 'base'],
  source: ['fleet', 'stratum', 'node', 'schema', 'core', 'base'],
  engine: ['accounts', 'fleet', 'stratum', 'schema', 'core', 'base'],
  accounts: ['fleet', 'stratum', 'schema', 'core', 'base'],
  fleet: ['schema', 'core', 'base'],
  stratum: ['core', 'base'],
  'stratum-check': ['stratum', 'core', 'base'],
  conformance: ['wallet', 'node', 'schema', 'core', 'base'],
  payouts: ['accounts', 'wallet', 'node', 'schema', 'core', 'base'],
  declarations: ['wallet', 'contracts', 'core', 'base'],
  wallet: ['contracts', 'node', 'schema', 'core', 'base'],
  node: ['schema', 'core', 'base'],
  devnet: ['contracts', 'fork', 'schema', 'platform', 'core', 'base'],
  schema: ['core', 'base'],
  platform: ['core', 'base'],
  editor: ['contracts', 'core', 'base'],
  contracts: ['core', 'base'],
  fork: ['contracts', 'core', 'base'],
  core: ['base'],
  base: [],
}

const ROOMS_OF_DEVNET = [
  'data',
  'fork',
  'orders',
  'watch',
  'execution',
  'work',
  'mempool',
  'ledger',
  'command',
  'rules',
  'store',
]

/** The same for the folders inside devnet, engine, source, contracts and web ('' is the room itself). */
const allowedInside: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  devnet: {
    '': ['http', ...ROOMS_OF_DEVNET],
    http: ['', ...ROOMS_OF_DEVNET],
    execution: ['mempool', 'ledger', 'command', 'rules', 'store'],
    data: ['fork', 'mempool', 'ledger', 'rules', 'store'],
    fork: ['orders', 'ledger', 'rules', 'store'],
    orders: ['work', 'rules', 'store'],
    watch: ['', 'mempool', 'command', 'rules', 'store'],
    work: ['', 'mempool', 'ledger', 'command', 'rules', 'store'],
    mempool: ['', 'ledger', 'command', 'rules', 'store'],
    ledger: ['command', 'rules', 'store'],
    command: [],
    rules: ['store'],
    store: [],
  },
  engine: {
    '': [],
    native: [''],
    cpu: ['', 'native'],
    gpu: ['', 'native'],
    stratum: ['', 'native'],
    passthrough: ['', 'stratum'],
    fleet: [''],
  },
  // The room itself has the ports and the mailbox. Failover knows neither nodes nor pools.
  source: {
    '': [],
    failover: [''],
    node: [''],
    nodes: ['', 'node', 'failover'],
    pool: ['', 'failover'],
    fleet: [''],
  },
  // The room itself has errors.ts below all, and language.ts, which hands the natives to the evaluator.
  contracts: {
    '': ['failures', 'natives', 'machine', 'values'],
    failures: [''],
    repl: ['', 'failures', 'coverage', 'trace', 'machine', 'syntax', 'values'],
    coverage: ['', 'machine', 'syntax', 'values'],
    trace: ['', 'machine', 'values'],
    natives: ['', 'failures', 'machine', 'values'],
    machine: ['', 'failures', 'syntax', 'values'],
    syntax: ['', 'values'],
    values: [''],
    system: [],
  },
  web: { '': [], kit: [], dashboard: ['', 'kit'], explorer: ['', 'kit'], 'mine-page': ['', 'kit'] },
}

/** Rooms that each part of web may import besides core and base. */
const allowedToWeb: Readonly<Record<string, readonly string[]>> = {
  '': [],
  kit: [],
  dashboard: ['accounts', 'mine', 'source'],
  explorer: ['schema'],
  'mine-page': ['source', 'engine', 'node', 'schema'],
}

const ports = ['source/source.ts', 'engine/engine.ts', 'engine/rigs.ts', 'engine/leader.ts']
const src = fileURLToPath(new URL('../src', import.meta.url))

interface Import {
  readonly from: string
  readonly to: string
  /** Whether TypeScript erases the import, so that it loads nothing at run time. */
  readonly isType: boolean
}

const IMPORT = /(?:\b(?:import|export)\s+(type\s+)?[\w*{}\s,$]+?\s+from\s+|\bfrom\s+|\bimport\s+|\bimport\()'([^']+)'/g

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

/** Programs in docstrings import the package as its users do. */
const EXAMPLE = /^ \* ```ts$[\s\S]*?^ \* ```$/gm

const imports: Import[] = files.flatMap((from) => {
  const text = readFileSync(join(src, from), 'utf8').replace(EXAMPLE, '')
  return [...text.matchAll(IMPORT)].map(([, type, specifier]) => {
    const to = specifier.startsWith('.') ? relative(src, resolve(src, dirname(from), specifier)) : specifier
    return { from, to, isType: type !== undefined }
  })
})

const room = (file: string) => (file.includes('/') ? file.split('/')[0] : '')
/** The folder inside its room, or '' for a file of the room itself. */
const inner = (file: string) => (file.split('/').length > 2 ? file.split('/')[1] : '')
const isOurs = (to: string) => to.endsWith('.ts') && !to.startsWith('..')

it('finds the sources and their imports', () => {
  expect(files.length).toBeGreaterThan(30)
  expect(imports.filter(({ to }) => isOurs(to)).length).toBeGreaterThan(60)
})

it('imports point in the direction of the design', () => {
  const wrong = imports.filter(({ from, to }) => {
    if (!isOurs(to) || room(from) === room(to)) return false
    return !allowed[room(from)]?.includes(room(to))
  })
  expect(wrong).toEqual([])
})

it('imports inside devnet, engine, source, contracts and web point in the direction of the design', () => {
  const wrong = imports.filter(({ from, to }) => {
    const rules = allowedInside[room(from)]
    if (rules === undefined || !isOurs(to) || room(to) !== room(from) || inner(from) === inner(to)) return false
    return !rules[inner(from)]?.includes(inner(to))
  })
  expect(wrong).toEqual([])
})

const runsInBrowser = (file: string) => /^web\/(kit|[^/]+\/browser)\//.test(file)

it('rooms of devnet import nothing from the folder itself but the time slicer', () => {
  const isOfRoom = (file: string) => file.split('/').length > 2
  const taken = imports.filter(
    ({ from, to }) => isOurs(to) && room(from) === 'devnet' && room(to) === 'devnet' && isOfRoom(from) && !isOfRoom(to),
  )
  expect([...new Set(taken.map(({ to }) => to))]).toEqual(['devnet/time-slicer.ts'])
})

it('each page of web imports only the rooms that it needs', () => {
  const wrong = imports.filter(({ from, to }) => {
    if (room(from) !== 'web' || !isOurs(to) || ['web', 'core', 'base'].includes(room(to))) return false
    return !allowedToWeb[inner(from)]?.includes(room(to))
  })
  expect(wrong).toEqual([])
})

it('browser code loads the kit, core, base, the lines of the dashboard, and the search of the engine for /mine', () => {
  const wrong = imports.filter(({ from, to, isType }) => {
    if (!runsInBrowser(from) || isType || runsInBrowser(to) || to === 'web/dashboard/lines.ts') return false
    return !['core', 'base'].includes(room(to)) && !(inner(from) === 'mine-page' && room(to) === 'engine')
  })
  expect(wrong).toEqual([])
})

it('a server imports no browser code, and that of a page nothing but the shader from the engine', () => {
  const wrong = imports.filter(({ from, to }) => {
    if (runsInBrowser(from)) return false
    return runsInBrowser(to) || (room(from) === 'web' && room(to) === 'engine' && to !== 'engine/gpu/shader.ts')
  })
  expect(wrong).toEqual([])
})

it('mine and api know sources and engines by their ports only', () => {
  const wrong = imports.filter(({ from, to }) => {
    if (!['mine', 'api'].includes(room(from)) || !['source', 'engine'].includes(room(to))) return false
    return !ports.includes(to)
  })
  expect(wrong).toEqual([])
})

it('core imports nothing but libraries for hashes', () => {
  const wrong = imports.filter(
    ({ from, to }) => room(from) === 'core' && !isOurs(to) && !to.startsWith('@noble/hashes') && to !== 'hash-wasm',
  )
  expect(wrong).toEqual([])
})

it('base imports nothing but modules of Node.js, and reads hexadecimal text with its library for hashes', () => {
  const wrong = imports.filter(
    ({ from, to }) =>
      room(from) === 'base' && !isOurs(to) && !to.startsWith('node:') && to !== '@noble/hashes/utils.js',
  )
  expect(wrong).toEqual([])
})

/** Files of base that read or write files. */
const diskFiles = ['base/replace-file.ts', 'base/sealed-log.ts']

it('core, mine and base touch no clock, randomness, environment, file or timer', () => {
  const forbidden =
    /\b(Date\.now|new Date|performance\.|Math\.random|process\.|setTimeout|setInterval|setImmediate|'node:)/
  const wrong = files.filter((name) => {
    if (!['core', 'mine', 'base'].includes(room(name)) || diskFiles.includes(name)) return false
    const code = readFileSync(join(src, name), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    return forbidden.test(code)
  })
  expect(wrong).toEqual([])
})

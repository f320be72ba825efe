import { describe, expect, it } from 'vitest'
import { code, imports, isOurs } from './import-graph.ts'

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
    'testing',
    'declarations',
    'wallet',
    'source',
    'api',
    'journal',
    'sensors',
    'tune',
    'mine',
    'engine',
    'fleet',
    'node',
    'devnet',
    'copy',
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
    'tune',
    'sensors',
    'mine',
    'source',
    'engine',
    'fleet',
    'node',
    'devnet',
    'copy',
    'conformance',
    // Texts of the modules of a fork, for editors.
    'editor',
    'testing',
    // Rewards that only a contract states.
    'wallet',
    'schema',
    'platform',
    'core',
    'base',
  ],
  // Words of options: cases and makers.
  cli: ['mine', 'source', 'engine', 'conformance', 'stratum-check', 'schema', 'platform', 'core', 'base'],
  api: ['accounts', 'mine', 'source', 'stratum', 'platform', 'core', 'base'],
  journal: ['mine', 'schema', 'core', 'base'],
  tune: ['sensors', 'mine', 'engine', 'schema', 'platform', 'core', 'base'],
  sensors: ['mine', 'core', 'base'],
  mine: ['source', 'engine', 'core', 'base'],
  web: ['accounts', 'mine', 'source', 'engine', 'wallet', 'contracts', 'node', 'schema', 'core', 'base'],
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
  devnet: ['contracts', 'copy', 'schema', 'platform', 'core', 'base'],
  schema: ['core', 'base'],
  platform: ['core', 'base'],
  testing: ['editor', 'contracts', 'copy', 'platform', 'base'],
  editor: ['contracts', 'core', 'base'],
  contracts: ['core', 'base'],
  copy: ['contracts', 'core', 'base'],
  core: ['base'],
  base: [],
}

/**
 * Folders that import more than the rest of their room. Only commands import them: `input` turns what users give into
 * what rooms take, and `results` turns what commands find into lines for people.
 */
const allowedToFolder: Readonly<Record<string, readonly string[]>> = {
  'cli/input': [
    ...['compose', 'wallet', 'contracts', 'fleet', 'source', 'tune', 'sensors', 'journal', 'mine', 'engine', 'node'],
    ...['devnet', 'copy', 'testing', 'schema', 'platform', 'core', 'base'],
  ],
  'cli/results': [
    ...['compose', 'payouts', 'stratum-check', 'wallet', 'contracts', 'stratum', 'journal', 'mine', 'devnet'],
    ...['copy', 'schema', 'platform', 'core', 'base'],
  ],
}

const ROOMS_OF_DEVNET = [
  'options',
  'data',
  'copy',
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

/** The same for the folders inside a room or a folder ('' is the room or folder itself). */
const allowedInside: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  devnet: {
    '': ['http', ...ROOMS_OF_DEVNET],
    http: ['', ...ROOMS_OF_DEVNET],
    options: ['http', 'copy', 'rules'],
    execution: ['mempool', 'ledger', 'command', 'rules', 'store'],
    data: ['copy', 'mempool', 'ledger', 'rules', 'store'],
    copy: ['orders', 'ledger', 'rules', 'store'],
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
    paced: ['', 'node'],
  },
  // The room itself has errors.ts below all, language.ts, which hands the natives to the evaluator, and the faces
  // run.ts and check.ts.
  contracts: {
    '': ['failures', 'trace', 'natives', 'machine', 'syntax', 'values'],
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
  // The folder itself has the tables of all natives: their prices, their work, and which are pure.
  'contracts/natives': { '': ['data', 'crypto', 'chain'], data: [], crypto: ['data'], chain: ['data'] },
  // The folder itself has the types of a run. Code is expanded first, then evaluated; modules are loaded with both.
  'contracts/machine': {
    '': ['gas'],
    gas: [],
    rights: ['', 'gas'],
    expand: ['', 'gas'],
    evaluate: ['', 'gas', 'rights', 'expand'],
    load: ['', 'gas', 'rights', 'expand', 'evaluate'],
  },
  // A file is read, analysed together with those that it loads, and asked about. Messages come last.
  editor: {
    '': [],
    text: [],
    format: ['text'],
    analysis: ['text'],
    workspace: ['text', 'analysis'],
    features: ['text', 'analysis', 'workspace'],
    protocol: ['text', 'format', 'workspace', 'analysis', 'features'],
  },
  web: { '': [], kit: [], dashboard: ['', 'kit'], explorer: ['', 'kit'], 'mine-page': ['', 'kit'] },
}

/** Rooms that each part of web may import besides core and base. */
const allowedToWeb: Readonly<Record<string, readonly string[]>> = {
  '': [],
  kit: [],
  dashboard: ['accounts', 'mine', 'source'],
  explorer: ['wallet', 'contracts', 'schema'],
  'mine-page': ['source', 'engine', 'node', 'schema'],
}

const ports = ['source/source.ts', 'engine/engine.ts', 'engine/rigs.ts', 'engine/leader.ts']
const files = [...code.keys()]

const room = (file: string) => (file.includes('/') ? file.split('/')[0] : '')
/** The folder inside its room, or '' for a file of the room itself. */
const inner = (file: string) => (file.split('/').length > 2 ? file.split('/')[1] : '')
const ours = imports.filter(isOurs)
const folder = (file: string) => `${room(file)}/${inner(file)}`

it('finds the sources and their imports', () => {
  expect(files.length).toBeGreaterThan(30)
  expect(ours.length).toBeGreaterThan(60)
})

it('imports point in the direction of the design', () => {
  const wrong = ours.filter(({ from, to }) => {
    if (room(from) === room(to)) return false
    return !(allowedToFolder[folder(from)] ?? allowed[room(from)])?.includes(room(to))
  })
  expect(wrong).toEqual([])
})

it('only commands import the folders of cli that know all rooms', () => {
  const wrong = ours.filter(({ from, to }) => {
    if (!(folder(to) in allowedToFolder) || room(from) === 'commands') return false
    return folder(from) !== folder(to)
  })
  expect(wrong).toEqual([])
})

it.each(Object.entries(allowedInside))('imports inside %s point in the direction of the design', (place, rules) => {
  /** The folder inside the place, '' for a file of the place itself, and null for one outside of it. */
  const partOf = (file: string) => {
    if (!file.startsWith(`${place}/`)) return null
    const rest = file.slice(place.length + 1).split('/')
    return rest.length > 1 ? rest[0] : ''
  }
  const parts = new Set(files.map(partOf).filter((part) => part !== null && part !== ''))
  expect([...parts].toSorted()).toEqual(
    Object.keys(rules)
      .filter((part) => part !== '')
      .toSorted(),
  )
  const wrong = ours.filter(({ from, to }) => {
    const [own, other] = [partOf(from), partOf(to)]
    return own !== null && other !== null && own !== other && !rules[own]?.includes(other)
  })
  expect(wrong).toEqual([])
})

/**
 * Files of large flat rooms by kind. A file imports those of its own kind and of kinds before it.
 * public.ts, the entry of the package, imports all.
 */
const kinds: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  core: {
    hashes: ['blake2b', 'blake2s', 'command-hash'],
    keys: ['phrase-keys', 'slh-dsa', 'development-accounts'],
    blocks: [
      'header',
      'work',
      'nonce',
      'target',
      'pow',
      'merkle',
      'block-hash',
      'payload',
      'graph',
      'fork',
      'solution',
    ],
    proofs: ['merkle-path', 'spv', 'prove-output'],
    payments: ['coinbase', 'block-fees', 'gas', 'command-size'],
    networks: ['network', 'network-form', 'network-data', 'known-networks'],
    rules: ['genesis', 'cut', 'difficulty', 'validate', 'header-json', 'spv-window', 'reward', 'block-payment'],
  },
  node: {
    connections: ['authorities', 'unreachable', 'undici', 'dial', 'machine-clock', 'round-trip', 'http'],
    requests: ['errors', 'requests', 'paging', 'header-encoding', 'event-filter', 'event-stream'],
    checks: ['node-info', 'verify-network', 'verify', 'verify-payload'],
    calls: [
      ...['chain-calls', 'command-calls', 'genesis-calls', 'mining-calls', 'node-calls', 'payload-calls'],
      ...['stream-calls', 'updates', 'wait-for'],
    ],
    client: ['client'],
  },
}

describe.each(Object.entries(kinds))('the files of %s', (name, groups) => {
  const order = new Map(
    Object.values(groups).flatMap((list, place) => list.map((file) => [`${name}/${file}.ts`, place])),
  )

  it('have a kind each', () => {
    const flat = files.filter((file) => room(file) === name && inner(file) === '' && file !== `${name}/public.ts`)
    expect(flat.toSorted()).toEqual([...order.keys()].toSorted())
  })

  it('import files of their own kind and of those before', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [own, other] = [order.get(from), order.get(to)]
      return own !== undefined && other !== undefined && other > own
    })
    expect(wrong).toEqual([])
  })
})

const runsInBrowser = (file: string) => /^web\/(kit|[^/]+\/browser)\//.test(file)

it('rooms of devnet import nothing from the folder itself but the time slicer', () => {
  const isOfRoom = (file: string) => file.split('/').length > 2
  const taken = ours.filter(
    ({ from, to }) => room(from) === 'devnet' && room(to) === 'devnet' && isOfRoom(from) && !isOfRoom(to),
  )
  expect([...new Set(taken.map(({ to }) => to))]).toEqual(['devnet/time-slicer.ts'])
})

/** Files of the language that other rooms take. The list only shrinks: a new need is a function of one of these. */
const FACE_OF_LANGUAGE = [
  'contracts/check.ts',
  'contracts/errors.ts',
  'contracts/machine/ast.ts',
  'contracts/machine/environment.ts',
  'contracts/machine/state.ts',
  'contracts/machine/types.ts',
  'contracts/repl/run-observer.ts',
  'contracts/repl/run.ts',
  'contracts/repl/test-start.ts',
  'contracts/repl/vocabulary.ts',
  'contracts/run.ts',
  'contracts/stored-modules.ts',
  'contracts/syntax/form.ts',
  'contracts/syntax/names.ts',
  'contracts/syntax/outline.ts',
  'contracts/syntax/program.ts',
  'contracts/syntax/reader.ts',
  'contracts/system/system.ts',
  'contracts/trace/print-log.ts',
  'contracts/trace/tree.ts',
  'contracts/values/compare.ts',
  'contracts/values/decimal.ts',
  'contracts/values/hash.ts',
  'contracts/values/keep.ts',
  'contracts/values/print.ts',
  'contracts/values/size.ts',
  'contracts/values/time-text.ts',
  'contracts/values/value.ts',
  'contracts/values/wire.ts',
]

it('other rooms take few files of the language', () => {
  const taken = imports.filter(({ from, to }) => room(to) === 'contracts' && room(from) !== 'contracts')
  expect([...new Set(taken.map(({ to }) => to))].toSorted()).toEqual(FACE_OF_LANGUAGE)
})

it('each page of web imports only the rooms that it needs', () => {
  const wrong = ours.filter(({ from, to }) => {
    if (room(from) !== 'web' || ['web', 'core', 'base'].includes(room(to))) return false
    return !allowedToWeb[inner(from)]?.includes(room(to))
  })
  expect(wrong).toEqual([])
})

/** Scripts of a page may load these besides its own modules and the kit: they need no module of Node.js. */
const IN_PAGES: readonly (readonly [page: RegExp, loaded: RegExp])[] = [
  [/./, /^(base|core)\//],
  [/./, /^@noble\/hashes\//],
  [/^dashboard$/, /^web\/dashboard\/lines\.ts$/],
  [/^explorer$/, /^contracts\/(errors\.ts|failures\/|syntax\/|values\/)/],
  [/^explorer$/, /^wallet\/(capability|command)\.ts$/],
  [/^mine-page$/, /^engine\//],
]

it('pages load the kit, and of the house what needs no Node.js', () => {
  const wrong = imports.filter(({ from, to, isType }) => {
    if (!runsInBrowser(from) || isType || runsInBrowser(to)) return false
    return !IN_PAGES.some(([page, loaded]) => page.test(inner(from)) && loaded.test(to))
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
    (each) => room(each.from) === 'core' && !isOurs(each) && !/^@noble\/hashes|^hash-wasm$/.test(each.to),
  )
  expect(wrong).toEqual([])
})

it('base imports nothing but modules of Node.js, and reads hexadecimal text with its library for hashes', () => {
  const wrong = imports.filter(
    (each) => room(each.from) === 'base' && !isOurs(each) && !/^node:|^@noble\/hashes\/utils\.js$/.test(each.to),
  )
  expect(wrong).toEqual([])
})

/** Files of base that read or write files. */
const diskFiles = ['base/replace-file.ts', 'base/sealed-log.ts', 'base/user-file.ts']

it('core, mine and base touch no clock, randomness, environment, file or timer', () => {
  const forbidden =
    /\b(Date\.now|new Date|performance\.|Math\.random|process\.|setTimeout|setInterval|setImmediate|'node:)/
  const wrong = files.filter((name) => {
    if (!['core', 'mine', 'base'].includes(room(name)) || diskFiles.includes(name)) return false
    return forbidden.test(code.get(name) ?? '')
  })
  expect(wrong).toEqual([])
})

/** Files of the server side that send HTTP requests, and their bounds. */
const REQUESTERS: Readonly<Record<string, string>> = {
  'base/http-answer.ts': 'the reader of answers',
  'conformance/clients/serve.ts': 'passes answers and streams on as they come, up to a size',
  'conformance/wire.ts': 'round trips of the client in node/',
  'node/undici.ts': 'the client of a node, with round trips of limited time and size',
}

it('only the reader of answers, the client of a node and pages send HTTP requests', () => {
  const request =
    /(?:\b(?:await|return|void)|[=(,:?&|])\s*(?:globalThis\.)?fetch\(|(?<![.#\w])https?\.(?:request|get)\(|^import (?!type ).*'undici'|^export \{.*'undici'/m
  const senders = files.filter((name) => {
    if (runsInBrowser(name)) return false
    return request.test(code.get(name) ?? '')
  })
  expect(senders.toSorted()).toEqual(Object.keys(REQUESTERS))
})

/** Files of the server side that open files by other means than base/user-file.ts. The list only shrinks. */
const OPENERS: Readonly<Record<string, string>> = {
  'api/machine.ts': 'files of the operating system',
  'base/replace-file.ts': 'writes a new file',
  'base/sealed-log.ts': 'a file of the data folder',
  'base/user-file.ts': 'the reader of files that users name',
  'cli/hotkeys.ts': 'a file of the operating system',
  'compose/live-texts.ts': 'a temporary file of its own',
  'compose/search/rig-starts.ts': 'a file of the state folder',
  'contracts/system/system.ts': 'a file of the package',
  'copy/cache.ts': 'a file of the cache',
  'devnet/copy/open-copy.ts': 'a file of the data folder',
  'devnet/data/state-file.ts': 'reads a descriptor of base/user-file.ts, and writes a new file',
  'devnet/execution/processor-time.ts': 'files of the operating system',
  'engine/cache-folder.ts': 'a file of the cache',
  'engine/cpu/native-files.ts': 'a file of the package',
  'engine/gpu/shader.ts': 'a file of the package',
  'engine/native/cache.ts': 'a file of the cache',
  'engine/native/part.ts': 'a file of the package',
  'engine/native/provide.ts': 'a file of the cache',
  'journal/disk.ts': 'files of the state folder',
  'payouts/payout-totals.ts': 'a file of the data folder',
  'platform/descriptors.ts': 'a file of the operating system',
  'platform/log-file.ts': 'appends to a file',
  'platform/secret-file.ts': 'writes a new file',
  'platform/version.ts': 'a file of the package',
  'sensors/hwmon.ts': 'files of the operating system',
  'sensors/load.ts': 'files of the operating system',
  'sensors/powercap.ts': 'files of the operating system',
  'web/assets.ts': 'files of the package',
}

it('files that a user names are opened by one reader', () => {
  const opener = /\b(?:readFileSync|createReadStream|openSync)\b|(?<!#)\breadFile\(|\bopen\([^()]*'r\+?'/
  const openers = files.filter((name) => {
    if (runsInBrowser(name)) return false
    return opener.test(code.get(name) ?? '')
  })
  expect(openers.toSorted()).toEqual(Object.keys(OPENERS))
})

/** Files of the server side that parse JSON text by other means than base/json.ts. The list only shrinks. */
const JSON_PARSERS: Readonly<Record<string, string>> = {
  'accounts/share-records.ts': 'records of its own database',
  'base/json.ts': 'the reader of JSON',
  'commands/verify-report.ts': 'a text that it has just written',
  'devnet/copy/open-copy.ts': 'a file of the data folder',
  'devnet/data/database.ts': 'records of its own database',
  'devnet/http/encode/openapi.ts': 'a text that it has just written',
  'devnet/http/lookup/pact-index.ts': 'outputs of its own blocks',
  'devnet/http/routes/control-rows.ts': 'a text that it has just written',
  'devnet/http/routes/control-run.ts': 'outputs of its own blocks',
  'devnet/http/view/command-view.ts': 'outputs of its own blocks',
  'devnet/ledger/genesis.ts': 'commands of the package',
  'devnet/ledger/recorded.ts': 'a text that it has just written',
  'devnet/ledger/row-json.ts': 'a text that it has just written',
  'devnet/ledger/trace.ts': 'outputs of its own blocks',
  'devnet/watch/outcome.ts': 'outputs of its own blocks',
  'engine/gpu/child.ts': 'messages of its own processes',
  'engine/gpu/messages.ts': 'messages of its own processes',
  'journal/checkpoint.ts': 'a file of the state folder',
  'journal/record.ts': 'a file of the state folder',
  'payouts/pay.ts': 'commands that it has made',
  'payouts/payout-line.ts': 'a file of the data folder',
  'platform/version.ts': 'a file of the package',
  'wallet/advice.ts': 'commands that it has made',
}

it('JSON text that others wrote is parsed by one reader', () => {
  const parsers = files.filter((name) => {
    if (runsInBrowser(name)) return false
    return /\bJSON\.parse\b|\.json\(\)/.test(code.get(name) ?? '')
  })
  expect(parsers.toSorted()).toEqual(Object.keys(JSON_PARSERS))
})

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { code, imports, folderOf as inner, isOurs, roomOf as room, wingOf } from './import-graph.ts'

/**
 * The wings of src/, and the wings that each may import. Each is a project of the compiler, which refuses other imports.
 * The client of a node and the node meet only on the wire: they share the schemas of the bodies.
 */
const wings: Readonly<Record<string, readonly string[]>> = {
  ground: [],
  language: ['ground'],
  client: ['language', 'ground'],
  devnet: ['language', 'ground'],
  mining: ['client', 'language', 'ground'],
  pool: ['mining', 'client', 'language', 'ground'],
  faces: ['pool', 'mining', 'client', 'language', 'ground'],
  compose: ['faces', 'pool', 'mining', 'client', 'devnet', 'language', 'ground'],
  commands: ['compose', 'faces', 'pool', 'mining', 'client', 'devnet', 'language', 'ground'],
}

/**
 * Allowed imports between rooms. Everything may import chain and base, and the wings compose and commands may import all
 * rooms of the wings below them. mine knows sources and engines by their port files only.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  // Words of options: cases and makers.
  cli: ['mine', 'source', 'engine', 'conformance', 'stratum-check', 'schema', 'platform', 'chain', 'base'],
  api: ['accounts', 'mine', 'source', 'stratum', 'platform', 'chain', 'base'],
  journal: ['mine', 'schema', 'chain', 'base'],
  tune: ['sensors', 'mine', 'engine', 'schema', 'platform', 'chain', 'base'],
  sensors: ['mine', 'chain', 'base'],
  mine: ['source', 'engine', 'chain', 'base'],
  web: ['accounts', 'mine', 'source', 'engine', 'wallet', 'contracts', 'node', 'schema', 'chain', 'base'],
  source: ['fleet', 'stratum', 'node', 'schema', 'chain', 'base'],
  engine: ['accounts', 'fleet', 'stratum', 'schema', 'chain', 'base'],
  accounts: ['fleet', 'stratum', 'schema', 'chain', 'base'],
  fleet: ['schema', 'chain', 'base'],
  stratum: ['chain', 'base'],
  'stratum-check': ['stratum', 'chain', 'base'],
  conformance: ['wallet', 'node', 'schema', 'chain', 'base'],
  payouts: ['accounts', 'wallet', 'node', 'schema', 'chain', 'base'],
  declarations: ['wallet', 'contracts', 'chain', 'base'],
  matchers: ['contracts', 'base'],
  wallet: ['contracts', 'node', 'schema', 'chain', 'base'],
  node: ['schema', 'chain', 'base'],
  devnet: ['debugger', 'contracts', 'copy', 'schema', 'platform', 'chain', 'base'],
  schema: ['chain', 'base'],
  platform: ['chain', 'base'],
  mutation: ['testing', 'contracts', 'platform', 'base'],
  debugger: ['testing', 'editor', 'contracts', 'base'],
  testing: ['editor', 'contracts', 'copy', 'platform', 'base'],
  editor: ['contracts', 'chain', 'base'],
  contracts: ['chain', 'base'],
  copy: ['contracts', 'chain', 'base'],
  chain: ['base'],
  base: [],
}

const ROOMS_OF_DEVNET = [
  'options',
  'data',
  'copy',
  'control',
  'watch',
  'simulation',
  'debugging',
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
    simulation: ['execution', 'mempool', 'ledger', 'command', 'rules', 'store'],
    debugging: ['execution', 'ledger', 'command'],
    execution: ['mempool', 'ledger', 'command', 'rules', 'store'],
    data: ['copy', 'mempool', 'ledger', 'rules', 'store'],
    // The comparison of code with the copied node reads commands.
    copy: ['control', 'ledger', 'command', 'rules', 'store'],
    control: ['work', 'rules', 'store'],
    watch: ['', 'mempool', 'command', 'rules', 'store'],
    work: ['', 'mempool', 'ledger', 'command', 'rules', 'store'],
    mempool: ['', 'ledger', 'command', 'rules', 'store'],
    ledger: ['command', 'rules', 'store'],
    command: [],
    rules: ['store'],
    store: [],
  },
  'mining/engine': {
    '': [],
    native: [''],
    cpu: ['', 'native'],
    gpu: ['', 'native'],
    stratum: ['', 'native'],
    passthrough: ['', 'stratum'],
    fleet: [''],
  },
  // The room itself has the ports and the mailbox. Failover knows neither nodes nor pools.
  'mining/source': {
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
  'language/contracts': {
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
  'language/contracts/natives': { '': ['data', 'crypto', 'chain'], data: [], crypto: ['data'], chain: ['data'] },
  // The folder itself has the types of a run. Code is expanded first, then evaluated; modules are loaded with both.
  'language/contracts/machine': {
    '': ['gas'],
    gas: [],
    rights: ['', 'gas'],
    expand: ['', 'gas'],
    evaluate: ['', 'gas', 'rights', 'expand'],
    load: ['', 'gas', 'rights', 'expand', 'evaluate'],
  },
  // A file is read, analysed together with those that it loads, and asked about. Messages come last.
  'language/editor': {
    '': [],
    text: [],
    format: ['text'],
    analysis: ['text'],
    workspace: ['text', 'analysis'],
    features: ['text', 'analysis', 'workspace'],
    protocol: ['text', 'format', 'workspace', 'analysis', 'features'],
  },
  // The folder itself has the program and its breakpoints; protocol is the face of an editor.
  'language/debugger': { '': [], protocol: [''] },
  'faces/web': { '': [], kit: [], dashboard: ['', 'kit'], explorer: ['', 'kit'], 'mine-page': ['', 'kit'] },
}

/** Rooms that each part of web may import besides core and base. */
const allowedToWeb: Readonly<Record<string, readonly string[]>> = {
  '': [],
  kit: [],
  dashboard: ['accounts', 'mine', 'source'],
  explorer: ['wallet', 'contracts', 'schema'],
  'mine-page': ['source', 'engine', 'node', 'schema'],
}

const ports = ['mining/source/source.ts', 'mining/engine/engine.ts', 'mining/engine/rigs.ts', 'mining/engine/leader.ts']
const files = [...code.keys()]

const ours = imports.filter(isOurs)

it('the test finds the sources and their imports', () => {
  expect(files.length).toBeGreaterThan(30)
  expect(ours.length).toBeGreaterThan(60)
})

it.each(Object.entries(wings))('the wing %s imports wings below it, as the compiler checks', (wing, below) => {
  const { references } = JSON.parse(readFileSync(new URL(`../src/${wing}/tsconfig.json`, import.meta.url), 'utf8'))
  expect(references.map(({ path }: { path: string }) => path)).toEqual(below.map((each) => `../${each}`))
  const wrong = ours.filter(({ from, to }) => {
    if (wingOf(from) !== wing || wingOf(to) === wing || to === 'newcut.ts') return false
    return !below.includes(wingOf(to))
  })
  expect(wrong).toEqual([])
})

it('every folder of src/ is a wing', () => {
  expect([...new Set(files.map(wingOf))].toSorted()).toEqual(['', ...Object.keys(wings)].toSorted())
})

it('an import of another wing begins with #, and no other import does', () => {
  const wrong = ours.filter(({ from, to, path }) => {
    if (wingOf(from) === '' || wingOf(to) === '') return false
    return (wingOf(from) !== wingOf(to)) !== path.startsWith('#')
  })
  expect(wrong).toEqual([])
})

it('imports between rooms point in the direction of the design', () => {
  const wrong = ours.filter(({ from, to }) => {
    if (['', 'compose', 'commands'].includes(wingOf(from)) || room(from) === room(to)) return false
    return !allowed[room(from)]?.includes(room(to))
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
  'ground/chain': {
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
  'client/node': {
    connections: ['error-rows', 'authorities', 'unreachable', 'undici', 'dial', 'machine-clock', 'round-trip', 'http'],
    requests: ['errors', 'requests', 'paging', 'header-encoding', 'event-filter', 'event-stream'],
    checks: ['node-info', 'verify-network', 'verify', 'verify-payload'],
    calls: [
      'chain-calls',
      'command-calls',
      'genesis-calls',
      'mining-calls',
      'node-calls',
      'payload-calls',
      'stream-calls',
      'updates',
      'wait-for',
    ],
    client: ['client'],
  },
}

describe.each(Object.entries(kinds))('the files of %s', (name, groups) => {
  const order = new Map(
    Object.values(groups).flatMap((list, place) => list.map((file) => [`${name}/${file}.ts`, place])),
  )

  it(`the files of ${name} have a kind each`, () => {
    const flat = files.filter(
      (file) => file.startsWith(`${name}/`) && inner(file) === '' && file !== `${name}/public.ts`,
    )
    expect(flat.toSorted()).toEqual([...order.keys()].toSorted())
  })

  it(`the files of ${name} import files of their own kind and of earlier ones`, () => {
    const wrong = imports.filter(({ from, to }) => {
      const [own, other] = [order.get(from), order.get(to)]
      return own !== undefined && other !== undefined && other > own
    })
    expect(wrong).toEqual([])
  })
})

const runsInBrowser = (file: string) => /^faces\/web\/(kit|[^/]+\/browser)\//.test(file)

it('rooms of devnet import nothing from the folder itself but the time slicer', () => {
  const isOfRoom = (file: string) => inner(file) !== ''
  const taken = ours.filter(
    ({ from, to }) => room(from) === 'devnet' && room(to) === 'devnet' && isOfRoom(from) && !isOfRoom(to),
  )
  expect([...new Set(taken.map(({ to }) => to))]).toEqual(['devnet/time-slicer.ts'])
})

/** Files of the language that other rooms take. The list only shrinks: a new need is a function of one of these. */
const FACE_OF_LANGUAGE = [
  'language/contracts/check.ts',
  'language/contracts/errors.ts',
  'language/contracts/machine/access-mode.ts',
  'language/contracts/machine/ast.ts',
  'language/contracts/machine/environment.ts',
  'language/contracts/machine/expand/expander.ts',
  'language/contracts/machine/expand/probe.ts',
  'language/contracts/machine/state.ts',
  'language/contracts/machine/term.ts',
  'language/contracts/machine/tracer.ts',
  'language/contracts/machine/types.ts',
  'language/contracts/repl/run-observer.ts',
  'language/contracts/repl/run.ts',
  'language/contracts/repl/test-start.ts',
  'language/contracts/repl/vocabulary.ts',
  'language/contracts/run.ts',
  'language/contracts/stored-modules.ts',
  'language/contracts/syntax/annotations.ts',
  'language/contracts/syntax/form.ts',
  'language/contracts/syntax/names.ts',
  'language/contracts/syntax/outline.ts',
  'language/contracts/syntax/program.ts',
  'language/contracts/syntax/reader.ts',
  'language/contracts/system/system.ts',
  'language/contracts/trace/observer.ts',
  'language/contracts/trace/print-log.ts',
  'language/contracts/trace/short-text.ts',
  'language/contracts/trace/tree.ts',
  'language/contracts/values/compare.ts',
  'language/contracts/values/decimal.ts',
  'language/contracts/values/hash.ts',
  'language/contracts/values/keep.ts',
  'language/contracts/values/print.ts',
  'language/contracts/values/size.ts',
  'language/contracts/values/time-text.ts',
  'language/contracts/values/value.ts',
  'language/contracts/values/wire.ts',
]

it('other rooms take few files of the language', () => {
  const taken = imports.filter(({ from, to }) => room(to) === 'contracts' && room(from) !== 'contracts')
  expect([...new Set(taken.map(({ to }) => to))].toSorted()).toEqual(FACE_OF_LANGUAGE)
})

it('each page of web imports only the rooms that it needs', () => {
  const wrong = ours.filter(({ from, to }) => {
    if (room(from) !== 'web' || ['web', 'chain', 'base'].includes(room(to))) return false
    return !allowedToWeb[inner(from)]?.includes(room(to))
  })
  expect(wrong).toEqual([])
})

/** Scripts of a page may load these besides its own modules and the kit: they need no module of Node.js. */
const IN_PAGES: readonly (readonly [page: RegExp, loaded: RegExp])[] = [
  [/./, /^ground\/(base|chain)\//],
  [/./, /^@noble\/hashes\//],
  [/^dashboard$/, /^faces\/web\/dashboard\/lines\.ts$/],
  [/^explorer$/, /^language\/contracts\/(errors\.ts|failures\/|syntax\/|values\/)/],
  [/^explorer$/, /^client\/wallet\/(capability|command)\.ts$/],
  [/^mine-page$/, /^mining\/engine\//],
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
    return runsInBrowser(to) || (room(from) === 'web' && room(to) === 'engine' && to !== 'mining/engine/gpu/shader.ts')
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

it('chain imports nothing but libraries for hashes', () => {
  const wrong = imports.filter(
    (each) => room(each.from) === 'chain' && !isOurs(each) && !/^@noble\/hashes|^hash-wasm$/.test(each.to),
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
const diskFiles = ['ground/base/replace-file.ts', 'ground/base/sealed-log.ts', 'ground/base/user-file.ts']

it('chain, mine and base touch no clock, randomness, environment, file or timer', () => {
  const forbidden =
    /\b(Date\.now|new Date|performance\.|Math\.random|process\.|setTimeout|setInterval|setImmediate|'node:)/
  const wrong = files.filter((name) => {
    if (!['chain', 'mine', 'base'].includes(room(name)) || diskFiles.includes(name)) return false
    return forbidden.test(code.get(name) ?? '')
  })
  expect(wrong).toEqual([])
})

/** Files of the server side that send HTTP requests, and their bounds. */
const REQUESTERS: Readonly<Record<string, string>> = {
  'client/conformance/clients/serve.ts': 'passes answers and streams on as they come, up to a size',
  'client/conformance/wire.ts': 'round trips of the client in node/',
  'client/node/undici.ts': 'the client of a node, with round trips of limited time and size',
  'ground/base/http-answer.ts': 'the reader of answers',
}

it('no room but the reader of answers, the client of a node and pages sends HTTP requests', () => {
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
  'compose/live-texts.ts': 'a temporary file of its own',
  'compose/search/rig-starts.ts': 'a file of the state folder',
  'devnet/copy/open-copy.ts': 'a file of the data folder',
  'devnet/data/state-file.ts': 'reads a descriptor of base/user-file.ts, and writes a new file',
  'devnet/execution/processor-time.ts': 'files of the operating system',
  'faces/api/machine.ts': 'files of the operating system',
  'faces/cli/hotkeys.ts': 'a file of the operating system',
  'faces/web/assets.ts': 'files of the package',
  'ground/base/replace-file.ts': 'writes a new file',
  'ground/base/sealed-log.ts': 'a file of the data folder',
  'ground/base/user-file.ts': 'the reader of files that users name',
  'ground/platform/descriptors.ts': 'a file of the operating system',
  'ground/platform/log-file.ts': 'appends to a file',
  'ground/platform/secret-file.ts': 'writes a new file',
  'ground/platform/version.ts': 'a file of the package',
  'language/contracts/system/system.ts': 'a file of the package',
  'language/copy/cache.ts': 'a file of the cache',
  'mining/engine/cache-folder.ts': 'a file of the cache',
  'mining/engine/cpu/native-files.ts': 'a file of the package',
  'mining/engine/gpu/cards.ts': 'files of the operating system',
  'mining/engine/gpu/shader.ts': 'a file of the package',
  'mining/engine/native/cache.ts': 'a file of the cache',
  'mining/engine/native/part.ts': 'a file of the package',
  'mining/engine/native/provide.ts': 'a file of the cache',
  'mining/journal/disk.ts': 'files of the state folder',
  'mining/sensors/hwmon.ts': 'files of the operating system',
  'mining/sensors/load.ts': 'files of the operating system',
  'mining/sensors/powercap.ts': 'files of the operating system',
  'pool/payouts/payout-totals.ts': 'a file of the data folder',
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
  'client/wallet/advice.ts': 'commands that it has made',
  'commands/input/verify-report.ts': 'a text that it has just written',
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
  'ground/base/json.ts': 'the reader of JSON',
  'ground/platform/version.ts': 'a file of the package',
  'mining/accounts/share-records.ts': 'records of its own database',
  'mining/engine/gpu/child.ts': 'messages of its own processes',
  'mining/engine/gpu/messages.ts': 'messages of its own processes',
  'mining/journal/checkpoint.ts': 'a file of the state folder',
  'mining/journal/record.ts': 'a file of the state folder',
  'pool/payouts/pay.ts': 'commands that it has made',
  'pool/payouts/payout-line.ts': 'a file of the data folder',
}

it('JSON text that others wrote is parsed by one reader', () => {
  const parsers = files.filter((name) => {
    if (runsInBrowser(name)) return false
    return /\bJSON\.parse\b|\.json\(\)/.test(code.get(name) ?? '')
  })
  expect(parsers.toSorted()).toEqual(Object.keys(JSON_PARSERS))
})

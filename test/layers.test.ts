import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/**
 * Who may import whom (folders of src/; '' is main.ts). Everything may import core, and core imports nothing but
 * libraries for hashes. mine knows sources and engines by their port files alone. node and devnet never meet but on the
 * wire; the schemas of the bodies are the one thing they share.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  '': ['commands', 'cli', 'core'],
  commands: [
    'compose',
    'cli',
    'contracts',
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
    'schema',
    'platform',
    'core',
  ],
  compose: [
    'api',
    'dashboard',
    'journal',
    'sensors',
    'mine',
    'page',
    'source',
    'engine',
    'fleet',
    'node',
    'devnet',
    'schema',
    'platform',
    'core',
  ],
  cli: ['mine', 'source', 'engine', 'schema', 'core'],
  api: ['mine', 'source', 'core'],
  dashboard: ['mine', 'source', 'core'],
  journal: ['mine', 'schema', 'core'],
  sensors: ['mine', 'core'],
  mine: ['source', 'engine', 'core'],
  page: ['source', 'engine', 'node', 'schema', 'core'],
  source: ['fleet', 'stratum', 'node', 'schema', 'core'],
  engine: ['fleet', 'stratum', 'schema', 'core'],
  fleet: ['schema', 'core'],
  stratum: ['core'],
  wallet: ['contracts', 'node', 'schema', 'core'],
  node: ['schema', 'core'],
  devnet: ['contracts', 'schema', 'core'],
  schema: ['core'],
  platform: ['core'],
  contracts: ['core'],
  core: [],
}

/** The same for the rooms inside devnet, engine and page ('' is the folder itself). */
const allowedInside: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  devnet: {
    '': ['http', 'data', 'orders', 'watch', 'work', 'mempool', 'ledger', 'command', 'rules', 'store'],
    http: ['', 'data', 'orders', 'watch', 'work', 'mempool', 'ledger', 'command', 'rules', 'store'],
    data: ['mempool', 'ledger', 'rules', 'store'],
    orders: ['work', 'rules', 'store'],
    watch: ['', 'mempool', 'command', 'rules', 'store'],
    work: ['', 'mempool', 'ledger', 'command', 'rules', 'store'],
    mempool: ['', 'ledger', 'command', 'rules', 'store'],
    ledger: ['command', 'rules', 'store'],
    command: [],
    rules: ['store'],
    store: [],
  },
  engine: { '': [], cpu: [''], gpu: [''], stratum: [''], fleet: [''] },
  // The server and the browser's half meet over HTTP.
  page: { '': [], browser: [] },
  // They share the types of what goes over the stream.
  dashboard: { '': [], browser: [''] },
}

const ports = ['source/source.ts', 'engine/engine.ts']
const src = fileURLToPath(new URL('../src', import.meta.url))

interface Import {
  readonly from: string
  readonly to: string
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

const imports: Import[] = files.flatMap((from) => {
  const text = readFileSync(join(src, from), 'utf8')
  const specifiers = [...text.matchAll(/(?:from\s+|import\s+|import\()'([^']+)'/g)].map(([, specifier]) => specifier)
  return specifiers.map((specifier) => {
    const isRelative = specifier.startsWith('.')
    return { from, to: isRelative ? relative(src, resolve(src, dirname(from), specifier)) : specifier }
  })
})

const room = (file: string) => (file.includes('/') ? file.split('/')[0] : '')
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

it('imports inside devnet, engine, page and dashboard point in the direction of the design', () => {
  const inner = (file: string) => (file.split('/').length > 2 ? file.split('/')[1] : '')
  const wrong = imports.filter(({ from, to }) => {
    const rules = allowedInside[room(from)]
    if (rules === undefined || !isOurs(to) || room(to) !== room(from) || inner(from) === inner(to)) return false
    return !rules[inner(from)]?.includes(inner(to))
  })
  expect(wrong).toEqual([])
})

it('rooms of devnet take nothing of its own folder but the turns', () => {
  const isOfRoom = (file: string) => file.split('/').length > 2
  const taken = imports.filter(
    ({ from, to }) => isOurs(to) && room(from) === 'devnet' && room(to) === 'devnet' && isOfRoom(from) && !isOfRoom(to),
  )
  expect([...new Set(taken.map(({ to }) => to))]).toEqual(['devnet/turns.ts'])
})

it('what runs in a browser is made of engine and core, and the server takes nothing but the shader from the engine', () => {
  const wrong = imports.filter(({ from, to }) => {
    if (room(from) !== 'page' || room(to) === 'page') return false
    if (from.startsWith('page/browser/')) return !['engine', 'core'].includes(room(to))
    return room(to) === 'engine' && to !== 'engine/gpu/shader.ts'
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

it('core and mine touch no clock, randomness, environment, file or timer', () => {
  const forbidden =
    /\b(Date\.now|new Date|performance\.|Math\.random|process\.|setTimeout|setInterval|setImmediate|'node:)/
  const wrong = files.filter((name) => {
    if (!['core', 'mine'].includes(room(name))) return false
    const code = readFileSync(join(src, name), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    return forbidden.test(code)
  })
  expect(wrong).toEqual([])
})

/** The files that the build makes of the command line and its threads (scripts/build/bundle.js). */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeEach, expect, it } from 'vitest'
import { machineFor } from '../src/compose/devnet-machine.ts'
import { bundleOf } from '../src/ground/platform/bundled.ts'

const compiled = fileURLToPath(new URL('../dist/src/', import.meta.url))
const folder = join(compiled, 'bundled')
const filesIn = (room: string) =>
  readdirSync(join(compiled, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(compiled, room, name))

/** The modules that a bundled file imports at once. */
const importsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/^(?:import|export) ?(?:[^"\n]* ?from ?)?"([^"\n]+)";$/gm)].map(
    ([, module]) => module,
  )

beforeEach(({ skip }) => {
  if (process.env.NODE_V8_COVERAGE !== undefined) skip('coverage counts single modules, so its run has no bundles')
})

it('the bundle has the command line, and the threads of a node, of contract tests and of planted faults', () => {
  const names = ['newcut', 'execution-thread', 'contract-thread', 'mutation-thread'] as const
  for (const name of names) expect(bundleOf(name)).toEqual(pathToFileURL(join(folder, `${name}.js`)))
  expect(machineFor({}).executionThread).toEqual(bundleOf('execution-thread'))
})

it('the bundle lacks only packages that are files already and those that load their own files', () => {
  const outside = filesIn('bundled')
    .flatMap(importsOf)
    .filter((module) => !module.startsWith('node:') && !module.startsWith('./'))
  const packages = [
    '../client/node/undici.js',
    '../faces/api/prom-client.js',
    '../ground/platform/fastify.js',
    '../ground/schema/typebox.js',
  ]
  expect([...new Set(outside)].toSorted()).toEqual([...packages, 'classic-level', 'piscina'])
})

it('bundled threads load no file of the command line', () => {
  for (const thread of ['execution-thread', 'contract-thread', 'mutation-thread'] as const) {
    const files = new Set([join(folder, `${thread}.js`)])
    for (const file of files) {
      for (const module of importsOf(file)) if (module.startsWith('./')) files.add(join(folder, module))
    }
    expect(files.size).toBeGreaterThan(3)
    expect([...files].filter((file) => file.includes('/start-'))).toEqual([])
  }
})

it('the bundle is as new as its modules: npm run build makes it', () => {
  const madeMs = statSync(join(folder, 'newcut.js')).mtimeMs
  const rooms = readdirSync(compiled).filter((name) => !name.includes('.') && name !== 'bundled')
  const bench = filesIn('../bench').filter((name) => !name.includes('-child.'))
  const modules = [join(compiled, 'newcut.js'), ...rooms.flatMap(filesIn), ...bench].filter(
    (name) => !/\/(browser|kit|kept|served)\//.test(name),
  )
  expect(modules.length).toBeGreaterThan(500)
  expect(modules.filter((name) => statSync(name).mtimeMs > madeMs)).toEqual([])
})

it('the scripts of pages are as new as their modules', () => {
  const [scripts, modules] = [/\/served\//, /\/(browser|kit)\//].map((part) => {
    return filesIn('faces/web')
      .filter((name) => part.test(name))
      .map((name) => statSync(name).mtimeMs)
  })
  expect(Math.min(scripts.length, modules.length)).toBeGreaterThan(10)
  expect(Math.min(...scripts)).toBeGreaterThanOrEqual(Math.max(...modules))
})

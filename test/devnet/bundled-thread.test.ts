/** The file that the build makes of the execution thread (src/platform/bundle.js). */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, it } from 'vitest'
import { machineFor } from '../../src/compose/devnet-machine.ts'

const compiled = fileURLToPath(new URL('../../dist/src/', import.meta.url))
const bundle = join(compiled, 'devnet/execution/bundled-thread.js')

beforeEach(({ skip }) => {
  if (process.env.NODE_V8_COVERAGE !== undefined) skip('coverage counts single modules, so its run has no such file')
})

it('is the thread of a node', () => {
  expect(machineFor({}).executionThread?.pathname).toBe(bundle)
})

it('has all its modules in it', () => {
  const imports = [...readFileSync(bundle, 'utf8').matchAll(/\bfrom ?"([^"\n]+)";$/gm)].map(([, module]) => module)
  expect(imports).toContain('node:worker_threads')
  expect(imports.filter((module) => !module.startsWith('node:'))).toEqual([])
})

it('is as new as its modules: npm run build makes it again', () => {
  const madeMs = statSync(bundle).mtimeMs
  const modules = ['contracts', 'core', 'devnet'].flatMap((room) => {
    const names = readdirSync(join(compiled, room), { recursive: true, encoding: 'utf8' })
    return names.filter((name) => name.endsWith('.js')).map((name) => join(room, name))
  })
  expect(modules.length).toBeGreaterThan(100)
  expect(modules.filter((name) => statSync(join(compiled, name)).mtimeMs > madeMs)).toEqual([])
})

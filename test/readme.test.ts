import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { NodeClient } from '../src/node/client.ts'
import { operations } from '../src/schema/operations.ts'
import { interfaceEndpoints } from './devnet/interface.ts'

const root = new URL('../', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')
const nodeInterface = readFileSync(new URL('docs/NODE-INTERFACE.md', root), 'utf8')

/** Rows of the table of endpoints. */
const rows = [
  ...nodeInterface.matchAll(/^\| `(GET|POST|PUT) (\/\S+)` +\| `(\w+)` +\| (.*?) +\| (test\/\S+) +\|$/gm),
].map(([, method, path, client, status, test]) => ({ method, path, client, status, test }))

it('README has the two commands near its top, as two indented lines', () => {
  const head = readme.split('\n').slice(0, 20)
  const commands = head.filter((line) => line.startsWith('    '))
  expect(commands.slice(0, 2)).toEqual(['    npm ci && npm start', '    npm ci && npm test'])
})

it('README can be read in two minutes: at most 110 lines', () => {
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(110)
})

it('NODE-INTERFACE.md lists every endpoint of the interface with client method, status and test', () => {
  const listed = rows.map(({ method, path }) => `${method} ${path}`)
  expect(listed.toSorted()).toEqual(interfaceEndpoints.map(([method, , path]) => `${method} ${path}`).toSorted())
  for (const { status, test } of rows) {
    expect(status).toMatch(/^yes\b/)
    expect([test, existsSync(new URL(test, root))]).toEqual([test, true])
  }
})

it('NODE-INTERFACE.md names the right client method for each endpoint, and a file that tests that path', () => {
  for (const { method, path, client, test } of rows) {
    expect(operations[client as keyof typeof operations]).toMatchObject({ method, path })
    expect([client, typeof NodeClient.prototype[client as keyof NodeClient]]).toEqual([client, 'function'])
    const [last] = path
      .split('/')
      .filter((part) => !part.startsWith('{'))
      .slice(-1)
    expect([path, readFileSync(new URL(test, root), 'utf8').includes(last)]).toEqual([path, true])
  }
})

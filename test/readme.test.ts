import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { NodeClient } from '../src/node/client.ts'
import { operations } from '../src/schema/operations.ts'
import { interfaceEndpoints } from './devnet/interface.ts'

const root = new URL('../', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')

/** Rows of the table of endpoints. */
const rows = [...readme.matchAll(/^\| `(GET|POST|PUT) (\/\S+)` +\| `(\w+)` +\| (.*?) +\| (test\/\S+) +\|$/gm)].map(
  ([, method, path, client, status, test]) => ({ method, path, client, status, test }),
)

it('the README lists every endpoint of the interface with client method, status and test', () => {
  const listed = rows.map(({ method, path }) => `${method} ${path}`)
  expect(listed.toSorted()).toEqual(interfaceEndpoints.map(([method, , path]) => `${method} ${path}`).toSorted())
  for (const { status, test } of rows) {
    expect(status).toMatch(/^yes\b/)
    expect([test, existsSync(new URL(test, root))]).toEqual([test, true])
  }
})

it('names the right method of the client, and the file tests that path', () => {
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

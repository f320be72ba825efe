/** Every path of a node refuses JSON that nests too deep, in words. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { controlOperations } from '../../src/ground/schema/control.ts'
import type { Operation } from '../../src/ground/schema/operation.ts'
import { operations } from '../../src/ground/schema/operations.ts'
import { signText } from './command.ts'
import { exec, local } from './commands-common.ts'
import { brief, PREFIX, sharedNode } from './common.ts'
import { Peer } from './request.ts'

const LEVELS = 150_000
const WORDS = 'the JSON nests more than 1200 levels'
const bodies = [
  `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`,
  `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`,
  `{"chain":0,"code":"1","data":${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}}`,
]

const rows: readonly Operation[] = [...Object.values(operations), ...Object.values(controlOperations)]
const pathOf = ({ scope, path }: Operation) =>
  `${scope === 'root' ? '' : PREFIX}${path.replace('{chain}', '0').replaceAll(/\{\w+\}/g, 'A'.repeat(43))}`

describe('a body of 150,000 levels', () => {
  const shared = sharedNode()

  it.each(
    rows
      .filter(({ body }) => body?.type === 'application/json')
      .map((operation) => [operation.method, pathOf(operation)] as const),
  )('a body of 150,000 levels is refused with a message at %s %s', async (method, path) => {
    const peer = new Peer((await shared()).devnet.url)
    onTestFinished(() => peer.close())
    for (const body of bodies) {
      const headers = { 'content-type': 'application/json' }
      const [status, , text] = brief(await peer.request(method, path, { headers, body }))
      expect(status).toBe(400)
      expect(text).toContain(WORDS)
    }
  })

  it('a command that contains 150,000 levels is refused with a message', async () => {
    const { peer } = await shared()
    const { cmd } = exec('(+ 1 2)')
    const deep = signText(cmd.replace('{', `{"deep":${bodies[0]},`))
    const [status, , text] = brief(await local(peer, deep))
    expect(status).toBe(400)
    expect(text).toBe(`Validation failed: /cmd: no JSON: ${WORDS}`)
  })
})

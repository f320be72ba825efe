/** Programs read and change the configuration of a miner over HTTP. */
import { expect, it, onTestFinished } from 'vitest'
import { addConfiguration, CONFIGURATION_PATH, type Options } from '../../src/faces/api/configuration.ts'
import { Metrics } from '../../src/faces/api/metrics.ts'
import { startApi } from '../../src/faces/api/server.ts'
import { NewcutError } from '../../src/ground/base/errors.ts'
import { Peer } from '../devnet/request.ts'
import { snapshotWith } from '../mine/snapshot.ts'

/** The HTTP server of a miner whose configuration is the last one that was put. */
async function start(token: string | null = 'secret') {
  const changes: Options[] = []
  const configuration = {
    read: () => changes.at(-1) ?? { threads: 1 },
    change: async (options: Options) => {
      if (options.threads === 0) throw new NewcutError('BAD_OPTION', 'too few threads', { hint: 'one at least' })
      if (options.threads === -1) throw new Error('the disk is full')
      changes.push(options)
    },
  }
  const metrics = new Metrics(() => snapshotWith(), '0.0.0')
  const api = await startApi({ host: '127.0.0.1', port: 0 }, () => snapshotWith(), metrics, {
    path: CONFIGURATION_PATH,
    addTo: (app) => addConfiguration(app, configuration, () => token),
  })
  const peer = new Peer(api.url)
  onTestFinished(async () => {
    peer.close()
    await api.close()
  })
  const put = async (body: string, authorization?: string, type?: string) => {
    const headers = { ...(authorization && { authorization }), ...(type && { 'content-type': type }) }
    const answer = await peer.request('PUT', CONFIGURATION_PATH, { headers, body })
    return { ...answer, text: answer.body.toString() }
  }
  return { peer, put, changes }
}

it('anybody may read the configuration', async () => {
  for (const token of ['secret', null]) {
    const { peer } = await start(token)
    const { status, body } = await peer.get(CONFIGURATION_PATH)
    expect(JSON.parse(body.toString())).toEqual({ threads: 1 })
    expect(status).toBe(200)
  }
})

it('a client with the token may change the configuration', async () => {
  const { peer, put, changes } = await start()
  expect(await put('{"threads":2,"log-file":null}', 'Bearer secret')).toMatchObject({ status: 204, text: '' })
  expect(changes).toEqual([{ threads: 2, 'log-file': null }])
  expect(JSON.parse((await peer.get(CONFIGURATION_PATH)).body.toString())).toEqual(changes[0])
})

it('a client without the right token changes nothing and gets the reason', async () => {
  const { put, changes } = await start()
  for (const [authorization, why] of [
    [undefined, 'expected the header Authorization: Bearer TOKEN'],
    ['Basic secret', 'expected the header Authorization: Bearer TOKEN'],
    ['Bearer other', 'the token is not that of this miner'],
  ] as const) {
    const { status, headers, text } = await put('{"threads":2}', authorization)
    expect(headers['www-authenticate']).toBe('Bearer')
    expect(JSON.parse(text)).toEqual({ error: why })
    expect(status).toBe(401)
  }
  expect(changes).toEqual([])
})

it('the configuration cannot be changed if no token is configured', async () => {
  const { put, changes } = await start(null)
  const { status, text } = await put('{"threads":2}', 'Bearer null')
  expect(text).toContain('this miner can only be read')
  expect(status).toBe(403)
  expect(changes).toEqual([])
})

it('an invalid change is refused with 400 and a reason, and changes nothing', async () => {
  const { put, changes } = await start()
  for (const body of ['', 'x', '[]', 'null', '7', '{']) {
    const { status, text } = await put(body, 'Bearer secret')
    expect(text, String(body)).toContain('expected a JSON object of options')
    expect(status, String(body)).toBe(400)
  }
  const { status, text } = await put('{"threads":0}', 'Bearer secret')
  expect(JSON.parse(text)).toEqual({ error: 'too few threads (one at least)' })
  expect(status).toBe(400)
  expect((await put(`{"a":"${'x'.repeat(64 * 1024)}"}`, 'Bearer secret')).status).toBe(413)
  expect(changes).toEqual([])
})

it('the options of a change may have 64 KiB, and their content type does not matter', async () => {
  const { put, changes } = await start()
  const long = { note: 'x'.repeat(63 * 1024) }
  for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
    expect((await put(JSON.stringify(long), 'Bearer secret', type)).status).toBe(204)
    const { status, text } = await put('{', 'Bearer secret', type)
    expect(text).toContain('expected a JSON object of options')
    expect(status).toBe(400)
  }
  expect(changes).toEqual([long, long, long])
})

it('a change that fails for another reason is an error of the server', async () => {
  const { put, changes } = await start()
  expect((await put('{"threads":-1}', 'Bearer secret')).status).toBe(500)
  expect(changes).toEqual([])
})

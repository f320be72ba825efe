/** Control of a miner by JSON-RPC 2.0: which requests do what, and how each is answered. */
import { expect, it, onTestFinished } from 'vitest'
import { addControl } from '../../src/faces/api/control.ts'
import { Metrics } from '../../src/faces/api/metrics.ts'
import { startApi } from '../../src/faces/api/server.ts'
import { Peer } from '../devnet/request.ts'
import { snapshotWith } from '../mine/snapshot.ts'

/** A server with control of a miner that lists the calls to it. */
async function start() {
  const calls: string[] = []
  const control = {
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    stop: () => calls.push('stop'),
  }
  let token: string | null = 'secret'
  const metrics = new Metrics(() => snapshotWith(), '0.0.0')
  const api = await startApi({ host: '127.0.0.1', port: 0 }, () => snapshotWith(), metrics, {
    path: '/json_rpc',
    addTo: (app) => addControl(app, control, () => token),
  })
  const peer = new Peer(api.url)
  onTestFinished(async () => {
    peer.close()
    await api.close()
  })
  const call = async (request: unknown, authorization = 'Bearer secret') => {
    const headers = { authorization, 'content-type': 'text/plain' }
    const { status, body } = await peer.request('POST', '/json_rpc', { headers, body: JSON.stringify(request) })
    return [status, body.length === 0 ? null : JSON.parse(body.toString())]
  }
  return { calls, call, setToken: (next: string | null) => (token = next) }
}

const ok = (id: unknown) => ({ jsonrpc: '2.0', id, result: { status: 'OK' } })
const failure = (id: unknown, code: number) => ({ jsonrpc: '2.0', id, error: { code, message: expect.any(String) } })

it('the methods pause, resume and stop do as they say, and the answer has the id of the request', async () => {
  const { calls, call } = await start()
  expect(await call({ jsonrpc: '2.0', id: 'a', method: 'pause' })).toEqual([200, ok('a')])
  // XMRig's clients may leave the version out.
  expect(await call({ id: 0, method: 'resume' })).toEqual([200, ok(0)])
  expect(await call({ id: null, method: 'pause' })).toEqual([200, ok(null)])
  expect(calls).toEqual(['pause', 'resume', 'pause'])
  expect(await call({ id: 7, method: 'stop' })).toEqual([200, ok(7)])
  await expect.poll(() => calls).toEqual(['pause', 'resume', 'pause', 'stop'])
})

it('the control endpoint refuses malformed requests, and changes nothing', async () => {
  const { calls, call } = await start()
  for (const request of [
    ...[7, null, 'pause', {}, { id: 1 }, { id: 1, method: ['pause'] }],
    ...[
      { id: {}, method: 'pause' },
      { id: true, method: 'pause' },
      { jsonrpc: '1.0', id: 1, method: 'pause' },
    ],
  ]) {
    expect(await call(request), String(request)).toEqual([400, failure(null, -32600)])
  }
  for (const method of ['PAUSE', 'toString', 'constructor', '']) {
    expect(await call({ id: 1, method })).toEqual([200, failure(1, -32601)])
  }
  expect(await call([])).toEqual([400, failure(null, -32600)])
  expect(calls).toEqual([])
})

it('notifications act without an answer, and get none if their method is unknown', async () => {
  const { calls, call } = await start()
  expect(await call({ method: 'pause' })).toEqual([204, null])
  expect(await call({ method: 'explode' })).toEqual([204, null])
  expect(await call([{ method: 'resume' }, { method: 'pause' }])).toEqual([204, null])
  expect(calls).toEqual(['pause', 'resume', 'pause'])
})

it('the server answers a batch with a list and 200, and stops the miner once, after all else', async () => {
  const { calls, call } = await start()
  const stop = { id: 1, method: 'stop' }
  const batch = [stop, 7, { method: 'pause' }, { id: 2, method: 'what' }, stop, { id: 3, method: 'resume' }]
  expect(await call(batch)).toEqual([200, [ok(1), failure(null, -32600), failure(2, -32601), ok(1), ok(3)]])
  await expect.poll(() => calls).toEqual(['pause', 'resume', 'stop'])
  expect(await call([7])).toEqual([200, [failure(null, -32600)]])
  expect(calls).toEqual(['pause', 'resume', 'stop'])
})

it('the control endpoint checks the current token of the miner', async () => {
  const { calls, call, setToken } = await start()
  const pause = { id: 1, method: 'pause' }
  setToken('another')
  expect((await call(pause))[0]).toBe(401)
  expect((await call(pause, 'bearer another'))[0]).toBe(200)
  for (const wrong of ['Bearer anothe', 'Bearer another1', 'Bearer Another', 'another', 'x Bearer another', 'Bearer '])
    expect((await call(pause, wrong))[0], wrong).toBe(401)
  setToken(null)
  for (const any of ['Bearer another', 'Bearer null', 'Bearer']) expect((await call(pause, any))[0], any).toBe(403)
  expect(calls).toEqual(['pause'])
})

import { spawn } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectionsFor } from '../../src/compose/devnet-machine.ts'
import { until } from '../wait.ts'
import { PREFIX, start } from './common.ts'
import { temporaryDirectory } from './grow.ts'
import { Peer } from './request.ts'

/** A connection, its received text, and a promise of its end. */
function open(url: string) {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const state = { socket, text: '' }
  socket.on('data', (chunk) => {
    state.text += chunk.toString('latin1')
  })
  socket.on('error', () => undefined)
  return { state, socket, closed: new Promise<string>((resolve) => socket.once('close', () => resolve(state.text))) }
}

/** A slow client: sends one byte at a time, with pauses. */
function dribble(socket: Socket): void {
  const timer = setInterval(() => socket.write('x'), 20)
  onTestFinished(() => clearInterval(timer))
}

describe('a request that arrives too slowly', () => {
  const requestTimeoutMs = 300

  it('a request that arrives too slowly is answered with 408 and closed if its body is too slow', async () => {
    const { devnet, peer } = await start({ requestTimeoutMs })
    const { socket, closed } = open(devnet.url)
    socket.write(`POST ${PREFIX}/mining/solved HTTP/1.1\r\nhost: n\r\ncontent-length: 100000\r\n\r\n`)
    dribble(socket)
    expect(await closed).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    expect((await peer.get('/info')).status).toBe(200)
  })

  it('a request that arrives too slowly is answered with 408 and closed if its headers are too slow', async () => {
    const { devnet } = await start({ requestTimeoutMs })
    const { socket, closed } = open(devnet.url)
    socket.write('GET /info HTTP/1.1\r\nhost: ')
    dribble(socket)
    expect(await closed).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
  })

  it('a request that arrives too slowly is answered with 408 and closed if nothing arrives at all', async () => {
    const { devnet } = await start({ requestTimeoutMs })
    expect(await open(devnet.url).closed).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
  })

  it('a request that arrives too slowly does not affect a stream that stays open for longer', async () => {
    const { devnet, peer } = await start({ requestTimeoutMs, pow: false })
    const stream = open(devnet.url)
    stream.socket.write(`GET ${PREFIX}/header/updates HTTP/1.1\r\nhost: n\r\n\r\n`)
    // Connections that were opened later, one after the other, have timed out by now.
    for (let i = 0; i < 2; i++) await open(devnet.url).closed
    expect(stream.socket.closed).toBe(false)
    expect((await peer.get('/info')).status).toBe(200)
    expect(stream.state.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })
})

it.each([
  [1_048_576, 20_000],
  [1024, 768],
  [400, 200],
  [64, 32],
])('a node with %i file descriptors has at most %i connections', (descriptors, connections) => {
  expect(connectionsFor(descriptors)).toBe(connections)
})

it('a node with 300 file descriptors survives 400 idle connections while it writes blocks to disk', async () => {
  const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
  const command = 'ulimit -n 300 && exec "$0" "$@"'
  const directory = await temporaryDirectory()
  const flags = ['--port', '0', '--graph', 'pair', '--data', directory, '--auto-mine', 'constant:5ms']
  const child = spawn('bash', ['-c', command, process.execPath, main, 'devnet', ...flags])
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      const match = /at (http:\S+)/.exec(text)
      if (match !== null) resolve(match[1])
    })
    child.once('exit', (code) => reject(new Error(`exit ${code}`)))
  })
  const ended = new Promise<string>((resolve) => child.once('exit', () => resolve('ended')))
  const connections = Array.from({ length: 400 }, () => open(url))
  // Connections above the limit are closed at once.
  let closed = 0
  for (const connection of connections) void connection.closed.then(() => closed++)
  await until(() => closed >= 200)
  for (const { socket } of connections) socket.destroy()
  const peer = new Peer(url)
  onTestFinished(() => peer.close())
  const answer = async () => {
    for (;;) {
      const response = await peer.get('/info').catch(() => null)
      if (response !== null) return response.status
    }
  }
  expect(await Promise.race([answer(), ended])).toBe(200)
})

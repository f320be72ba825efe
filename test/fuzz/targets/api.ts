/** Requests to the HTTP API of a miner: authorization, control and configuration. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { checkMinerOptions } from '../../../src/commands/input/miner-setup.ts'
import { addConfiguration, CONFIGURATION_PATH, type Configuration } from '../../../src/faces/api/configuration.ts'
import { addControl, type MinerControl } from '../../../src/faces/api/control.ts'
import { foreignHostReason } from '../../../src/faces/api/host-check.ts'
import { Metrics } from '../../../src/faces/api/metrics.ts'
import { type ServedPart, startApi } from '../../../src/faces/api/server.ts'
import { parseConfigFile, resolveConfig } from '../../../src/faces/cli/config-file.ts'
import { LiveConfig } from '../../../src/faces/cli/live-config.ts'
import type { MineConfig } from '../../../src/faces/cli/live-options.ts'
import { mineOptions } from '../../../src/faces/cli/options/mine.ts'
import { isLoopback } from '../../../src/ground/base/host.ts'
import { snapshotWith } from '../../mine/snapshot.ts'
import { bytesOf, expect, jsonBytes, type Reader, type Target, textOf, textTarget } from '../target.ts'

const TOKEN = 'a-token'
const RIGHT = { host: 'localhost', authorization: `Bearer ${TOKEN}` }
const MACHINE = 'rig7'
/** Maximum body of a control request. */
const MAX_BODY_BYTES = 1024

/** The API of a miner; requests need no connection. */
async function openFace(addTo: (app: FastifyInstance) => void) {
  let app: FastifyInstance | undefined
  const snapshot = snapshotWith()
  const extension: ServedPart = {
    path: '/',
    addTo: (each) => {
      app = each
      addTo(each)
    },
  }
  const address = { host: '127.0.0.1', port: 0 }
  const { close } = await startApi(address, () => snapshot, new Metrics(() => snapshot, '0.0.0'), extension)
  if (app === undefined) throw new Error('the face has no application')
  return new Face(app, close)
}

class Face {
  readonly close: () => Promise<void>
  readonly #app: FastifyInstance

  constructor(app: FastifyInstance, close: () => Promise<void>) {
    this.#app = app
    this.close = close
  }

  /** Status and JSON body of the answer, or null without a body. An answer of 500 or more is a fault. */
  async request(method: 'GET' | 'POST' | 'PUT', url: string, headers: Record<string, string>, body?: Uint8Array) {
    const payload = body === undefined ? {} : { payload: Buffer.from(body) }
    const { statusCode: status, body: text } = await this.#app.inject({ method, url, headers, ...payload })
    expect(status < 500, `${method} ${url} is answered with ${status}: ${text.slice(0, 200)}`)
    return { status, text, json: text === '' ? null : JSON.parse(text) }
  }
}

const METHODS = ['pause', 'resume', 'stop'] as const

/** An API that counts its control calls. */
async function openControl() {
  const done = { pause: 0, resume: 0, stop: 0 }
  const control: MinerControl = { pause: () => done.pause++, resume: () => done.resume++, stop: () => done.stop++ }
  const face = await openFace((app) => addControl(app, control, () => TOKEN))
  const take = () => {
    const { pause, resume, stop } = done
    Object.assign(done, { pause: 0, resume: 0, stop: 0 })
    return [pause, resume, stop]
  }
  return { face, take }
}

/** How often the body asks for each method. Several stops count as one. */
function askedIn(body: Uint8Array): readonly number[] {
  let value: unknown
  try {
    // A byte order mark stays, and makes the text invalid as JSON.
    value = JSON.parse(Buffer.from(body).toString())
  } catch {
    return [0, 0, 0]
  }
  const requests = (Array.isArray(value) ? value : [value]).filter((request) => {
    const { id = null, jsonrpc = '2.0' } = Object(request)
    return jsonrpc === '2.0' && (id === null || ['string', 'number'].includes(typeof id))
  })
  const [pause, resume, stop] = METHODS.map((method) => requests.filter((each) => each?.method === method).length)
  return [pause, resume, Math.min(1, stop)]
}

const control: Target = {
  name: 'the miner is sent: control',
  share: 0.3,
  open: async (): Promise<Reader> => {
    const { face, take } = await openControl()
    const seeds = [
      { jsonrpc: '2.0', id: 1, method: 'pause' },
      { id: 'a', method: 'resume' },
      { method: 'stop' },
      [{ id: 1, method: 'pause' }, { id: 2, method: 'stop' }, { method: 'resume' }, 5],
    ]
    return {
      seeds: seeds.map(jsonBytes),
      close: face.close,
      read: async (bytes) => {
        const stranger = await face.request('POST', '/json_rpc', { ...RIGHT, authorization: 'Bearer none' }, bytes)
        expect([401, 413].includes(stranger.status), 'a stranger is refused')
        expect(String(take()) === '0,0,0', 'a stranger changes nothing')
        const { status } = await face.request('POST', '/json_rpc', RIGHT, bytes)
        expect([200, 204, 400, 413].includes(status), 'an answer of JSON-RPC')
        expect((status === 413) === bytes.length > MAX_BODY_BYTES, 'bodies have a limit')
        expect(String(take()) === String(status === 413 ? [0, 0, 0] : askedIn(bytes)), 'what is asked for is done')
      },
    }
  },
}

/** The text without the characters that node:http refuses in a header. */
const headerText = (text = '') => text.replace(/[^\t\x20-\xff]|\x7f/g, '').trim()

/** The host of the browser page that sends this header, or null if no browser sends it. */
function pageHost(header: string): string | null {
  if (/[/\\?#@]/.test(header)) return null
  try {
    return new URL(`http://${header}/`).hostname.replace(/^\[|\]$/g, '')
  } catch {
    return null
  }
}

function judgeHost(text: string): void {
  const header = headerText(text)
  const refused = foreignHostReason(header, '127.0.0.1', MACHINE)
  const page = pageHost(header)
  if (refused !== null) {
    expect(refused.length <= 400, 'a refusal is short')
    const isAllowed = foreignHostReason(header, '0.0.0.0', MACHINE) === null
    expect(
      !isAllowed || page === null || page === MACHINE || /^[\d.]+$|:/.test(page),
      'no name but that of the machine',
    )
    return
  }
  // ::ffff:127.0.0.1, as browsers write it.
  expect(page === null || isLoopback(page) || /^::ffff:7f[0-9a-f]{2}:/.test(page), 'only names of this machine')
}

const headers: Target = {
  name: 'the miner is sent: headers',
  share: 0.3,
  open: async (): Promise<Reader> => {
    const { face, take } = await openControl()
    const seeds = [
      `localhost:4148\nBearer ${TOKEN}\napplication/json`,
      `[::1]\nbearer  ${TOKEN}\ntext/plain; charset=utf-8`,
      `evil.example\nBearer ${TOKEN}\n`,
      `127.0.0.1\nBasic ${TOKEN}\nmultipart/form-data; boundary=x`,
    ]
    return {
      seeds: seeds.map(bytesOf),
      close: face.close,
      read: async (bytes) => {
        const [host, authorization, type] = textOf(bytes).split('\n').map(headerText)
        const given = { host, authorization: authorization ?? '', ...(type ? { 'content-type': type } : {}) }
        const { status } = await face.request('POST', '/json_rpc', given, jsonBytes({ method: 'pause' }))
        const isOwner = /^bearer +a-token$/i.test(given.authorization) && given.authorization.endsWith(TOKEN)
        const mayAsk = isOwner && foreignHostReason(host, '127.0.0.1', MACHINE) === null
        // A wrong content type is refused before the token is checked.
        const isDone = mayAsk && status !== 415
        expect(String(take()) === (isDone ? '1,0,0' : '0,0,0'), 'whoever has the token, and nobody else')
        expect((status === 204) === isDone, 'an answer that fits')
      },
    }
  },
}

const FILE = `threads: 2 # a comment\nnode: http://127.0.0.1:1848\naccount: k:${'ab'.repeat(32)}\n`

const configuration: Target = {
  name: 'the miner is sent: a configuration',
  share: 0.05,
  maxMs: 1_000,
  open: async (): Promise<Reader> => {
    const folder = mkdtempSync(join(tmpdir(), 'newcut-fuzz-'))
    const file = join(folder, 'config.yaml')
    const open = () => {
      writeFileSync(file, FILE)
      const ports = {
        apply: async () => undefined,
        check: (config: MineConfig) => checkMinerOptions(config, {}),
        show: () => undefined,
      }
      return new LiveConfig(resolveConfig(mineOptions, {}, {}, file), ports)
    }
    let live = open()
    const present: Configuration = { read: () => live.read(), change: (options) => live.change(options) }
    const face = await openFace((app) => addConfiguration(app, present, () => TOKEN))
    const seeds = [
      ...[{ threads: 3 }, { threads: null }, { schedule: '22:00-06:00' }, { chains: [0, 1], log: 'json' }],
      ...[{ duration: '30s', blocks: 5, confirmations: 3 }, { 'idle-only': true, 'idle-limit': 50 }, { account: 'me' }],
    ]
    return {
      seeds: seeds.map(jsonBytes),
      close: async () => {
        await face.close()
        rmSync(folder, { recursive: true, force: true })
      },
      read: async (bytes) => {
        const before = await face.request('GET', CONFIGURATION_PATH, RIGHT)
        const { status } = await face.request('PUT', CONFIGURATION_PATH, RIGHT, bytes)
        expect([204, 400, 413].includes(status), 'it is taken or refused')
        const after = await face.request('GET', CONFIGURATION_PATH, RIGHT)
        const text = readFileSync(file, 'utf8')
        if (status !== 204) expect(after.text === before.text && text === FILE, 'what is refused changes nothing')
        else if (text !== FILE) {
          // The next start accepts the file.
          parseConfigFile(file, text)
          resolveConfig(mineOptions, {}, {}, file)
          expect(text.includes(`account: k:${'ab'.repeat(32)}`), 'who is paid stays')
          live = open()
        }
      },
    }
  },
}

export const apiTargets: readonly Target[] = [
  textTarget(
    'hosts of requests to the miner',
    ['localhost:4148', '127.0.0.1', '[::1]:80', '[::ffff:127.0.0.1]', 'evil.example', 'rig7:1', '192.0.2.1', '10.1:80'],
    judgeHost,
    { share: 5 },
  ),
  headers,
  control,
  configuration,
]

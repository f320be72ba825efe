import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Errors } from 'typebox/schema'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/ground/schema/operations.ts'
import { signText } from './command.ts'
import { exec, makeBlocks, pactPath } from './commands-common.ts'
import { BINARY, brief, CheckedPeer, JSON_TYPE, jsonOf, OBJECTS, PREFIX, start } from './common.ts'
import { interfaceEndpoints } from './interface.ts'
import { askForWork, mineBlock } from './miner.ts'
import { Peer, type RequestOptions } from './request.ts'
import { type Devnet, startDevnet } from './whole-node.ts'

const backupDir = mkdtempSync(join(tmpdir(), 'newcut-openapi-'))

interface Described {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: object }[]
  readonly requestBody?: { content: Record<string, { schema: object }> }
  readonly responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>
}
interface Document {
  openapi: string
  info: { title?: string; version: string }
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, object> }
}

/** The result of validating a document against the official OpenAPI 3.1 schema. */
const officially = (description: Document) => new Validator().validate({ ...structuredClone(description) })

let devnet: Devnet
let peer: CheckedPeer
let document: Document

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'pair', pow: false, difficulty: 1n, backupDir })
  peer = new CheckedPeer(devnet.url)
  for (const chain of [0, 1, 0, 1]) await mineBlock(peer, chain)
  const answer = await peer.get('/openapi.json')
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toBe(JSON_TYPE)
  document = jsonOf(answer)
})

afterAll(async () => {
  rmSync(backupDir, { recursive: true })
  peer.close()
  await devnet.close()
})

/** The errors of a value against a schema of the document. */
const errorsOf = (schema: object, value: unknown) =>
  Errors({ ...schema, components: document.components }, value)[1] as unknown[]

describe('the description of the interface', () => {
  it('the description of the interface is valid by the official schema of OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.1')
    expect(await officially(document)).toEqual({ valid: true })
    // The official schema does find errors.
    const changes: ((wrong: Document) => void)[] = [
      (wrong) => delete wrong.info.title,
      (wrong) => Object.assign(wrong, { path: {} }),
      (wrong) => Object.assign(wrong.paths['/info'].get, { extra: 1 }),
      (wrong) => Object.assign(wrong.paths['/info'].get.responses[200], { description: 5 }),
      (wrong) => Object.assign(wrong.paths['/info'].get, { parameters: [{ name: 'a', in: 'path', schema: {} }] }),
    ]
    for (const change of changes) {
      const wrong = structuredClone(document)
      change(wrong)
      expect((await officially(wrong)).valid).toBe(false)
    }
  })

  it('the description of the interface names every path parameter, each operation once, and uses only schemas that it has', () => {
    const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((each) => each.operationId))
    expect(new Set(ids).size).toBe(ids.length)
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const { parameters } of Object.values(methods)) {
        const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => `{${name}}`)
        expect(inPath.sort()).toEqual((path.match(/\{\w+\}/g) ?? []).sort())
      }
    }
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference]) => reference)
    expect(references.length).toBeGreaterThan(20)
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)
    expect(references.filter((reference) => !known.includes(reference))).toEqual([])
    // JSON Schema 2020-12 puts lists of schemas under prefixItems.
    expect(JSON.stringify(document)).not.toMatch(/"items":\[|"additionalItems"/)
  })

  it('the description of the interface has every endpoint of the interface', () => {
    const missing = interfaceEndpoints.filter(([method, scope, path]) => {
      const place = scope === 'root' ? path : PREFIX + path
      return document.paths[place]?.[method.toLowerCase()] === undefined
    })
    expect(missing.map(([, , path]) => path)).toEqual([])
  })

  it('the description of the interface has only the operations of the table, and itself', () => {
    const described = Object.values(document.paths).flatMap((path) => Object.values(path))
    const table = Object.keys(operations)
    // The control of the embedded node is not part of the interface.
    const others = described.filter(({ operationId, tags }) => !table.includes(operationId) && !tags.includes('devnet'))
    expect(others.map(({ operationId }) => operationId)).toEqual(['openApi'])
    expect(interfaceEndpoints).toHaveLength(table.length)
  })
})

describe('answers match the description', () => {
  /** A request for each operation with a JSON answer, and its expected answer. */
  const requests = async (): Promise<[string, string, string, { accept?: string; body?: unknown }?][]> => {
    const { hashes } = jsonOf(await peer.get(`${PREFIX}/cut`))
    const head = hashes[0].hash
    const { payloadHash } = jsonOf(await peer.get(`${PREFIX}/chain/0/header/${head}`, { headers: { accept: OBJECTS } }))
    const bounds = { body: { upper: [head], lower: [] } }
    const chain = `${PREFIX}/chain/{chain}`
    return [
      ['GET', '/info', '/info'],
      ['GET', '/config', '/config'],
      ['GET', `${PREFIX}/cut`, ''],
      ['GET', `${PREFIX}/cut/peer`, ''],
      ['GET', `${chain}/hash`, ''],
      ['GET', `${chain}/header`, ''],
      ['GET', `${chain}/header`, '', { accept: OBJECTS }],
      ['GET', `${chain}/header/{hash}`, head],
      ['GET', `${chain}/header/{hash}`, head, { accept: OBJECTS }],
      ['GET', `${chain}/block`, ''],
      ['POST', `${chain}/hash/branch`, '', bounds],
      ['POST', `${chain}/header/branch`, '', bounds],
      ['POST', `${chain}/header/branch`, '', { ...bounds, accept: OBJECTS }],
      ['POST', `${chain}/block/branch`, '', bounds],
      ['GET', `${chain}/payload/{hash}`, payloadHash],
      ['GET', `${chain}/payload/{hash}/outputs`, payloadHash],
      ['POST', `${chain}/payload/batch`, '', { body: [payloadHash] }],
      ['POST', `${chain}/payload/outputs/batch`, '', { body: [payloadHash] }],
    ]
  }

  it('all answers match the description for every operation that answers with JSON', async () => {
    for (const [method, path, hash, { accept = 'application/json', body } = {}] of await requests()) {
      const url = path.replace('{chain}', '0').replace('{hash}', hash)
      const answer = await peer.request(method, url, {
        headers: { accept, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      expect(answer.status, url).toBe(200)
      const described = document.paths[path][method.toLowerCase()]
      const content = described.responses[200].content?.[answer.headers['content-type'] ?? '']
      expect(content === undefined ? 'not described' : errorsOf(content.schema, jsonOf(answer)), url).toEqual([])
      if (body !== undefined) {
        expect(errorsOf(described.requestBody?.content['application/json'].schema ?? {}, body)).toEqual([])
      }
    }
    // The schemas do find errors.
    expect(errorsOf({ $ref: '#/components/schemas/HeaderObject' }, { nonce: '1' })).not.toEqual([])
    expect(errorsOf({ $ref: '#/components/schemas/NodeInfo' }, { nodeVersion: 1 })).not.toEqual([])
  })

  /** Gives chain 0 a block with all pending commands, and lets chain 1 know of it. Orders wait for slow commands. */
  async function mineProvably(): Promise<void> {
    await makeBlocks(peer, { 0: 1 })
    for (const chain of [1, 0, 1]) await mineBlock(peer, chain)
  }

  it('all answers match the description for the endpoints of commands', async () => {
    const [command, failing] = [exec('[1, 0.5, (read-integer "i")]'), exec('(coin.details "nobody")')]
    const meta = { address: { from: 'a', to: ['b'] } }
    const hidden = signText(JSON.stringify({ ...JSON.parse(command.cmd), meta }))
    const keys = [command.hash, failing.hash]
    const calls: [string, string, unknown, unknown?][] = [
      ['/api/v1/local', '', command],
      ['/api/v1/local', '', failing],
      ['/api/v1/local', '?preflight=true', command],
      ['/api/v1/send', '', { cmds: [command, failing] }],
      ['/api/v1/poll', '', { requestKeys: keys }],
      ['/api/v1/listen', '', { listen: command.hash }],
      ['/spv', '', { requestKey: command.hash, targetChainId: '1' }],
      ['/api/v1/private', '', hidden],
    ]
    for (const [path, query, body] of calls) {
      const { post: described } = document.paths[`${PREFIX}/chain/{chain}/pact${path}`]
      const headers = { 'content-type': 'application/json' }
      const answer = await peer.request('POST', pactPath(0) + path + query, { headers, body: JSON.stringify(body) })
      expect(answer.status, path).toBe(200)
      expect(errorsOf(described.responses[200].content?.[JSON_TYPE].schema ?? {}, jsonOf(answer))).toEqual([])
      expect(errorsOf(described.requestBody?.content['application/json'].schema ?? {}, body)).toEqual([])
      if (path === '/api/v1/send') await mineProvably()
    }
    const { post: poll } = document.paths[`${PREFIX}/chain/{chain}/pact/api/v1/poll`]
    const wrong = { [command.hash]: { gas: 1, reqKey: command.hash, result: { status: 'unknown' } } }
    expect(errorsOf(poll.responses[200].content?.[JSON_TYPE].schema ?? {}, wrong)).not.toEqual([])
  })

  it('all answers match the description for requests that never reach their operation', async () => {
    const seen = new Set<number>()
    // Control endpoints have no CORS headers.
    const plain = new Peer(devnet.url)
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { tags, parameters, requestBody, responses }] of Object.entries(methods)) {
        const url = (chain: string, key = 'A'.repeat(43)) => path.replace('{chain}', chain).replace(/\{\w+\}/, key)
        const isControl = tags.includes('devnet')
        const type = Object.keys(requestBody?.content ?? {})[0]
        const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
        const body = type === undefined ? {} : { body: type === BINARY ? 'x' : '{}' }
        const number = parameters.find(({ in: place, schema }) => place === 'query' && 'minimum' in schema)
        const wrong: [boolean, string, RequestOptions][] = [
          [path.includes('{chain}'), url('99'), { headers, ...body }],
          [true, url('0'), { headers: { ...headers, accept: 'image/png' }, ...body }],
          [type !== undefined, url('0'), { headers: { 'content-type': 'text/csv' }, body: 'x' }],
          [type === 'application/json', url('0'), { headers, body: '[7' }],
          [type !== undefined, url('0'), { headers: { ...headers, 'content-length': `${3 << 20}` } }],
          [number !== undefined, `${url('0')}?${number?.name}=x`, { headers, ...body }],
          [path.includes('{hash}'), url('0', '!'), { headers, ...body }],
        ]
        for (const [applies, target, request] of wrong) {
          // Streams and backups ignore the Accept header: a stream would stay open, and a backup would start.
          if (!applies || (request.headers?.accept && responses[406] === undefined)) continue
          const answer = await (isControl ? plain : peer).request(method.toUpperCase(), target, request)
          seen.add(answer.status)
          const described = responses[answer.status]
          expect(described, `${method} ${target} ${answer.status}`).not.toBe(undefined)
          const mediaType = answer.headers['content-type']
          if (answer.body.length > 0) expect(Object.keys(described.content ?? {})).toContain(mediaType)
        }
      }
    }
    plain.close()
    expect([...seen].sort()).toEqual(expect.arrayContaining([400, 404, 406, 413, 415]))
  })

  it('all answers match the description for a header with an unknown key, and for work, which is binary', async () => {
    const unknown = await peer.get(`${PREFIX}/chain/0/header/${'A'.repeat(43)}`)
    const { responses } = document.paths[`${PREFIX}/chain/{chain}/header/{hash}`].get
    expect(errorsOf(responses[404].content?.[JSON_TYPE].schema ?? {}, jsonOf(unknown))).toEqual([])
    const work = await askForWork(peer)
    expect(work.headers['content-type']).toBe(BINARY)
    expect(Object.keys(document.paths[`${PREFIX}/mining/work`].get.responses[200].content ?? {})).toEqual([BINARY])
  })
})

describe('/config', () => {
  it('/config describes the node, and contains no secrets', async () => {
    const account = { account: 'k:5ec7e7', predicate: 'keys-all', publicKeys: ['5ec7e7'] }
    const { peer } = await start({
      graph: 'petersen',
      blockDelayMs: 1500,
      accounts: [account],
      updateStreamLimit: 7,
      updateStreamMs: 9000,
      headerStreamLimit: 3,
      workLimit: 11,
      workLifetimeMs: 60_000,
    })
    const answer = await peer.get('/config')
    expect(brief(answer).slice(0, 2)).toEqual([200, JSON_TYPE])
    expect(answer.body.toString()).not.toContain('5ec7e7')
    expect(jsonOf(answer)).toMatchObject({
      chainwebVersion: 'development',
      mining: {
        coordination: { enabled: true, limit: 11, updateStreamLimit: 7, updateStreamTimeout: 9 },
        nodeMining: { enabled: false },
      },
      headerStream: true,
      serviceApi: { payloadBatchLimit: 1000 },
      devnet: {
        chains: 10,
        blockDelay: 1_500_000,
        proofOfWork: true,
        anyAccount: false,
        workLifetime: 60,
        headerStreamLimit: 3,
      },
    })
    expect(brief(await peer.get('/config', { headers: { accept: 'text/html' } }))).toEqual([406, undefined, ''])
  })
})

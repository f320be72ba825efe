/** A node of a network that newcut has no file for: its code is learnt, and a file of the user has its rules. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { decodeBase64Url, encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { describeError } from '../../src/ground/base/errors.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { decodeHeader, encodeHeader, encodeWork, headerLayout } from '../../src/ground/chain/header.ts'
import { definitionOf, type NetworkForm } from '../../src/ground/chain/network-form.ts'
import { difficultyOf } from '../../src/ground/chain/target.ts'

const NAME = 'my-net'
/** The rules of the node, as a file would have them. */
const FORM: NetworkForm = {
  network: 1,
  name: NAME,
  code: 2,
  public: false,
  window: 120,
  'block-delay': '30s',
  graphs: [{ from: 0, graph: 'pair' }],
  genesis: {
    time: '2019-07-17T18:28:37.613832Z',
    targets: [{ difficulty: 20 }],
    'first-epoch': 'faked',
  },
  rules: {
    'slow-epochs-until': 'genesis',
    'parent-time': 'genesis',
    'mean-target': 'genesis',
    'fork-flags': 'genesis',
  },
  forks: { highest: 1 },
  gas: { block: 150_000 },
}

let devnet: Devnet
let proxy: http.Server
let [url, changed] = ['', (text: string) => text]
let asked: string[] = []

/** A proxy before the development node that gives its network another name. */
beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'pair', pow: false, difficulty: 20n })
  await fetch(`${devnet.url}/make-blocks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"0":3,"1":3}',
  })
  proxy = http.createServer((request, response) => {
    const path = (request.url ?? '').replace(`/${NAME}/`, '/development/')
    asked.push(path)
    const { accept = '*/*' } = request.headers
    http.get(`${devnet.url}${path}`, { headers: { accept } }, (answer) => {
      const { 'content-length': _length, ...headers } = answer.headers
      response.writeHead(answer.statusCode ?? 500, headers)
      answer.setEncoding('latin1')
      answer.on('data', (text: string) => {
        response.write(changed(text.replaceAll('"development"', `"${NAME}"`)), 'latin1')
      })
      answer.on('end', () => response.end())
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
})
afterAll(async () => {
  proxy.closeAllConnections()
  proxy.close()
  await devnet.close()
})

async function withClient<T>(networks: readonly NetworkForm[], task: (client: NodeClient) => Promise<T>): Promise<T> {
  asked = []
  const client = await NodeClient.connect({ url, networks: networks.map(definitionOf) })
  try {
    return await task(client)
  } finally {
    await client.close()
  }
}

const genesisRequests = () => asked.filter((path) => path.endsWith('/chain/0/header?limit=1')).length

it('headers of an unknown network as objects are read with the code of its genesis header, which is fetched once', async () => {
  await withClient([], async (client) => {
    expect(client.network.isKnown).toBe(false)
    expect(client.network.network.name).toEqual(NAME)
    const blocks = await client.blocks(1, { minheight: 1 }).all()
    expect(blocks.map(({ header }) => [Number(header.height), header.version])).toEqual([1, 2, 3].map((n) => [n, 2]))
    const objects = await client.headers(0, { encoding: 'object', verify: { checkPow: false } }).all()
    expect(objects.map(({ chainwebVersion }) => chainwebVersion)).toEqual(Array.from({ length: 4 }, () => NAME))
    expect(genesisRequests()).toBe(1)
  })
})

it('headers of an unknown network as bytes need no code', async () => {
  await withClient([], async (client) => {
    expect(await client.headers(0).all()).toHaveLength(4)
    expect(genesisRequests()).toBe(0)
  })
})

it('a genesis header whose code was changed is refused', async () => {
  const { version } = headerLayout(1)
  changed = (text) =>
    text.replace(/"(A[\w-]{300,400})"/, (_, header: string) => {
      const bytes = decodeBase64Url(header, 'header')
      bytes[version] ^= 1
      return `"${encodeBase64Url(bytes)}"`
    })
  try {
    await withClient([], async (client) => {
      await expect(client.blocks(0).all()).rejects.toThrow(
        /as the genesis header of chain 0 a header whose parent hash does not fit its version code 3/,
      )
    })
  } finally {
    changed = (text) => text
  }
})

it.each([
  ['no header', (text: string) => text.replace(/"items":\["A[^\]]*\]/, '"items":[]'), /chain 0 nothing/],
  ['other bytes', (text: string) => text.replace(/"A[\w-]{300,400}"/, '"AAAA"'), /something that is not a header/],
] as const)('a node that gives %s as its genesis header is refused', async (_, change, message) => {
  changed = change
  try {
    await withClient([], async (client) => {
      await expect(client.blocks(0).all()).rejects.toThrow(message)
    })
  } finally {
    changed = (text) => text
  }
})

it('a network of a file has its rules, and its code needs no request', async () => {
  await withClient([FORM], async (client) => {
    expect(client.network.isKnown).toBe(true)
    expect(client.network.network.code).toBe(2)
    const headers = await client.headers(0, { verify: { checkPow: false, checkTargets: false } }).all()
    expect(headers).toHaveLength(4)
    expect((await client.blocks(0, { minheight: 3 }).all())[0].header.version).toBe(2)
    expect(genesisRequests()).toBe(0)
  })
})

it.each([
  ['code', { ...FORM, code: 3 }, /version/],
  ['genesis time', { ...FORM, genesis: { ...FORM.genesis, time: '2019-07-17T18:28:37Z' } }, /creationTime/],
] as const)('a network file with another %s than the node contradicts its headers', async (_, form, rule) => {
  await withClient([form], async (client) => {
    const verify = { checkPow: false, checkTargets: false }
    await expect(client.headers(0, { verify }).all()).rejects.toThrow(rule)
  })
})

describe('a file without code and genesis', () => {
  const { code: _code, genesis: _genesis, ...rest } = FORM
  const verify = { checkPow: false, checkTargets: true }

  it('a network file without code and genesis is completed by the genesis headers, which are fetched once', async () => {
    await withClient([rest], async (client) => {
      expect(client.network.isKnown).toBe(false)
      for (const chain of [0, 1]) expect(await client.headers(chain, { verify }).all()).toHaveLength(4)
      const genesis = asked.filter((path) => /header\?limit=[13]$/.test(path)).map((path) => path.slice(-23))
      expect(genesis.sort()).toEqual(['/chain/0/header?limit=3', '/chain/1/header?limit=1'])
    })
  })

  it('a network file without code and genesis makes wrong targets of later headers an error', async () => {
    changed = (text) =>
      text.replace(/"([A-Z][\w-]{300,430})"/g, (all, encoded: string) => {
        const header = decodeHeader(decodeBase64Url(encoded, 'header'))
        if (header.height !== 3n) return all
        const target = header.target / 2n
        const weight = header.weight + (difficultyOf(target) ?? 0n) - (difficultyOf(header.target) ?? 0n)
        const work = encodeWork({ ...header, target, weight })
        return `"${encodeBase64Url(encodeHeader(decodeHeader(new Uint8Array([...work, ...blockHash(work)]))))}"`
      })
    try {
      const failure = (networks: readonly NetworkForm[]) =>
        withClient(networks, async (client) => {
          const read = client.headers(0, { verify }).all()
          return await read.then(
            () => 'none',
            (error: unknown) => describeError(error),
          )
        })
      expect(await failure([rest])).toMatch(/target/)
      expect(await failure([])).toBe('none')
    } finally {
      changed = (text) => text
    }
  })
})

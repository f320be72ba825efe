import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { readNetworkFiles } from '../../src/faces/cli/network-file.ts'
import { concatBytes, decodeHex, encodeBase64Url, u256LE } from '../../src/ground/base/bytes.ts'
import { type Json, parseJson, stringifyJson } from '../../src/ground/base/json.ts'
import { decodeWork } from '../../src/ground/chain/header.ts'
import { chainBytes } from '../../src/ground/chain/work.ts'
import { headerRecords as records } from '../records.ts'
import { run } from './run.ts'

const works = records.filter(({ kind }) => kind === 'unsolved-work')
const headers = records.filter(({ kind }) => kind !== 'unsolved-work')

const folder = mkdtempSync(join(tmpdir(), 'newcut-inspect-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('newcut inspect', () => {
  it('newcut inspect shows all real headers and works, hex and base64url mixed, from stdin', async () => {
    const lines = records.map(({ header_hex: hex }, i) => (i % 2 === 0 ? hex : encodeBase64Url(decodeHex(hex))))
    const { code, out, err } = await run(['inspect', '-'], {}, lines.join('\n'))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const shown = out.trim().split('\n')
    expect(shown).toHaveLength(records.length)
    records.forEach((record, i) => {
      expect(parseJson(shown[i])).toMatchObject({
        type: record.kind === 'unsolved-work' ? 'work' : 'header',
        powHash: record.pow_hash_hex,
        target: record.target_hex_le,
        height: record.height,
        chainId: record.chain,
        solved: record.solved,
        nonce: record.nonce,
        ...(record.block_hash_b64url !== null && { hash: record.block_hash_b64url }),
        ...(record.block_hash_recomputes !== null && { hashMatches: record.block_hash_recomputes }),
      })
      expect(shown[i]).toContain(`"featureFlags":${record.feature_flags},`)
    })
  })

  it('newcut inspect distinguishes a work response from work', async () => {
    const work = decodeHex(records.find(({ kind }) => kind === 'unsolved-work')?.header_hex ?? '')
    const { chainId, target } = decodeWork(work)
    const response = concatBytes(chainBytes(chainId), u256LE(target), work)
    const { code, out } = await run(['inspect', encodeBase64Url(response)])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ type: 'workResponse', chainId, solved: false, level: expect.any(Number) })
  })

  it('newcut inspect reads a file of lines and a file of bytes', async () => {
    const lines = join(folder, 'lines.txt')
    writeFileSync(lines, `\n"${encodeBase64Url(decodeHex(records[0].header_hex))}"\r\n${records[1].header_hex}\n`)
    expect((await run(['inspect', lines])).out.trim().split('\n')).toHaveLength(2)
    const bytes = join(folder, 'header.bin')
    writeFileSync(bytes, decodeHex(records[0].header_hex))
    expect(JSON.parse((await run(['inspect', bytes])).out)).toMatchObject({ powHash: records[0].pow_hash_hex })
  })

  it('newcut inspect prints the number of a bad line, shows the others and exits 1', async () => {
    const lines = [records[0].header_hex, 'zz', records[1].header_hex, records[2].header_hex.slice(2), 'not base64url!']
    const { code, out, err } = await run(['inspect'], {}, lines.join('\n'))
    expect(code).toBe(1)
    expect(out.trim().split('\n')).toHaveLength(2)
    expect(
      err
        .trim()
        .split('\n')
        .map((line) => /line (\d+):/.exec(line)?.[1]),
    ).toEqual(['2', '4', '5'])
    for (const line of err.trim().split('\n')) expect(line).toMatch(/\[BAD_FORMAT\]$/)
  })

  it.each([
    ['hex', (hex: string) => hex],
    ['hex', (hex: string) => `0x${hex.toUpperCase()}`],
    ['base64url', (hex: string) => Buffer.from(hex, 'hex').toString('base64url')],
    ['base64', (hex: string) => Buffer.from(hex, 'hex').toString('base64')],
    ['base64', (hex: string) => Buffer.from(hex, 'hex').toString('base64').replace(/=+$/, '')],
  ])('newcut inspect prints that it read %s (row %#)', async (format, write) => {
    // Work of 286 bytes needs base64 padding; a header of 318 bytes needs none.
    const { header_hex: hex, pow_hash_hex: powHash } = works.find(({ header_hex }) =>
      /[+/].*=$/.test(Buffer.from(header_hex, 'hex').toString('base64')),
    ) as (typeof works)[number]
    const { code, out } = await run(['inspect', write(hex)])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ type: 'work', format, powHash })
  })

  it('newcut inspect refuses base64 with wrong padding', async () => {
    const text = Buffer.from(works[0].header_hex, 'hex').toString('base64')
    const { code, err } = await run(['inspect', '-'], {}, `${text}=`)
    expect(code).toBe(1)
    expect(err).toMatch(/^newcut: line 1: base64 at offset 38\d: .*\[BAD_FORMAT\]$/m)
  })

  it('newcut inspect reports an argument that is neither file nor data as a bad line', async () => {
    const { code, err } = await run(['inspect', 'no-such-file'])
    expect(code).toBe(1)
    expect(err).toMatch(/^newcut: line 1: .*expected 318 \(header\), 286 \(work\) or 322 \(work response\)/)
  })
})

describe('newcut inspect reads the JSON that a node answers with', () => {
  const nodes: Devnet[] = []
  afterAll(() => Promise.all(nodes.map((node) => node.close())))

  async function fetched(path: string, accept = 'application/json'): Promise<string> {
    nodes[0] ??= await startDevnet({ port: 0, graph: 'pair', pow: false, autoMine: { kind: 'on-demand' } })
    const { url } = nodes[0]
    const order = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"0":2}' }
    expect((await fetch(`${url}/make-blocks`, order)).status).toBe(200)
    const answer = await fetch(`${url}/chainweb/0.0/development/chain/0/${path}`, { headers: { accept } })
    expect(answer.status).toBe(200)
    return answer.text()
  }

  it.each([
    ['a page of strings', 'header?limit=2', 'application/json', 'base64url in a page'],
    ['a page of objects', 'header?limit=2', 'application/json;blockheader-encoding=object', 'object in a page'],
    ['a page of blocks', 'block?limit=2', 'application/json', 'object in a block in a page'],
  ])('newcut inspect reads JSON that a node answers with: %s', async (_, path, accept, format) => {
    const text = await fetched(path, accept)
    const { code, out, err } = await run(['inspect', '-'], {}, text)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const shown = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(shown).toHaveLength(2)
    for (const each of shown) expect(each).toMatchObject({ type: 'header', format, chainId: 0, hashMatches: true })
  })

  it('newcut inspect reads a single object, on one line or on many', async () => {
    const page = await fetched('header?limit=1&minheight=1', 'application/json;blockheader-encoding=object')
    // parseJson keeps exact integers; JSON.parse would round the featureFlags of other networks.
    const [header] = (parseJson(page) as unknown as { items: Json[] }).items
    const one = await run(['inspect', '-'], {}, stringifyJson(header))
    expect(JSON.parse(one.out)).toMatchObject({ type: 'header', format: 'object', height: 1 })
    const many = await run(['inspect', '-'], {}, page.replaceAll(',', ',\n  '))
    expect(JSON.parse(many.out)).toMatchObject({ type: 'header', format: 'object in a page', height: 1 })
  })

  it('newcut inspect names the invalid item of a page, and shows the others', async () => {
    const items = [headers[0].header_hex, 'zz', { nonce: 1 }, headers[1].header_hex]
    const { code, out, err } = await run(['inspect', '-'], {}, JSON.stringify({ limit: 4, items, next: null }))
    expect(code).toBe(1)
    expect(out.trim().split('\n')).toHaveLength(2)
    expect(err).toMatch(/^newcut: line 1, item 2: .*\[BAD_FORMAT\]\nnewcut: line 1, item 3: .*\[BAD_FORMAT\]\n$/)
  })

  it('newcut inspect reports a truncated page as one error', async () => {
    const { code, out, err } = await run(['inspect', '-'], {}, '{"limit": 2,\n"items": [\n"AAAA')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^newcut: line 1: json at offset 0: .*is the end missing\? \[BAD_FORMAT\]\n$/)
  })
})

describe('newcut inspect --network-file', () => {
  /** A file of the network of a node that runs here, with these changes of its text. */
  const FILE = `network: 1
name: quad
code: 4660
public: false
graphs: [{ from: 0, graph: pair }]
block-delay: 12s
window: 60
genesis: { time: "2026-11-01T00:00:00.000001Z", targets: [{ difficulty: 1000 }], any-target: false, first-epoch: faked }
rules: { slow-epochs-until: genesis, parent-time: genesis, mean-target: genesis, fork-flags: genesis }
forks: { highest: 1 }
gas: { block: 2000000 }
`
  let files = 0
  function fileWith(...changes: readonly (readonly [string, string])[]): string {
    const path = join(folder, `quad-${files++}.yaml`)
    writeFileSync(
      path,
      changes.reduce((text, [from, to]) => text.replace(from, to), FILE),
    )
    return path
  }

  /** The first two headers of a chain, as JSON objects on a page. */
  let page: Promise<string> | null = null
  const quadPage = () => {
    page ??= (async () => {
      const networks = readNetworkFiles([fileWith()])
      const node = await startDevnet({ port: 0, networkName: 'quad', networks, pow: false })
      await node.mine({ 0: 1 })
      const accept = 'application/json;blockheader-encoding=object'
      const path = `${node.url}/chainweb/0.0/quad/chain/0/header`
      const text = await (await fetch(path, { headers: { accept } })).text()
      await node.close()
      return text
    })()
    return page
  }

  async function inspected(file: string) {
    const { code, out, err } = await run(['inspect', '-', '--network-file', file], {}, await quadPage())
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }

  it('newcut inspect --network-file shows the name of the network, and that its rules hold', async () => {
    const [genesis, first] = await inspected(fileWith())
    const shown = { chainwebVersion: 'quad', version: 4660, networks: ['quad'], hashMatches: true }
    expect(genesis).toMatchObject({ ...shown, height: 0, brokenRules: [] })
    // The node runs without proof of work.
    expect(first).toMatchObject({ ...shown, height: 1, brokenRules: first.solved ? [] : ['proofOfWork'] })
  })

  it.each([
    ['another time of the genesis', [['00:00:00.000001Z', '00:00:01Z']], ['creationTime', 'epochStart'], []],
    ['another difficulty of the genesis', [['1000 }', '2000 }']], ['target'], []],
    ['another graph', [['graph: pair', 'graph: triangle']], ['adjacents', 'parent'], ['adjacents']],
    ['no such chain', [['graph: pair', 'graph: singleton']], ['adjacents'], ['adjacents']],
  ] as const)(
    'newcut inspect --network-file names rules that a header breaks: %s',
    async (_, changes, ofGenesis, ofFirst) => {
      const [genesis, first] = await inspected(fileWith(...changes))
      expect(genesis.brokenRules).toEqual(expect.arrayContaining([...ofGenesis].filter((rule) => rule !== 'parent')))
      expect(genesis.brokenRules.length).toBeGreaterThan(0)
      expect(first.brokenRules.filter((rule: string) => rule !== 'proofOfWork')).toEqual(ofFirst)
    },
  )

  it('newcut inspect --network-file names the version of a header of another network, and checks no rules that the file lacks', async () => {
    const [{ header_hex: hex }] = headers
    const other = await run(['inspect', hex, '--network-file', fileWith()])
    expect(JSON.parse(other.out).brokenRules).toContain('version')
    const name = join(folder, 'name.yaml')
    writeFileSync(name, 'network: 1\nname: quad\ncode: 4660\n')
    const [genesis] = await inspected(name)
    expect(genesis).toMatchObject({ chainwebVersion: 'quad' })
    expect(genesis).not.toHaveProperty('brokenRules')
  })

  it('newcut inspect --network-file refuses a file that is wrong', async () => {
    const { code, err } = await run(['inspect', headers[0].header_hex, '--network-file', fileWith(['code', 'cod'])])
    expect(code).not.toBe(0)
    expect(err).toMatch(/line 3: cod: no such field.*\[BAD_CONFIG\]/)
  })
})

/** The tables of docs/PROTOCOL.md against the code that implements them. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type GraphName, graphs } from '../src/ground/chain/graph.ts'
import { headerLayout } from '../src/ground/chain/header.ts'
import { versionCode } from '../src/ground/chain/known-networks.ts'
import { TAG } from '../src/ground/chain/merkle.ts'
import { development, mainnet01, recapDevelopment, testnet04 } from '../src/ground/chain/network-data.ts'

const text = readFileSync(new URL('../docs/PROTOCOL.md', import.meta.url), 'utf8')

/** Cells of the tables in a section, without the header rows. */
function rowsOf(section: string): string[][] {
  const [, body = ''] = text.split(new RegExp(`^##+ ${section.replace('.', '\\.')}\\.? .*$`, 'm'))
  const [own] = body.split(/^##/m)
  const rows = own.split('\n').filter((line) => line.startsWith('| '))
  return rows.map((row) => row.slice(2, -2).split(' | '))
}

it('section B.1 has the offset and size of every field of a header', () => {
  const listed = rowsOf('B.1').flatMap(([bytes]) => {
    const match = /^(\d+)-(\d+)$/.exec(bytes)
    return match === null ? [] : [[Number(match[1]), Number(match[2])]]
  })
  const { workBytes: _, headerBytes, ...offsets } = headerLayout(3)
  const starts = Object.values(offsets)
  expect(listed).toEqual(starts.map((start, i) => [start, (starts[i + 1] ?? headerBytes) - 1]))
})

it('section B.1 has the sizes of works and headers by degree', () => {
  const rows = rowsOf('B.1').filter((cells) => cells.length === 5 && /^\d$/.test(cells[1]))
  expect(rows).toHaveLength(4)
  for (const [names, degree, work, header, nonce] of rows) {
    const layout = headerLayout(Number(degree))
    expect(Number(work)).toEqual(layout.workBytes)
    expect(Number(header)).toEqual(layout.headerBytes)
    expect(Number(nonce)).toEqual(layout.nonce)
    for (const name of names.split(', ')) expect(graphs[name as GraphName].degree).toBe(Number(degree))
  }
})

it('section B.2 has the version code of every network', () => {
  const rows = rowsOf('B.2').filter(([, code]) => /^\d|^0x/.test(code))
  expect(rows.length).toBeGreaterThan(8)
  for (const [name, code] of rows) expect(versionCode(name), name).toEqual(Number(code))
})

it('section B.3 has the tag of every field', () => {
  const fields: Record<string, keyof typeof TAG> = {
    'feature flags': 'featureFlags',
    'creation time': 'creationTime',
    target: 'target',
    chain: 'chainId',
    weight: 'weight',
    height: 'height',
    'version code': 'version',
    'epoch start': 'epochStart',
    nonce: 'nonce',
  }
  const listed = rowsOf('B.3').flatMap(([, field, tag]) => (tag.startsWith('0x') ? [[field, Number(tag)]] : []))
  expect(Object.fromEntries(listed)).toEqual(
    Object.fromEntries(Object.entries(fields).map(([field, name]) => [field, TAG[name]])),
  )
})

it('section C has the genesis targets and the heights at which rules changed', () => {
  const hex = (target: bigint) => `0x${target.toString(16).padStart(64, '0')}`
  for (const network of [mainnet01, testnet04, recapDevelopment]) {
    const row = rowsOf('C').find(([name, target]) => name === network.name && target.includes('chains 10-19'))
    expect(row?.[1], network.name).toMatch(new RegExp(`chains 10-19 \`${hex(network.genesisTarget(10))}\`$`))
  }
  for (const { name, rules } of [mainnet01, testnet04, recapDevelopment, development]) {
    const row = rowsOf('C').find((cells) => cells[0] === name && cells.length === 4)
    const heights = row?.slice(1).map((cell) => (cell === 'genesis' ? 0 : Number(cell.replace(',', ''))))
    expect(heights, name).toEqual([rules.meanTarget, rules.parentTime, rules.endOfEmergencyAdjustment])
  }
})

it('section D has the adjacent chains of every graph', () => {
  const rows = rowsOf('D').filter(([name]) => Object.hasOwn(graphs, name))
  expect(rows.map(([name]) => name).toSorted()).toEqual(Object.keys(graphs).toSorted())
  for (const [name, chains, adjacents] of rows) {
    const listed =
      adjacents === 'none' ? [[]] : adjacents.split(' ').map((each) => each.split(':')[1].split(',').map(Number))
    expect(listed, name).toEqual(graphs[name as GraphName].adjacents)
    expect(listed).toHaveLength(Number(chains))
  }
})

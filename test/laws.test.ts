/**
 * Laws of the house that the current sources do not keep everywhere. `golden/laws.txt` lists today's offenders, and
 * `vitest run test/laws.test.ts --update` rewrites it. The numbers here are their sums, and they only fall: a higher one
 * needs a reason beside it.
 */
import { describe, expect, it } from 'vitest'
import { code, folderOf, graphOf, imports, isOurs, reached, roomOf, texts } from './import-graph.ts'

const ours = imports.filter(isOurs)

/** Files of circles, if imports at run time count too. */
function circles(): string[] {
  const graph = graphOf(() => true)
  return [...code.keys()].filter((name) => reached(graph, name).has(name))
}

const FUNCTION =
  /^(export )?(?:async )?function\*? (\w+)|^(export )?const (\w+) = (?:async )?(?:\([^()]*\)|\w+)(?:: [^=]+)? =>/gm

/** Name of a function at the top of a file -> the files that have one. */
function functions(areExported: boolean): Map<string, string[]> {
  const found = new Map<string, Set<string>>()
  for (const [file, text] of code) {
    for (const [, one, first, other, second] of text.matchAll(FUNCTION)) {
      if (areExported && (one ?? other) === undefined) continue
      const name = first ?? second
      found.set(name, (found.get(name) ?? new Set()).add(file))
    }
  }
  return new Map([...found].map(([name, files]) => [name, [...files].toSorted()]))
}

/** File -> number of matches. */
function counts(pattern: RegExp, isMeant: (name: string) => boolean): Record<string, number> {
  const found = [...code].map(([name, text]) => [name, text.match(pattern)?.length ?? 0] as const)
  return Object.fromEntries(found.filter(([name, count]) => count > 0 && isMeant(name)))
}

/** Room -> its files that other rooms import. */
function faces(): Record<string, string[]> {
  const found = new Map<string, Set<string>>()
  for (const { from, to } of ours) {
    const room = roomOf(to)
    if (roomOf(from) !== room) found.set(room, (found.get(room) ?? new Set()).add(to))
  }
  return Object.fromEntries([...found].map(([room, files]) => [room, [...files].toSorted()] as const).toSorted())
}

const SHORT_LINES = 30

/** Short files with one importer: a part of it that has a file of its own. */
function splinters(): string[] {
  const users = new Map<string, Set<string>>()
  for (const { from, to } of ours) users.set(to, (users.get(to) ?? new Set()).add(from))
  return [...texts].flatMap(([name, text]) =>
    users.get(name)?.size === 1 && text.split('\n').length <= SHORT_LINES ? [name] : [],
  )
}

const EXPORT = /^export (?:abstract )?(?:async )?(?:class|const|function\*?|interface|let|type|enum) (\w+)/gm

/** File -> its exported names that no other source imports. Entry points of the package are for others. */
function unused(): Record<string, string[]> {
  const taken = new Map<string, Set<string>>()
  for (const { to, names } of ours) taken.set(to, new Set([...(taken.get(to) ?? []), ...names]))
  const found = [...code].map(([name, text]) => {
    const by = taken.get(name)
    const exported = [...text.matchAll(EXPORT)].map(([, each]) => each)
    return [name, by?.has('*') ? [] : exported.filter((each) => !by?.has(each))] as const
  })
  const isEntry = (name: string) => /(^|\/)(public|main|newcut|thread|worker)\.ts$/.test(name)
  return Object.fromEntries(found.filter(([name, list]) => list.length > 0 && !isEntry(name)))
}

const twice = [...functions(true)].filter(([, files]) => files.length > 1)
const often = [...functions(false)].filter(([, files]) => files.length >= 5)
const flags = counts(/(?<![\w-])--[a-z][a-z-]{2,}/g, (name) => !['cli', 'commands'].includes(roomOf(name)))
const commands = [...code].filter(([name]) => roomOf(name) === 'commands' && folderOf(name) === '')
const offenders = {
  'circles by import()': circles(),
  'functions of one name that several files export': Object.fromEntries(twice.toSorted()),
  'function names in five files or more': Object.fromEntries(
    often.map(([name, files]) => [name, files.length] as const).toSorted(),
  ),
  'flags outside of cli and commands': flags,
  'files that other rooms import': faces(),
  'short files with one importer': splinters(),
  'exports that no source imports': unused(),
  'files of commands without a command': commands
    .filter(([, text]) => !/export (?:async )?(?:function|const) run\w*|commandRow\(/.test(text))
    .map(([name]) => name),
}

/** Law -> the number of its offenders today. */
const MOST: Readonly<Record<keyof typeof offenders, number>> = {
  'circles by import()': 0,
  'functions of one name that several files export': 2,
  'function names in five files or more': 116,
  'flags outside of cli and commands': 40,
  // The room that plants faults in contracts has one face. Nodes and miners share the page of a missing path.
  'files that other rooms import': 404,
  'short files with one importer': 35,
  'exports that no source imports': 267,
  'files of commands without a command': 0,
}

const sumOf = (value: unknown): number =>
  typeof value === 'number'
    ? value
    : Array.isArray(value)
      ? value.length
      : Object.values(value as object).reduce<number>((sum, each) => sum + sumOf(each), 0)

function linesOf(found: (typeof offenders)[keyof typeof offenders]): string[] {
  if (Array.isArray(found)) return found
  return Object.entries(found).map(([name, what]) => `${name}: ${Array.isArray(what) ? what.join(', ') : what}`)
}

describe('offenders against the laws of the house', () => {
  it.each(Object.entries(MOST))(
    'offenders against the laws of the house are at most as many as before: %s',
    (law, most) => {
      expect(sumOf(offenders[law as keyof typeof offenders])).toBe(most)
    },
  )

  it('offenders against the laws of the house are those of the list', async () => {
    const lines = Object.entries(offenders).flatMap(([law, found]) => [`# ${law}`, ...linesOf(found), ''])
    await expect(lines.join('\n')).toMatchFileSnapshot('golden/laws.txt')
  })
})

/**
 * Packages by room, as its task needs them. The language runs in editors and pages too, so it has no server and no client.
 */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  accounts: ['@nats-io/jetstream', '@nats-io/transport-node', 'classic-level'],
  api: ['fastify', 'prom-client'],
  base: ['@noble/hashes'],
  cli: ['commander', 'pino', 'yaml'],
  commands: ['@nats-io/transport-node', 'yaml'],
  compose: ['fastify'],
  conformance: ['undici'],
  contracts: ['@noble/curves', '@noble/hashes'],
  chain: ['@noble/hashes', 'hash-wasm'],
  devnet: ['@noble/curves', '@noble/hashes', '@noble/post-quantum', 'classic-level', 'fastify'],
  debugger: ['vscode-languageserver'],
  editor: ['vscode-languageserver', 'vscode-languageserver-textdocument'],
  engine: ['@nats-io/jetstream', '@nats-io/kv', '@nats-io/transport-node', '@noble/hashes', 'piscina'],
  fleet: ['@nats-io/jetstream', '@nats-io/kv', '@nats-io/transport-node'],
  // The test runner of the user.
  matchers: ['@jest/globals', 'vitest'],
  node: ['eventsource', 'undici'],
  payouts: ['classic-level'],
  platform: ['fastify'],
  schema: ['typebox'],
  source: ['tldts'],
  web: ['@noble/hashes', 'fastify', 'uplot'],
}

it('each room imports the packages of its task alone, and all of them', () => {
  const used = new Map<string, Set<string>>()
  for (const { from, to } of imports.filter((each) => !isOurs(each) && !/^\.|^node:|\/bench\//.test(each.to))) {
    const [first, second] = to.split('/')
    const room = roomOf(from)
    used.set(room, (used.get(room) ?? new Set()).add(first.startsWith('@') ? `${first}/${second}` : first))
  }
  const found = Object.fromEntries([...used].map(([room, packages]) => [room, [...packages].toSorted()]))
  expect(found).toEqual(PACKAGES)
})

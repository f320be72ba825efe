/** Inputs for readers: valid ones with mistakes in them. The same seed and number give the same input. */
import { randomFrom } from '../random.ts'
import { bytesOf, textOf } from './target.ts'

type Random = () => number

/** Maximum length of most inputs, in bytes. A small share may be longer. */
const MAX_BYTES = 4 * 1024
const MAX_TREE_BYTES = 64 * 1024
const MAX_LONG_BYTES = 256 * 1024
const LONG_ONE_IN = 500
const MAX_MUTATIONS = 4
/** Values of a JSON tree that a mutation considers. */
const MAX_NODES = 2_000

const INTERESTING_BYTES = [0, 1, 2, 9, 10, 13, 0x1f, 0x20, 0x22, 0x5c, 0x7f, 0x80, 0xbf, 0xc0, 0xe2, 0xf8, 0xfe, 0xff]
const NUMBERS = [
  ...['0', '-0', '-1', '1', '255', '256', '65535', '65536', '1.5', '1e1', '1E-1', '0.1', '1e400', '-1e400', '1e-400'],
  ...['2147483647', '2147483648', '4294967295', '4294967296', '9007199254740991', '9007199254740992'],
  ...['9223372036854775807', '9223372036854775808', '-9223372036854775808', '18446744073709551615'],
  ...['18446744073709551616', '1e308', '5e-324', '1.0', '100000000000000000000000.5', '1e99999999999', '00', '0x10'],
  ...['115792089237316195423570985008687907853269984665640564039457584007913129639936', '9'.repeat(400)],
]
const TEXTS = [
  ...['', ' ', '\0', '\0\0', '\n', '\r\n', '\u2028', '\ufeff', '\ud800', '\udfff\ud800', '\u202e', '𝟙', 'é', '\x1b[2J'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', 'null', 'NaN', 'Infinity', 'undefined'],
  ...['-', '_', '=', '==', '+', '/', '%', '%00', '%zz', '..', '../', '0x', "'", '"', '\\', '{', '}', '[', ']', '('],
  ...[')', ',', ':', ':=', '::', ';', '&a', '*a', '<<: *a', '- ', '? ', '!!binary', '%YAML 1.1\n---\n', '${', '`'],
  ...['A'.repeat(43), 'a'.repeat(64), '_'.repeat(43), 'WEBAUTHN-', 'k:', 'data:', 'event:', 'retry:1', '\u0000' + '1'],
  ...NUMBERS,
]
/** Opening and closing brackets that nest. */
const BRACKETS = [
  ['[', ']'],
  ['{"a":', '}'],
  ['(', ')'],
  ['(a ', ')'],
  ['{', '}'],
  ['[{"a":[', ']}]'],
  ['- ', ''],
  ['"', '"'],
] as const

/** The input of this number. The first inputs are the unchanged seeds. */
export function inputOf(seeds: readonly Uint8Array[], name: string, seed: number, number: number): Uint8Array {
  if (number < seeds.length) return seeds[number]
  const random = randomFrom(hashOf(`${name} ${seed} ${number}`))
  const mostBytes = random() * LONG_ONE_IN < 1 ? MAX_LONG_BYTES : MAX_BYTES
  // A copy: `slice` of a Buffer shares its memory.
  let bytes: Uint8Array = new Uint8Array(random() < 0.02 ? randomBytes(random) : pick(random, seeds))
  const isJson = /^\s*[[{"]/.test(textOf(bytes.subarray(0, 20)))
  const times = 1 + below(random, MAX_MUTATIONS)
  for (let i = 0; i < times; i++) {
    const changed = isJson && random() < 0.6 ? mutateTree(random, bytes, seeds) : null
    bytes = changed ?? pick(random, BYTE_MUTATIONS)(random, bytes, seeds, mostBytes)
  }
  return bytes.subarray(0, Math.max(mostBytes, MAX_TREE_BYTES, ...seeds.map(({ length }) => length)))
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

const below = (random: Random, bound: number) => Math.floor(random() * bound)
const pick = <T>(random: Random, items: readonly T[]): T => items[below(random, items.length)]
/** A whole number of at least 1; small ones are more frequent. */
const size = (random: Random, most: number) => Math.max(1, Math.floor(most ** random()))

function randomBytes(random: Random): Uint8Array {
  return Uint8Array.from({ length: below(random, 64) }, () => below(random, 256))
}

type Mutation = (random: Random, bytes: Uint8Array, seeds: readonly Uint8Array[], mostBytes: number) => Uint8Array

/** `bytes` with a part replaced. */
function splice(bytes: Uint8Array, from: number, to: number, part: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.concat([bytes.subarray(0, from), part, bytes.subarray(to)]))
}

const BYTE_MUTATIONS: readonly Mutation[] = [
  function flipBit(random, bytes) {
    const copy = bytes.slice()
    if (copy.length > 0) copy[below(random, copy.length)] ^= 1 << below(random, 8)
    return copy
  },
  function setByte(random, bytes) {
    const copy = bytes.slice()
    if (copy.length > 0) copy[below(random, copy.length)] = pick(random, INTERESTING_BYTES)
    return copy
  },
  function setInteger(random, bytes) {
    const copy = bytes.slice()
    const width = pick(random, [2, 4, 8, 32])
    const from = below(random, copy.length + 1)
    copy.fill(pick(random, [0, 0xff, 0x7f, 0x80]), from, from + width)
    if (random() < 0.5 && from < copy.length) copy[from] ^= 1
    return copy
  },
  function truncate(random, bytes) {
    return bytes.slice(0, below(random, bytes.length + 1))
  },
  function cutOut(random, bytes) {
    const from = below(random, bytes.length + 1)
    return splice(bytes, from, from + size(random, bytes.length + 1), new Uint8Array())
  },
  function insertText(random, bytes) {
    const at = below(random, bytes.length + 1)
    return splice(bytes, at, at + (random() < 0.5 ? 0 : size(random, 40)), bytesOf(pick(random, TEXTS)))
  },
  function changeNumber(random, bytes) {
    const text = textOf(bytes)
    const numbers = [...text.matchAll(/-?\d+(\.\d+)?/g)]
    if (numbers.length === 0) return bytes
    const { index, 0: digits } = pick(random, numbers)
    return bytesOf(text.slice(0, index) + pick(random, NUMBERS) + text.slice(index + digits.length))
  },
  function join(random, bytes, seeds) {
    const other = pick(random, seeds)
    const from = below(random, other.length + 1)
    const part = other.subarray(from, from + size(random, other.length + 1))
    const at = below(random, bytes.length + 1)
    return splice(bytes, at, at + (random() < 0.5 ? 0 : part.length), part)
  },
  function repeat(random, bytes, _seeds, mostBytes) {
    const from = below(random, bytes.length + 1)
    const part = bytes.subarray(from, from + size(random, bytes.length - from + 1))
    if (part.length === 0) return bytes
    const times = size(random, Math.max(1, Math.floor(mostBytes / part.length)))
    return splice(bytes, from, from, Buffer.concat(Array.from({ length: times }, () => part)))
  },
  function nest(random, bytes, _seeds, mostBytes) {
    const [open, close] = pick(random, BRACKETS)
    const times = size(random, mostBytes / (open.length + close.length + 1))
    const at = below(random, bytes.length + 1)
    const end = random() < 0.5 ? at : below(random, bytes.length + 1)
    const [from, to] = [Math.min(at, end), Math.max(at, end)]
    const inner = bytes.subarray(from, to)
    const isClosed = random() < 0.8
    const around = [bytesOf(open.repeat(times)), inner, bytesOf(isClosed ? close.repeat(times) : '')]
    return splice(bytes, from, to, Buffer.concat(around))
  },
]

/** Prefix of strings that stand for JSON text without a JavaScript value. */
const RAW = '\u0001raw:'
const DEEP = [100, 300, 20_000]

type Tree = Record<string | number, unknown>

/** As mutateJson. Also returns null if the tree nests too deeply to be serialized. */
function mutateTree(random: Random, bytes: Uint8Array, seeds: readonly Uint8Array[]): Uint8Array | null {
  try {
    return mutateJson(random, bytes, seeds)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** @returns null if the bytes are not JSON */
function mutateJson(random: Random, bytes: Uint8Array, seeds: readonly Uint8Array[]): Uint8Array | null {
  const tree = jsonOf(bytes)
  if (tree === undefined) return null
  const holder: Tree = { root: tree }
  const places = placesIn(holder)
  const [parent, key] = pick(random, places)
  const value = parent[key]
  switch (below(random, 8)) {
    case 0:
    case 1:
      parent[key] = interesting(random)
      break
    case 2:
      if (Array.isArray(parent)) parent.splice(Number(key), 1)
      else delete parent[key]
      break
    case 3: {
      const [otherParent, otherKey] = pick(random, places)
      const other = otherParent[otherKey]
      // A tree inside itself would be a cycle.
      if (typeof other !== 'object') parent[key] = other
      else parent[key] = structuredClone(other)
      break
    }
    case 4: {
      const other = jsonOf(pick(random, seeds))
      const [otherParent, otherKey] = pick(random, placesIn({ root: other }))
      parent[key] = otherParent[otherKey]
      break
    }
    case 5:
      if (Array.isArray(value)) parent[key] = Array.from({ length: size(random, 300) }, () => value[0] ?? value).flat()
      else if (typeof value === 'string') parent[key] = mutateString(random, value, seeds)
      else parent[key] = [value]
      break
    case 6:
      if (typeof value === 'object' && value !== null) addTo(random, value as Tree)
      else parent[key] = interesting(random)
      break
    default:
      if (typeof value === 'string') parent[key] = mutateString(random, value, seeds)
      else parent[key] = interesting(random)
  }
  const text = JSON.stringify(holder.root) ?? ''
  return bytesOf(text.replace(/"\\u0001raw:([^"]*)"/g, (_all, raw: string) => unquoted(raw)))
}

/** The replacement of a marked string: a number, or nested brackets. */
function unquoted(raw: string): string {
  const deep = /^deep(\d+)$/.exec(raw)
  return deep === null ? raw : '['.repeat(Number(deep[1])) + ']'.repeat(Number(deep[1]))
}

function interesting(random: Random): unknown {
  switch (below(random, 6)) {
    case 0:
      return RAW + pick(random, NUMBERS)
    case 1:
      return pick(random, TEXTS)
    case 2:
      return `${RAW}deep${pick(random, DEEP)}`
    case 3:
      // String() and Number() throw for the last one.
      return pick<unknown>(random, [null, true, false, {}, [], [null], { a: 1 }, [[]], { toString: 1 }])
    default:
      return pick(random, [0, -1, 1, 1.5, 2 ** 31, 2 ** 32, 2 ** 53, Number.MAX_SAFE_INTEGER, 1e21, 1e-7])
  }
}

function addTo(random: Random, value: Tree): void {
  if (Array.isArray(value)) value.push(interesting(random))
  else {
    const key = random() < 0.3 ? String(below(random, 100)) : pick(random, TEXTS)
    Object.defineProperty(value, key, { value: interesting(random), enumerable: true, configurable: true })
  }
}

/** Mutates the contents of strings too if they hold JSON, or JSON in base64url. */
function mutateString(random: Random, text: string, seeds: readonly Uint8Array[]): string {
  if (/^\s*[[{]/.test(text)) {
    const inner = mutateJson(random, bytesOf(text), seeds)
    if (inner !== null) return textOf(inner)
  }
  if (text.length > 60 && /^[\w-]+$/.test(text) && random() < 0.5) {
    const inner = new Uint8Array(Buffer.from(text, 'base64url'))
    const changed = (inner[0] === 0x7b && mutateJson(random, inner, seeds)) || flip(random, inner)
    return Buffer.from(changed).toString('base64url')
  }
  return textOf(pick(random, BYTE_MUTATIONS)(random, bytesOf(text), seeds, 4_000))
}

const flip: (random: Random, bytes: Uint8Array) => Uint8Array = (random, bytes) =>
  pick(random, BYTE_MUTATIONS)(random, bytes, [bytes], 4_000)

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(bytes))
  } catch {
    return undefined
  }
}

/** The positions of values in a tree. */
function placesIn(holder: Tree): (readonly [Tree, string])[] {
  const places: (readonly [Tree, string])[] = []
  const waiting: Tree[] = [holder]
  for (let tree = waiting.shift(); tree !== undefined && places.length < MAX_NODES; tree = waiting.shift()) {
    for (const [key, value] of Object.entries(tree)) {
      places.push([tree, key])
      if (typeof value === 'object' && value !== null) waiting.push(value as Tree)
    }
  }
  return places
}

/** Natives of texts, objects and data of the command (CoreBuiltin.hs; TableGasModel.hs, GConcat, GStrOp, GObjOp, GSearch). */

import { readDecimal } from './desugar.ts'
import { hashOfBytes } from './encode.ts'
import { isClosure } from './env.ts'
import { as, type Code, fieldsOf, intOf, is, itemsOf, lengthOf, textOf } from './native-args.ts'
import { equals } from './natives-numbers.ts'
import { bitsOf, sizeOfValue } from './sizes.ts'
import { Fatal, Recoverable, type State } from './state.ts'
import { bool, dec, guard, int, objectOf, str, type Value } from './terms.ts'
import { render, roundDecimal } from './values.ts'

const perCharacter = (state: State, milligas: number, text: string): void => {
  state.charge(lengthOf(text) * milligas + 1)
}

/** Price of finding a field (ObjOpLookup). */
function chargeField(state: State, field: string, size: number): void {
  state.charge(bitsOf(BigInt(size)) * lengthOf(field))
}

const at: Code = ({ state }, _, [key, from]) => {
  if (is(key, 'integer')) {
    const item = itemsOf(from)[Number(key.n)]
    if (item === undefined) throw new Fatal('beyond the list')
    return item
  }
  const fields = fieldsOf(from)
  chargeField(state, textOf(key), fields.size)
  const value = fields.get(textOf(key))
  if (value === undefined) throw new Fatal('no such field')
  return value
}

const where: Code = (machine, _, [field, test, from]) => {
  const fields = fieldsOf(from)
  chargeField(machine.state, textOf(field), fields.size)
  const value = fields.get(textOf(field))
  if (value === undefined || test === undefined || !isClosure(test)) throw new Fatal('no such field')
  return bool(machine.bool(machine.apply(test, [value])))
}

/** `show` and `format` pay for the size of a value as if it were a text (renderPactValue). */
function shown(state: State, value: Value): string {
  state.charge(sizeOfValue(value) * 100)
  return render(value)
}

const format: Code = ({ state }, _, [template, values]) => {
  const text = textOf(template)
  const parts = text.split('{}')
  const items = itemsOf(values)
  if (parts.length === 1) {
    perCharacter(state, 5, text)
    return str(text)
  }
  if (parts.length - items.length > 1) throw new Fatal('not enough arguments')
  const texts = items.slice(0, parts.length - 1).map((item) => (item.v === 'string' ? item.s : shown(state, item)))
  const total = [...parts, ...texts].reduce((sum, each) => sum + lengthOf(each), 0)
  state.charge(total * 100)
  return str(parts.map((part, i) => part + (texts[i] ?? '')).join(''))
}

const contains: Code = ({ state }, _, [needle, hay]) => {
  if (is(hay, 'object')) {
    state.charge(hay.fields.size + 100)
    return bool(hay.fields.has(textOf(needle)))
  }
  const [n, h] = [textOf(needle), textOf(hay)]
  state.charge(lengthOf(n) + lengthOf(h) + 100)
  return bool(h.includes(n))
}

const remove: Code = ({ state }, _, [field, from]) => {
  const fields = fieldsOf(from)
  state.charge(fields.size * lengthOf(textOf(field)) * 10)
  return objectOf([...fields].filter(([name]) => name !== textOf(field)))
}

const hash: Code = ({ state }, _, [value]) => {
  if (is(value, 'string')) {
    state.charge(Buffer.byteLength(value.s) * 100)
    return str(hashOfBytes(Buffer.from(value.s)))
  }
  if (isClosure(value)) throw new Fatal('expected a value')
  state.charge(sizeOfValue(value) * 100)
  // The text that is hashed differs; its hash is as long.
  return str(hashOfBytes(Buffer.from(render(value))))
}

const intToStr: Code = ({ state }, _, [base, value]) => {
  const [radix, n] = [intOf(base), intOf(value)]
  if (n < 0n || radix < 2n || radix > 16n) throw new Fatal('int-to-str')
  const text = n.toString(Number(radix))
  state.charge(text.length * 100)
  return str(text)
}

const strToInt: Code = ({ state }, _, args) => {
  const text = textOf(args.at(-1))
  const base = args.length === 2 ? intOf(args[0]) : 10n
  if (base < 2n || base > 16n) throw new Fatal('str-to-int')
  perCharacter(state, 5, text)
  if (text === '' || lengthOf(text) > 512) throw new Fatal('str-to-int')
  let n = 0n
  for (const character of text) {
    const digit = Number.parseInt(character, 16)
    if (Number.isNaN(digit) || BigInt(digit) >= base) throw new Fatal('str-to-int')
    n = n * base + BigInt(digit)
  }
  return int(n)
}

function dataField(state: State, field: string): Value {
  chargeField(state, field, state.message.data.size)
  const value = state.message.data.get(field)
  if (value === undefined) throw new Recoverable()
  return value
}

const NUMBER = /^-?\d+(\.\d+)?$/

const readNumber =
  (kind: 'integer' | 'decimal'): Code =>
  ({ state }, _, [field]) => {
    const value = dataField(state, textOf(field))
    if (value.v === 'integer') return kind === 'integer' ? value : dec({ m: value.n, p: 0 })
    if (value.v === 'decimal') return kind === 'decimal' ? value : int(roundDecimal('round', value.d, 0).m)
    if (value.v !== 'string') throw new Recoverable()
    perCharacter(state, 20, value.s)
    if (!NUMBER.test(value.s)) throw new Recoverable()
    const read = readDecimal(value.s)
    if (kind === 'decimal') return dec(read)
    if (value.s.includes('.')) throw new Recoverable()
    return int(read.m)
  }

/** A keyset in the data: an object with keys and perhaps a predicate, or a list of keys (readKeyset'). */
export function readKeyset(state: State, field: string): { readonly keys: readonly string[]; readonly pred: string } {
  const value = dataField(state, field)
  const textsOf = (list: Value | undefined): string[] => {
    if (list?.v !== 'list') throw new Recoverable()
    const texts = list.items.map((item) => {
      if (item.v !== 'string') throw new Recoverable()
      return item.s
    })
    return [...new Set(texts)].sort()
  }
  if (value.v === 'list') return { keys: textsOf(value), pred: 'keys-all' }
  if (value.v !== 'object') throw new Recoverable()
  chargeField(state, 'keys', value.fields.size)
  chargeField(state, 'pred', value.fields.size)
  const keys = textsOf(value.fields.get('keys'))
  const pred = value.fields.get('pred') ?? str('keys-all')
  if (pred.v !== 'string') throw new Recoverable()
  perCharacter(state, 5, pred.s)
  return { keys, pred: pred.s }
}

/** The model computes the price only. */
const poseidon: Code = ({ state }, _, [numbers]) => {
  const { length } = itemsOf(numbers)
  state.charge(length * length * 50_000 + length * 38_000)
  return int(0)
}

export const DATA: readonly (readonly [string, Code])[] = [
  ['at', at],
  ['where', where],
  ['show', ({ state }, _, [value]) => str(shown(state, isClosure(value) ? fail() : value))],
  ['format', format],
  [
    'contains',
    (machine, env, args) => (is(args[1], 'list') ? containsItem(machine, env, args) : contains(machine, env, args)),
  ],
  ['remove', remove],
  ['hash', hash],
  ['int-to-str', intToStr],
  ['str-to-int', strToInt],
  ['str-to-int-base', strToInt],
  [
    'str-to-list',
    ({ state }, _, [text]) => {
      perCharacter(state, 100, textOf(text))
      return { v: 'list', items: [...textOf(text)].map(str) }
    },
  ],
  [
    'concat',
    ({ state }, _, [texts]) => {
      const items = itemsOf(texts)
      if (items.length === 0) return str('')
      const all = items.map(textOf)
      state.charge(all.reduce((sum, each) => sum + lengthOf(each), 0) * 100 + all.length * 40)
      return str(all.join(''))
    },
  ],
  [
    'is-charset',
    ({ state }, _, [charset, text]) => {
      perCharacter(state, 5, textOf(text))
      const limit = intOf(charset) === 0n ? 128 : 256
      return bool([...textOf(text)].every((character) => (character.codePointAt(0) ?? 0) < limit))
    },
  ],
  [
    'base64-encode',
    ({ state }, _, [text]) => {
      perCharacter(state, 5, textOf(text))
      return str(Buffer.from(textOf(text)).toString('base64url'))
    },
  ],
  [
    'base64-decode',
    ({ state }, _, [text]) => {
      perCharacter(state, 5, textOf(text))
      return str(Buffer.from(textOf(text), 'base64url').toString())
    },
  ],
  ['read-msg', ({ state }, _, [field]) => dataField(state, textOf(field))],
  ['read-msg-default', ({ state }) => objectOf(state.message.data)],
  [
    'read-string',
    ({ state }, _, [field]) => {
      const value = dataField(state, textOf(field))
      if (value.v !== 'string') throw new Recoverable()
      return value
    },
  ],
  ['read-integer', readNumber('integer')],
  ['read-decimal', readNumber('decimal')],
  ['read-keyset', ({ state }, _, [field]) => guard({ g: 'keyset', ...readKeyset(state, textOf(field)) })],
  [
    'typeof',
    (_, __, [value]) => {
      return str(isClosure(value) ? '<<closure>>' : value.v)
    },
  ],
  [
    'hash-keccak256',
    ({ state }, _, [chunks]) => {
      const texts = itemsOf(chunks).map(textOf)
      const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
      state.charge(146 * Math.ceil(bytes / 100) + 2120 * texts.length)
      return str(hashOfBytes(Buffer.from(texts.join())))
    },
  ],
  ['hash-poseidon', poseidon],
  ['poseidon-hash-hack-a-chain', poseidon],
  [
    'point-add',
    ({ state }, _, [group, , sum]) => {
      state.charge(textOf(group) === 'g1' ? 5000 : 30_000)
      return as(sum, 'object')
    },
  ],
  ['identity', (_, __, [value]) => (isClosure(value) ? fail() : value)],
  ['continue', (_, __, [value]) => value],
]

const containsItem: Code = ({ state }, _, [wanted, hay]) => {
  if (isClosure(wanted)) throw new Fatal('expected a value')
  // The search ends at the first item that is equal.
  return bool(as(hay, 'list').items.some((item) => equals(state, wanted, item)))
}

function fail(): never {
  throw new Fatal('expected a value')
}

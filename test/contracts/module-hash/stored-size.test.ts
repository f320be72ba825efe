/** Sizes of modules as stored, counted by hand from their encoding (CBOR). Reading a module costs by them. */
import { expect, it } from 'vitest'
import { language } from '../../../src/language/contracts/language.ts'
import type { Module } from '../../../src/language/contracts/machine/ast.ts'
import { emptyEnvironment } from '../../../src/language/contracts/machine/environment.ts'
import { Evaluator } from '../../../src/language/contracts/machine/evaluate/evaluator.ts'
import { newTransaction } from '../../../src/language/contracts/machine/scopes.ts'
import { moduleSource, reloadModule } from '../../../src/language/contracts/stored-modules.ts'
import { freeGas, Layer, runOn } from '../evaluator.ts'

const TX_HASH = 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g'

/** The last of these modules. Each text is a transaction. */
function deployed(texts: readonly string[], file?: string): Module {
  const { block, message } = emptyEnvironment
  const state = new Layer()
  for (const text of texts) {
    const transaction = newTransaction({ ...message, hash: TX_HASH }, state, freeGas())
    runOn(new Evaluator(language, file === undefined ? block : { ...block, file }, transaction), text)
  }
  const name = /\((?:module|interface) (\S+)/.exec(texts.at(-1) ?? '')?.[1] ?? ''
  return state.get<Module>('modules', name) as Module
}

const storedSize = (texts: readonly string[], file?: string) => deployed(texts, file).image?.stored

const MODULE = '(module m G (defcap G () true))'
const HASH = 2 + 32
/** A name of one letter: an array of itself and no namespace. */
const NAME = 1 + 2 + 1
const GOVERNANCE = 1 + 1 + 1 + NAME + 2 + HASH
/** An argument, a constant, and a defcap with both, each with a place. */
const SPEC = 1 + 2 + 1 + 1
const TRUE = 1 + 1 + (1 + 1 + 1) + 1
const DEFCAP = 1 + 1 + 1 + SPEC + 1 + TRUE + 2 + 1
/** Lists of imports, interfaces and blessed hashes; its hash and that of the command; its place. */
const REST = 3 + 2 * HASH + 1
const frame = (definitions: number) => 1 + NAME + GOVERNANCE + 2 + definitions + REST
/** Version, length, kind and a map of dependencies around it. */
const whole = (inner: number) => 1 + (inner + 3 < 256 ? 2 : 3) + 2 + inner + 1
const PLACES = 4

it('a stored module has the line of each part', () => {
  expect(storedSize([MODULE])).toBe(whole(frame(DEFCAP)))
  expect(storedSize([`${'\n'.repeat(23)}${MODULE}`])).toBe(whole(frame(DEFCAP)))
  expect(storedSize([`${'\n'.repeat(24)}${MODULE}`])).toBe(whole(frame(DEFCAP) + PLACES))
  expect(storedSize([`${'\n'.repeat(256)}${MODULE}`])).toBe(whole(frame(DEFCAP) + 2 * PLACES))
})

it('a stored module of a test file has the file, and the first and last line and column of each part', () => {
  const place = (name: string) => 1 + (1 + name.length) + 1 + 4
  // The ends of the module and its capability, and both ends of `true`, are beyond column 23.
  const columns = 4
  expect(storedSize([MODULE], 'a.repl')).toBe(whole(frame(DEFCAP) + PLACES * (place('a.repl') - 1) + columns))
  const lines = '(module m\nG (defcap G\n () true))'
  expect(storedSize([lines], 'tests/a.repl')).toBe(whole(frame(DEFCAP) + PLACES * (place('tests/a.repl') - 1)))
})

it('a stored module has the definitions that it depends on, as their modules have them', () => {
  const used = '(module u G (defcap G () true) (defun f () true) (defun g () 1))'
  const user = `${'\n'.repeat(30)}(module m G (defcap G () true) (defun h () (u.f)))`
  const f = 1 + 1 + 1 + SPEC + 1 + (1 + 1 + TRUE + 1) + 1
  const call = 1 + 1 + (1 + 1 + (1 + 2 + (1 + 1 + NAME + HASH)) + 2) + 1 + 2
  const h = 1 + 1 + 1 + (SPEC + 1) + 1 + (1 + 1 + call + 2) + 2
  const key = 1 + NAME + 2 + HASH
  expect(storedSize([used, user])).toBe(whole(frame(DEFCAP + h) + PLACES + key + f))
})

it('a module that is built again from its source has the same size', () => {
  for (const file of [undefined, 'a.repl']) {
    const module = deployed(['\n (module m G\n (defcap G () true) (defun f (a:integer) (let ((b a))\n b)))'], file)
    expect(reloadModule(moduleSource(module)).image?.stored).toBe(module.image?.stored)
  }
})

/** Natives and special forms of the language, as the runner of test files and the network know them. */
import { NativeFunction } from '../machine/callables.ts'
import type { Language } from '../machine/expand/expander.ts'
import { languagesOf } from './run.ts'
import { TestRun } from './test-run.ts'
import type { TestFiles } from './test-start.ts'

export interface NativeWord {
  readonly name: string
  /** Form of the language, function, or constant. */
  readonly kind: 'form' | 'function' | 'constant'
  /** Number of arguments; null if a rule of its own applies. */
  readonly arity: readonly [fewest: number, most: number] | null
  /** Flat price in milligas; null for forms. */
  readonly milligas: number | null
  /** True for what only test files know. */
  readonly isOfTests: boolean
  /** True if a variable or member of this name would not be found. */
  readonly isReserved: boolean
}

const noFiles: TestFiles = {
  resolve: (_, path) => path,
  read: () => '',
}

/** Forms that build a lambda if they have another number of operands. */
const OPERANDS: ReadonlyMap<string, number> = new Map([['enforce', 2]])

/** All words that have a meaning without a definition. */
export const vocabulary: ReadonlyMap<string, NativeWord> = allWords()

function allWords(): Map<string, NativeWord> {
  const { core, all } = languagesOf(new TestRun(noFiles, 'editor.pact', languagesOf))
  const words = new Map<string, NativeWord>()
  for (const language of [core, all]) addWords(words, language, language === all)
  return words
}

function addWords(words: Map<string, NativeWord>, language: Language, isOfTests: boolean): void {
  const add = (word: Pick<NativeWord, 'name' | 'kind' | 'arity' | 'milligas'>) => {
    if (words.has(word.name)) return
    words.set(word.name, { ...word, isOfTests, isReserved: language.reserved.has(word.name) })
  }
  // A form such as `map` may have the price and the arity of a native.
  for (const [name, term] of language.natives) {
    if (!(term instanceof NativeFunction)) add({ name, kind: 'constant', arity: null, milligas: null })
    else {
      const { arity, gathersArguments } = term.native
      add({ name, kind: 'function', arity: gathersArguments ? null : arity, milligas: term.price })
    }
  }
  for (const name of language.forms.keys()) {
    const count = OPERANDS.get(name)
    add({ name, kind: 'form', arity: count === undefined ? null : [count, count], milligas: null })
  }
}

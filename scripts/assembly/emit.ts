/** Writes the assembly of the kernels as two headers: macros of native/assembly.h, some on a line. */
import { tailLayout } from '../../src/mining/engine/cpu/kernel.ts'
import {
  isOperation,
  type LaneWord,
  type OperationGraph,
  operationGraph,
} from '../../src/mining/engine/cpu/operations.ts'
import { type Allocated, allocate, type Line, spillRow } from './allocate.ts'
import { programOf, rowOf } from './instructions.ts'
import { type ScalarLine, type ScalarOperand, type ScalarProgram, scalarProgramOf } from './scalar.ts'

/** Work of networks with ten or more chains. */
const WORK_BYTES = 286
const MAX_WIDTH = 118

const HEAD = `/* Written by npm run assembly (scripts/assembly) from the graph in operations.ts. See assembly.h. */\n`

/** Row of the result. */
const TOP = 'top'

/** Rows of the table. The first eight have short addresses. */
class Rows {
  readonly #names: readonly string[]

  constructor(graph: OperationGraph, { spillRows }: Allocated) {
    this.#names = [
      rowOf.mask(16),
      rowOf.mask(8),
      rowOf.swept,
      TOP,
      ...Array.from({ length: spillRows }, (_, i) => spillRow(i)),
      ...graph.shared.map((_, i) => rowOf.shared(i)),
    ]
  }

  get count(): number {
    return this.#names.length
  }

  of(name: string): number {
    const index = this.#names.indexOf(name)
    if (index < 0) throw new Error(`no row has the name ${name}`)
    return index
  }
}

export interface Headers {
  /** Content of native/staggered.h. */
  readonly staggered: string
  /** Content of native/mixed.h. */
  readonly mixed: string
  /** Content of native/rows.h. */
  readonly rows: string
}

export function headers(): Headers {
  const graph = operationGraph(tailLayout(WORK_BYTES))
  const allocated = allocate(programOf(graph))
  const rows = new Rows(graph, allocated)
  const vector = allocated.lines.map((line) => vectorText(line, rows))
  const end = `STORE(${allocated.top}, ${rows.of(TOP)})`
  const scalar = scalarProgramOf(graph)
  const beside = [
    ...scalar.lines.map((line) => scalarText(line, rows, scalar.words)),
    `MOVE(REGISTER(${scalar.top}), WORD(${scalar.words}))`,
  ]
  return {
    staggered: HEAD + filled([...vector, end]),
    mixed: HEAD + filled([...merged(vector, beside), end]),
    rows: HEAD + rowsText(graph, rows, scalar),
  }
}

function vectorText(line: Line, rows: Rows): string {
  if (line.kind === 'load') return `LOAD(${line.to}, ${rows.of(line.row)})`
  if (line.kind === 'store') return `STORE(${line.from}, ${rows.of(line.row)})`
  const { kind, to, from, other, bits } = line
  const name = { add: 'ADD', xor: 'XOR', or: 'OR', shuffle: 'SHUFFLE', left: 'LEFT', right: 'RIGHT' }[kind]
  if (other === null) return `${name}(${to}, ${from}, ${bits})`
  return 'register' in other
    ? `${name}(${to}, ${from}, ${other.register})`
    : `${name}_ROW(${to}, ${from}, ${rows.of(other.row)})`
}

function scalarText(line: ScalarLine, rows: Rows, words: number): string {
  const operand = (from: ScalarOperand) => {
    if (from === 'swept') return `WORD(${words + 1})`
    if ('register' in from) return `REGISTER(${from.register})`
    return 'row' in from ? `ROW(${rows.of(rowOf.shared(from.row))})` : `WORD(${from.word})`
  }
  if (line.kind === 'rotate') return `TURN(${line.to}, ${line.bits})`
  if (line.kind === 'load') return `MOVE(${operand(line.from)}, REGISTER(${line.to}))`
  if (line.kind === 'store') return `MOVE(REGISTER(${line.from}), WORD(${line.word}))`
  return `${line.kind === 'add' ? 'PLUS' : 'OTHER'}(${operand(line.other)}, REGISTER(${line.to}))`
}

/** Spreads the second list evenly over the first. */
function merged(first: readonly string[], second: readonly string[]): string[] {
  const all: string[] = []
  let taken = 0
  first.forEach((each, i) => {
    all.push(each)
    const due = Math.floor(((i + 1) * second.length) / first.length)
    all.push(...second.slice(taken, due))
    taken = due
  })
  return all
}

function filled(words: readonly string[]): string {
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    if (line.length + word.length + 1 > MAX_WIDTH) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? word : ` ${word}`
  }
  return `${[...lines, line].join('\n')}\n`
}

/** The C code that fills the rows of uniform values, once a sweep. */
function rowsText(graph: OperationGraph, rows: Rows, scalar: ScalarProgram): string {
  const names = new Map<LaneWord, string>(graph.uniform.map((operation, i) => [operation, `u${i}`]))
  const text = (word: LaneWord): string => {
    if (isOperation(word)) return names.get(word) ?? ''
    if (word.kind === 'state') return `job->midstate[${word.word}]`
    if (word.kind === 'message') return `job->message[${word.word}]`
    if (word.kind !== 'constant') throw new Error('a swept word is not uniform')
    return `0x${word.bits.toString(16).padStart(8, '0')}u`
  }
  const values = graph.uniform.map((operation) => {
    const expression =
      operation.kind === 'rotate'
        ? `SHIFTED(${text(operation.source)}, ${operation.bits})`
        : `${text(operation.left)} ${operation.kind === 'add' ? '+' : '^'} ${text(operation.right)}`
    return `  const uint32_t ${names.get(operation)} = ${expression};`
  })
  const shared = graph.shared.map((word, i) => `  UNIFORM(${rows.of(rowOf.shared(i))}, ${text(word)})`)
  return `#define MASK16_ROW ${rows.of(rowOf.mask(16))}
#define MASK8_ROW ${rows.of(rowOf.mask(8))}
#define SWEPT_ROW ${rows.of(rowOf.swept)}
#define WORDS_ROW ${rows.count}
#define TOP_ROW ${rows.of(TOP)}
#define TOP_WORD ${scalar.words}
#define BESIDE_WORD ${scalar.words + 1}
#define UNIFORM_ROWS \\
${[...values, ...shared].map((line) => line.trimEnd()).join(' \\\n')}
`
}

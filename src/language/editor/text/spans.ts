/** Positions in the text of a file: offsets from 0, in UTF-16 units as editors count them. */
import type { TextPlace } from '../../contracts/errors.ts'
import type { FindingCode } from './finding-codes.ts'

export interface OffsetRange {
  readonly from: number
  /** Offset after the last character. */
  readonly to: number
}

export type Severity = 'error' | 'warning' | 'hint'

/** Something wrong in a file. */
export interface CodeFinding extends OffsetRange {
  readonly severity: Severity
  readonly code: FindingCode
  readonly message: string
  /** True for code without effect, which editors show faded. */
  readonly isUnused?: boolean
  /** A known name like the unknown one in the range. */
  readonly similar?: string
}

export function isWithin(offset: number, { from, to }: OffsetRange): boolean {
  return from <= offset && offset <= to
}

/** Converts places of errors to offsets. A line ends at a line feed, as for the reader. */
export class LineStarts {
  readonly #starts: number[] = [0]
  readonly #length: number

  constructor(text: string) {
    this.#length = text.length
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
  }

  offsetOf({ line, column }: TextPlace): number {
    return Math.min((this.#starts[line] ?? this.#length) + column, this.#length)
  }

  lineOf(offset: number): number {
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#starts[middle] <= offset) low = middle
      else high = middle - 1
    }
    return low
  }

  columnOf(offset: number): number {
    return offset - this.#starts[this.lineOf(offset)]
  }
}

/**
 * Computes the minimum number of vector instructions per nonce for the layout of shaders/search.wgsl, on a GPU with a
 * scalar unit and a rotate instruction. Runs the compression of RFC 7693 section 3.2 on symbols, and counts values that
 * differ both between lanes and between trips. All other values are computed once per lane, or by the scalar unit.
 */
import { MIX_INDICES, SIGMA } from '../src/ground/chain/blake2s.ts'

/** Bits of `differs`. */
const FROM_TRIP_TO_TRIP = 1
const FROM_LANE_TO_LANE = 2
const EVERYWHERE = FROM_TRIP_TO_TRIP | FROM_LANE_TO_LANE

/** The message words of the shader: m8..m15 are zero, m5 changes with the trip, m6 with the lane. */
const MESSAGE_WORDS = 8
const TRIP_WORD = 5
const LANE_WORD = 6

interface Value {
  readonly kind: 'given' | 'add' | 'xor' | 'rotate'
  readonly terms: readonly Value[]
  readonly differs: number
}

/** Operands per addition and xor instruction: two or three. */
export interface Terms {
  readonly add: number
  readonly xor: number
}

/** Counts instructions, including the comparison with the bound. */
export function handMinimum({ add, xor }: Terms): number {
  const top = topWord()
  const uses = new Map<Value, number>()
  const needed = new Set([top])
  // Iteration over a set includes elements added meanwhile.
  for (const value of needed) {
    for (const term of value.terms) {
      needed.add(term)
      uses.set(term, (uses.get(term) ?? 0) + 1)
    }
  }
  // A sum that is used once, in another sum, merges into it: its terms become terms of the other.
  const isPart = (term: Value, { kind }: Value) => term.kind === kind && kind !== 'rotate' && uses.get(term) === 1
  const termsOf = (value: Value): readonly Value[] =>
    value.terms.flatMap((term) => (isPart(term, value) ? termsOf(term) : [term]))
  const computed = new Set([top])
  let count = 1
  for (const value of computed) {
    const terms = termsOf(value)
    for (const term of terms) computed.add(term)
    if (value.differs !== EVERYWHERE) continue
    const most = value.kind === 'xor' ? xor : add
    count += value.kind === 'rotate' ? 1 : Math.ceil((operands(terms) - 1) / (most - 1))
  }
  return count
}

/** Remaining terms after all nonce-independent terms have been summed in advance. */
function operands(terms: readonly Value[]): number {
  const count = (differs: number) => terms.filter((term) => term.differs === differs).length
  const [lane, trip, same] = [count(FROM_LANE_TO_LANE), count(FROM_TRIP_TO_TRIP), count(0)]
  const ofTheTrip = trip > 0 || (same > 0 && lane === 0)
  return count(EVERYWHERE) + Number(lane > 0) + Number(ofTheTrip)
}

/** Bytes 28..31 of the hash. */
function topWord(): Value {
  const givenValue = (differs: number): Value => ({ kind: 'given', terms: [], differs })
  const make = (kind: Value['kind'], ...terms: readonly Value[]): Value => {
    return { kind, terms, differs: terms.reduce((bits, term) => bits | term.differs, 0) }
  }
  const m = Array.from({ length: MESSAGE_WORDS }, (_, word) =>
    givenValue(word === TRIP_WORD ? FROM_TRIP_TO_TRIP : word === LANE_WORD ? FROM_LANE_TO_LANE : 0),
  )
  const v = Array.from({ length: 16 }, () => givenValue(0))
  for (const sigma of SIGMA) {
    for (const [g, [a, b, c, d]] of MIX_INDICES.entries()) {
      for (const word of [sigma[2 * g], sigma[2 * g + 1]]) {
        v[a] = word < MESSAGE_WORDS ? make('add', v[a], v[b], m[word]) : make('add', v[a], v[b])
        v[d] = make('rotate', make('xor', v[d], v[a]))
        v[c] = make('add', v[c], v[d])
        v[b] = make('rotate', make('xor', v[b], v[c]))
      }
    }
  }
  return make('xor', givenValue(0), v[7], v[15])
}

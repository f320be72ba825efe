/** Poseidon hash over the scalar field of BN254, with the constants that its authors derive from the parameters. */
import { grainGenConstants, poseidon } from '@noble/curves/abstract/poseidon.js'
import { bn254_Fr } from '@noble/curves/bn254.js'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import { workReduction } from './crypto-work.ts'

const FULL_ROUNDS = 8
/** Partial rounds by number of inputs, from 1. */
const PARTIAL_ROUNDS = [56, 57, 56, 60, 60, 63, 64, 63]
const SBOX_POWER = 5
/** Milligas of the public network: count^2 times the first, plus count times the second. */
const COST = { square: 50_000, input: 38_000 }

type Permutation = ReturnType<typeof poseidon>

/** Permutations by number of inputs. Generating the constants takes some 10 ms. */
const permutations = new Map<number, Permutation>()

function permutationOf(count: number): Permutation {
  const known = permutations.get(count)
  if (known !== undefined) return known
  const shape = { t: count + 1, roundsFull: FULL_ROUNDS, roundsPartial: PARTIAL_ROUNDS[count - 1] }
  const options = { Fp: bn254_Fr, ...shape, sboxPower: SBOX_POWER }
  const permutation = poseidon({ ...options, ...grainGenConstants(options) })
  permutations.set(count, permutation)
  return permutation
}

/** Hashes a list of 1 to 8 integers. */
function hash(args: Arguments): bigint {
  const inputs = args.list(0)
  const count = inputs.length
  if (count === 0 || count > PARTIAL_ROUNDS.length) throw args.typeError()
  const integers = inputs.filter((input) => typeof input === 'bigint')
  if (integers.length < count) throw args.typeError()
  args.charge(COST.square * count ** 2 + COST.input * count, () => `GHashOp (GHashPoseidon ${count})`)
  for (const integer of integers) workReduction(args, integer)
  return permutationOf(count)([0n, ...integers])[0]
}

export const POSEIDON: readonly Native[] = ['hash-poseidon', 'poseidon-hash-hack-a-chain'].map((name) => ({
  ...native(name, 1, 1, hash),
  gathersArguments: true,
}))

/** Proofs of outputs between the chains of the embedded network: one chain makes them, another verifies them. */
import { hash as digest } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { verifyContinuationProof } from '../../src/devnet/ledger/continuation-proof.ts'
import { spvProof } from '../../src/devnet/ledger/spv.ts'
import { Chains } from '../../src/devnet/rules/chains.ts'
import { networkOf, settingsOf } from '../../src/devnet/rules/settings.ts'
import type { Block } from '../../src/devnet/store/block-store.ts'
import type { Cut } from '../../src/ground/chain/cut.ts'
import { type GraphName, graphNames, graphs } from '../../src/ground/chain/graph.ts'
import type { Header } from '../../src/ground/chain/header.ts'
import { leaf, TAG } from '../../src/ground/chain/merkle.ts'
import { encodePath, merkleSteps } from '../../src/ground/chain/merkle-path.ts'
import { proveOutput } from '../../src/ground/chain/prove-output.ts'
import { decodeProof, encodeProof, proofRoot } from '../../src/ground/chain/spv.ts'
import { rotating } from '../rotation.ts'
import { makeBlock } from './forks.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const YOUNG = 'SPV target not reachable: target chain not reachable. Chainweb instance is too young'
const NO_WAY = "SPV target not reachable: Target of SPV proof can't be reached from the source transaction"
const OUT_OF_BOUNDS = 'spv verification failed: target header is not in the chain or is out of bounds'

function chainsOf(graph: GraphName): Chains {
  let microseconds = networkOf(settingsOf({ graph })).genesisTime
  const now = () => {
    microseconds += 1_000_000n
    return microseconds
  }
  return new Chains({ network: networkOf(settingsOf({ graph, pow: false })), checkPow: false, now })
}

/** A transaction of a block, with the result of the first step of a pact. */
function transactionOf(block: string, index: number) {
  const result = { reqKey: `${block} ${index}`, continuation: { pactId: 'p', step: 0 } }
  return { transaction: bytes(`{"cmd":"${block} ${index}"}`), output: bytes(JSON.stringify(result)) }
}

/** A block with this many transactions on top of the head of `chain` in `cut`. The network's cut stays. */
function addBlock(chains: Chains, cut: Cut, chain: number, transactions: number, account = 'miner'): Header {
  const name = `${chain} ${cut.get(chain)?.height} ${account}`
  const list = Array.from({ length: transactions }, (_, i) => transactionOf(name, i))
  const { header, payload } = makeBlock({ chains }, cut, chain, { account, transactions: list })
  expect(chains.insert(header, payload).status).toBe('added')
  return header
}

/** Heads of a branch with `rounds` blocks on every chain above `from`. Blocks hold 0 to 6 transactions. */
function branch(chains: Chains, from: Cut, rounds: number, account = 'miner'): Map<number, Header> {
  const heads = new Map(from)
  for (let round = 0; round < rounds; round++) {
    for (const chain of from.keys()) heads.set(chain, addBlock(chains, heads, chain, (3 * round + chain) % 7, account))
  }
  return heads
}

function grown(graph: GraphName, rounds: number): Chains {
  const chains = chainsOf(graph)
  expect(chains.adopt(branch(chains, chains.cut, rounds))).toBe(true)
  return chains
}

const headOf = (chains: Chains, chain: number) => chains.cut.get(chain) as Header

/** The block of the current branch at this height. */
function blockAt(chains: Chains, chain: number, height: number): Block {
  return chains.store.get(chains.ancestor(headOf(chains, chain).hash, height).hash) as Block
}

function ask(chains: Chains, block: Block, targetChain: number, index = 0) {
  return spvProof(chains, { chain: block.chain, requestKey: 'key', block, index, targetChain })
}

/** The proof; fails if there is none. */
function proofOf(chains: Chains, block: Block, targetChain: number, index = 0): string {
  const answer = ask(chains, block, targetChain, index)
  if ('fault' in answer) throw new Error(answer.fault)
  return answer.proof
}

const verify = (
  chains: Chains,
  chain: number,
  proof: string,
  parent = headOf(chains, chain),
  window: number | null = null,
) => verifyContinuationProof(chains.store, { chain, parent: blockOf(chains, parent.hash), window, proof })

function blockOf(chains: Chains, hash: Uint8Array): Block {
  const block = chains.store.get(hash)
  if (block === undefined) throw new Error('no such block')
  return block
}

describe.each(graphNames.map((name) => [name]))('a network with the graph %s', (name) => {
  it('every output of a block can be proven to every chain of the network', () => {
    const chains = grown(name, 5)
    let proofs = 0
    for (const source of rotating([...chains.chainIds], 4)) {
      for (const height of [1, 2]) {
        const block = blockAt(chains, source, height)
        block.payload.transactions.forEach(({ output }, index) => {
          for (const target of chains.chainIds) {
            const proof = proofOf(chains, block, target, index)
            expect(verify(chains, target, proof)).toEqual({ output })
            expect(decodeProof(proof)).toMatchObject({ chain: target, position: BigInt(index + 1) })
            proofs++
          }
        })
      }
    }
    expect(proofs).toBeGreaterThan(2 * chains.chainIds.length)
  })
})

describe('a proof', () => {
  it('a proof has the steps of a real one from chain 0 to chain 1 of the twenty', () => {
    const chains = grown('twenty', 5)
    // Chain 0 has 3 transactions at height 2, so output 0 is the second of four leaves.
    const { steps } = decodeProof(proofOf(chains, blockAt(chains, 0, 2), 1))
    expect(steps.map(({ side }) => (side === 'left' ? 'L' : 'R')).join('')).toBe('LRLRRLRLLRLRLLRLL')
  })

  it('a proof leads to the block as many heights above as the chains are apart, and exists from that block', () => {
    const chains = chainsOf('twenty')
    const heads = branch(chains, chains.cut, 1)
    chains.adopt(heads)
    const block = blockAt(chains, 3, 1)
    expect(block.payload.transactions).toHaveLength(3)
    const distances = new Map<number, number>()
    for (let above = 0; above <= 3; above++) {
      for (const chain of chains.chainIds) {
        const answer = ask(chains, block, chain)
        if ('proof' in answer && !distances.has(chain)) {
          expect(proofRoot(decodeProof(answer.proof))).toEqual(headOf(chains, chain).hash)
          distances.set(chain, above)
        } else if ('fault' in answer) expect(answer.fault).toBe(YOUNG)
      }
      chains.adopt(branch(chains, chains.cut, 1))
    }
    const apart = (steps: number) => [...distances].filter(([, each]) => each === steps).map(([chain]) => chain)
    expect(apart(0)).toEqual([3])
    expect(apart(1)).toEqual(graphs.twenty.adjacents[3])
    expect(apart(2)).toEqual([5, 6, 12, 14, 17, 19])
    expect(distances.size).toBe(20)
  })

  it('a proof stays the same while the chains grow', () => {
    const chains = grown('petersen', 4)
    const block = blockAt(chains, 3, 1)
    const proof = proofOf(chains, block, 5)
    chains.adopt(branch(chains, chains.cut, 3))
    expect(proofOf(chains, block, 5)).toBe(proof)
    expect(verify(chains, 5, proof)).toHaveProperty('output')
  })

  it('a proof does not exist for an unknown chain', () => {
    const chains = grown('pair', 2)
    expect(ask(chains, blockAt(chains, 1, 1), 2)).toEqual({ fault: NO_WAY })
  })

  it('a proof needs a transaction of the block', () => {
    const chains = grown('pair', 2)
    const block = blockAt(chains, 1, 1)
    expect(() => ask(chains, block, 0, 1)).toThrow(`block ${block.id} does not hold key at place 1 of chain 1`)
    expect(() => spvProof(chains, { chain: 0, requestKey: 'k', block, index: 0, targetChain: 0 })).toThrow(RangeError)
  })

  it('a proof needs headers that follow each other', () => {
    const chains = grown('twenty', 2)
    const block = blockAt(chains, 3, 1)
    const headers = [block.header, blockAt(chains, 4, 2).header]
    expect(() => proveOutput({ payload: block.payload, index: 0, headers })).toThrow(
      'chain 4 is not adjacent to chain 3',
    )
  })
})

describe('a proof is refused', () => {
  const chains = grown('petersen', 5)
  const block = blockAt(chains, 3, 1)
  const proof = proofOf(chains, block, 5)
  const { position, steps, output } = decodeProof(proof)

  it('a proof is refused on another chain than its target', () => {
    const fault = 'verifyCont: cannot redeem continuation proof on wrong targget chain'
    expect(verify(chains, 4, proof)).toEqual({ fault })
  })

  it("a proof is refused that names another chain than its root's", () => {
    const moved = encodeProof({ chain: 4, position, steps, output })
    expect(verify(chains, 4, moved)).toEqual({ fault: OUT_OF_BOUNDS })
  })

  it.each([
    ['not base64url!', 'verifyCont: Invalid base64-encoded transaction output proof'],
    [`${proof}=`, 'verifyCont: Invalid base64-encoded transaction output proof'],
    ['', 'verifyCont: Cannot decode transaction output proof'],
    [Buffer.from('{}').toString('base64url'), 'verifyCont: Cannot decode transaction output proof'],
    [Buffer.of(0xff).toString('base64url'), 'verifyCont: Cannot decode transaction output proof'],
  ])('a proof is refused that is malformed: %#', (text, fault) => {
    expect(verify(chains, 5, text)).toEqual({ fault })
  })

  it.each(['null', '1', '{}', '{"continuation":null}', '{"continuation":1}', '[', ''])(
    'a proof is refused of an output without continuation: %s',
    (text) => {
      const chains = grown('pair', 1)
      const transactions = [{ transaction: bytes('{}'), output: bytes(text) }]
      const { header, payload } = makeBlock({ chains }, chains.cut, 0, { transactions })
      chains.add(header, payload)
      expect(verify(chains, 0, proofOf(chains, blockAt(chains, 0, 2), 0))).toEqual({
        fault: 'verifyCont: No pact exec found in command result',
      })
    },
  )

  it('a proof is refused with any byte changed', () => {
    for (let at = 0; at < proof.length; at++) {
      for (let bit = 0; bit < 7; bit++) {
        const damaged = Buffer.from(proof)
        damaged[at] ^= 1 << bit
        expect(verify(chains, 5, damaged.toString('latin1')), `byte ${at}, bit ${bit}`).toHaveProperty('fault')
      }
    }
  })

  it('a proof is refused that names another position of its output in the block', () => {
    for (const other of [0n, position + 1n, position + (1n << 8n), position + (1n << 63n)]) {
      expect(verify(chains, 5, encodeProof({ chain: 5, position: other, steps, output }))).toEqual({
        fault: `spv verification failed: the output is not at position ${other} of its block`,
      })
    }
  })

  it('a proof is refused with swapped, missing or foreign steps', () => {
    const other = decodeProof(proofOf(chains, block, 5, 1))
    const wrong = [
      { steps: steps.slice(1) },
      { steps: steps.slice(0, -1) },
      { steps: [steps[1], steps[0], ...steps.slice(2)] },
      { steps: [...steps, steps[0]] },
      { steps: [] },
      { steps: other.steps },
      { output: other.output },
    ]
    for (const change of wrong) {
      const text = encodeProof({ chain: 5, position, steps, output, ...change })
      expect(verify(chains, 5, text)).toEqual({ fault: OUT_OF_BOUNDS })
    }
  })

  it('a proof is refused of a transaction that reads like an output', () => {
    const chains = grown('pair', 1)
    const forged = bytes('{"continuation":{"pactId":"stolen"}}')
    const transactions = [{ transaction: forged, output: bytes('{"continuation":null}') }]
    const { header, payload } = makeBlock({ chains }, chains.cut, 0, { transactions })
    chains.add(header, payload)
    const honest = decodeProof(proofOf(chains, blockAt(chains, 0, 2), 0))
    const leaves = [leaf(TAG.minerData, payload.minerData), leaf(TAG.transaction, forged)]
    // One step within the tree of two leaves and one to the tree of outputs; the rest leads through the header.
    const steps = [...merkleSteps(leaves, 1), { side: 'right' as const, sibling: payload.outputsHash }]
    const path = encodePath({ position: 1n, steps: [...steps, ...honest.steps.slice(2)] })
    const text = (tag: number) => {
      const input = Buffer.concat([Buffer.of(0, tag), forged]).toString('base64url')
      const object = Buffer.from(path).toString('base64url')
      const json = { chain: 0, object, subject: { input }, algorithm: 'SHA512t_256' }
      return Buffer.from(JSON.stringify(json)).toString('base64url')
    }
    // The path does lead to the block: only the tag shows that the leaf is not an output.
    let root: Uint8Array = leaf(TAG.transaction, forged)
    for (let at = 12; at < path.length; at += 33) {
      const sibling = path.subarray(at + 1, at + 33)
      const parts = path[at] === 0 ? [sibling, root] : [root, sibling]
      root = digest('sha512-256', Buffer.concat([Buffer.of(1), ...parts]), 'buffer')
    }
    expect(Buffer.from(root)).toEqual(Buffer.from(header.hash))
    expect(verify(chains, 0, text(0x13))).toEqual({ fault: 'verifyCont: Cannot decode transaction output proof' })
    expect(verify(chains, 0, text(0x14))).toEqual({ fault: OUT_OF_BOUNDS })
  })
})

describe('by branch', () => {
  it('a proof is valid from its root, not before', () => {
    const chains = grown('triangle', 4)
    const proof = proofOf(chains, blockAt(chains, 1, 1), 2)
    const { output } = decodeProof(proof)
    const parentAt = (height: number) => blockAt(chains, 2, height).header
    expect([0, 1, 2, 3, 4].map((height) => verify(chains, 2, proof, parentAt(height)))).toEqual([
      { fault: OUT_OF_BOUNDS },
      { fault: OUT_OF_BOUNDS },
      { output },
      { output },
      { output },
    ])
  })

  it("a proof of an orphan is valid only on the orphan's branch", () => {
    const chains = grown('petersen', 2)
    const fork = new Map(chains.cut)
    chains.adopt(branch(chains, chains.cut, 4))
    const block = blockAt(chains, 3, 4)
    const proof = proofOf(chains, block, 5)
    const oldHead = headOf(chains, 5)
    expect(chains.adopt(branch(chains, fork, 6, 'rival'))).toBe(true)
    expect(verify(chains, 5, proof)).toEqual({ fault: OUT_OF_BOUNDS })
    expect(verify(chains, 5, proof, oldHead)).toEqual({ output: decodeProof(proof).output })
    expect(ask(chains, block, 5)).toEqual({ fault: NO_WAY })
    expect(ask(chains, block, 3)).toEqual({ fault: NO_WAY })
    // Blocks that both branches share remain provable.
    expect(verify(chains, 5, proofOf(chains, blockAt(chains, 3, 1), 5))).toHaveProperty('output')
  })

  it('a proof of a block beside the cut is invalid, though the block is known', () => {
    const chains = grown('pair', 3)
    const heads = branch(chains, chains.cut, 2, 'rival')
    const hop = heads.get(0) as Header
    const own = chains.ancestor((heads.get(1) as Header).hash, 4)
    const beside = chains.store.get(own.hash) as Block
    const proof = encodeProof(proveOutput({ payload: beside.payload, index: 0, headers: [own, hop] }))
    expect(verify(chains, 0, proof)).toEqual({ fault: OUT_OF_BOUNDS })
    expect(verify(chains, 0, proof, hop)).toHaveProperty('output')
  })
})

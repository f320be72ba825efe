import { describe, expect, it } from 'vitest'
import { knownNetwork } from '../../src/ground/chain/known-networks.ts'
import type { NetworkDefinition } from '../../src/ground/chain/network.ts'
import { isInSpvWindow, spvWindow } from '../../src/ground/chain/spv-window.ts'

describe('how far below the parent a proof may end', () => {
  it.each([
    ['mainnet01', 6_269_344, 0, null],
    ['mainnet01', 6_269_345, 0, 20_000],
    ['mainnet01', 6_510_742, 0, 20_000],
    ['mainnet01', 6_510_743, 0, null],
    ['mainnet01', 7_430_000, 1, 525_600],
    // From fork number 1 the window no longer depends on heights.
    ['mainnet01', 6_300_000, 2, 525_600],
    ['testnet04', 5_783_985, 0, null],
    ['testnet04', 5_783_986, 0, 20_000],
    ['testnet04', 5_783_986, 1, 20_000],
    ['testnet06', 9_000_000, 1, null],
    ['development', 9_000_000, 1, null],
    ['stoa', 9_000_000, 1, null],
    ['recap-development', 9_000_000, 0, null],
  ] as const)(
    'the depth of a proof is limited on %s, parent at %d with fork number %d: %s',
    (network, height, fork, window) => {
      expect(spvWindow(knownNetwork(network) as NetworkDefinition, height, fork)).toBe(window)
    },
  )

  const within = (window: number | null, rootHeight: number, parentHeight: number, genesisHeight = 0) =>
    isInSpvWindow(window, { rootHeight, parentHeight, genesisHeight })

  it('the window includes the block at its end', () => {
    expect(within(100, 900, 1000)).toBe(true)
    expect(within(100, 899, 1000)).toBe(false)
    expect(within(null, 0, 1000)).toBe(true)
  })

  it('the window does not limit a shorter chain, from its genesis block', () => {
    expect(within(100, 0, 99)).toBe(true)
    expect(within(100, 0, 100)).toBe(true)
    expect(within(100, 0, 101)).toBe(false)
    expect(within(100, 852_054, 852_153, 852_054)).toBe(true)
    expect(within(100, 852_054, 852_155, 852_054)).toBe(false)
  })
})

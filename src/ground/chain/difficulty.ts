/** Difficulty adjustment and epochs (PROTOCOL.md C). */
import { forkStateOf, holds } from './fork.ts'
import type { Header } from './header.ts'
import { genesisHeight, type HeaderRules, type Network } from './network.ts'
import { difficultyOf, MAX_TARGET } from './target.ts'

/** Derived fields that a header must have, given its parent, its adjacent parents and its own creation time. */
export interface ExpectedFields {
  readonly target: bigint
  /** Microseconds since the UNIX epoch. */
  readonly epochStart: bigint
  /** Parent weight + floor(MAX / target). */
  readonly weight: bigint
}

/**
 * Blocks in the epoch that `parent` belongs to; a tenth of the window while the chain is young.
 * @returns null if the network has no epochs
 */
export function effectiveWindow(network: Network, parentHeight: number): number | null {
  if (network.window === null) return null
  return parentHeight <= network.window ? Math.max(1, Math.floor(network.window / 10)) : network.window
}

/** True if the block after a parent of this height starts an epoch. */
export function startsEpoch(network: Network, parentHeight: number): boolean {
  const window = effectiveWindow(network, parentHeight)
  return window !== null && (parentHeight + 1) % window === 0
}

/**
 * Computes target, epoch start and weight of the block after `parent`.
 * @param adjacentParents headers that the block names as adjacents
 * @param creationTime microseconds; matters only below the height of the parent-time rule
 */
export function expectedFieldsOf(
  network: Network,
  parent: Header,
  adjacentParents: readonly Header[],
  creationTime: bigint,
): ExpectedFields {
  const target = nextTarget(network, parent, adjacentParents, creationTime)
  return {
    target,
    epochStart: nextEpochStart(network, parent, creationTime),
    weight: BigInt.asUintN(256, parent.weight + (difficultyOf(target) ?? 0n)),
  }
}

/** Whether a rule applies to the block after `parent`. */
export function appliesAfter({ rules, forks }: Network, rule: keyof HeaderRules, parent: Header): boolean {
  const height = Number(parent.height)
  // Lower blocks may use the field as a second nonce.
  const forkNumber = height < forks.from ? 0 : forkStateOf(parent.featureFlags).number
  return holds(rules[rule], height + 1, forkNumber)
}

function nextTarget(network: Network, parent: Header, adjacents: readonly Header[], creationTime: bigint): bigint {
  const parentHeight = Number(parent.height)
  const window = effectiveWindow(network, parentHeight)
  if (window === null) return parent.target
  if (!startsEpoch(network, parentHeight) && !isSlowEpoch(network, parent, window, creationTime)) return parent.target
  const expectedTime = BigInt(window) * network.blockDelay
  if (appliesAfter(network, 'meanTarget', parent)) return meanTarget([parent, ...adjacents], expectedTime)
  const end = appliesAfter(network, 'parentTime', parent) ? parent.creationTime : creationTime
  return legacyTarget(parent, end, expectedTime)
}

/**
 * Mean of the adjusted targets of the parent and the adjacent parents. Each adjusted target is rounded up, the mean
 * rounded down.
 *
 * A target beyond 2^256 - 1 is clamped; the reference implementation wraps before its own clamp can act.
 */
function meanTarget(parents: readonly Header[], expectedTime: bigint): bigint {
  let sum = 0n
  for (const { creationTime, epochStart, target } of parents) {
    sum += ceilDivide((creationTime - epochStart) * target, expectedTime)
  }
  return clampTarget(sum / BigInt(parents.length))
}

/**
 * Depends only on the block's own parent: scales the difficulty exactly, rounds it up, target = floor(MAX /
 * difficulty).
 */
function legacyTarget(parent: Header, end: bigint, expectedTime: bigint): bigint {
  const elapsed = end - parent.epochStart
  if (elapsed <= 0n || parent.target === 0n) return 0n
  return clampTarget(MAX_TARGET / ceilDivide(MAX_TARGET * expectedTime, parent.target * elapsed))
}

/** Emergency rule of early blocks: an epoch more than five times too slow adjusts before its end. */
function isSlowEpoch(network: Network, parent: Header, window: number, creationTime: bigint): boolean {
  if (appliesAfter(network, 'endOfEmergencyAdjustment', parent)) return false
  return creationTime - parent.epochStart > 5n * BigInt(window) * network.blockDelay
}

function nextEpochStart(network: Network, parent: Header, creationTime: bigint): bigint {
  const parentHeight = Number(parent.height)
  if (network.fakeFirstEpochStart && parentHeight === 1) return parent.creationTime
  // Genesis time of a chain added by a graph change is long past, so its epoch starts at its first mined block.
  if (parentHeight > 1 && parentHeight === genesisHeight(network, parent.chainId) + 1) return parent.creationTime
  const window = effectiveWindow(network, parentHeight)
  if (window === null) return parent.epochStart
  if (isSlowEpoch(network, parent, window, creationTime)) return creationTime
  if (!startsEpoch(network, parentHeight)) return parent.epochStart
  return appliesAfter(network, 'parentTime', parent) ? parent.creationTime : creationTime
}

function clampTarget(target: bigint): bigint {
  if (target < 0n) return 0n
  return target > MAX_TARGET ? MAX_TARGET : target
}

function ceilDivide(a: bigint, b: bigint): bigint {
  return a <= 0n ? a / b : (a + b - 1n) / b
}

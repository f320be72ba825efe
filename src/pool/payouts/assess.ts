/** Decides which blocks of a pool count and who gets how much for them. Writes nothing: results are journal lines. */

import { coinsText, type Fraction, unitsOf } from '#ground/base/coins.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import type { ShareEntry, ShareReader } from '#mining/accounts/share-store.ts'
import { type BlockNode, type BlockShare, blockShares, type Reward, rewardOf, standingsOf } from './found-blocks.ts'
import type { Credit, PayoutLedger } from './ledger.ts'
import type { CreditLine, PayoutLine } from './payout-line.ts'
import { comparePositions, isInside, type Position, roundUpTo, type Span } from './rounds.ts'
import { dividePplns, divideProp, divideSolo, type RewardSplit, type SchemeName } from './schemes.ts'

/** The rules of a pool. */
export interface PoolRules {
  /** The account that its blocks pay. */
  readonly account: string
  readonly network: string
  readonly scheme: SchemeName
  /** PPLNS window in blocks. */
  readonly window: { readonly text: string; readonly value: Fraction }
  /** Operator fee in per cent. */
  readonly fee: { readonly text: string; readonly value: Fraction }
  /** Required depth of a block; 1 is the head. */
  readonly confirmations: number
}

/** State of a pool block. */
export type PoolBlockState =
  | 'credited'
  /** It is not deep enough, its chain is unsettled there, or the node does not know the chain that far. */
  | 'waiting'
  /** PROP: it is deep enough, but an earlier block is not, and that block's round may include some of its shares. */
  | 'queued'
  | 'orphaned'
  /** It paid another account. */
  | 'foreign'
  /** Its coinbase has no amount that can be paid out. */
  | 'unpaid'

/** A block of the pool. */
interface FoundBlock {
  readonly share: Pick<BlockShare, 'block' | 'chain' | 'height' | 'timeMs' | 'user'>
  readonly state: PoolBlockState
  /** Null if it was not looked up. */
  readonly depth: number | null
  readonly reward: Reward | null
}

/** Amounts to pay, and the blocks that earned them. */
export interface Assessment {
  /** New journal lines, in this order. */
  readonly lines: readonly PayoutLine[]
  /** The ledger including these lines. */
  readonly ledger: PayoutLedger
  /** In the order of their shares. */
  readonly blocks: readonly FoundBlock[]
  /** Credited blocks whose chain is unsettled; nothing is paid for them now. */
  readonly held: ReadonlySet<string>
}

interface AssessOptions {
  readonly ledger: PayoutLedger
  readonly reader: Pick<ShareReader, 'shares'>
  readonly node: BlockNode
  readonly rules: PoolRules
  readonly signal: AbortSignal
  readonly onProgress?: OnProgress | undefined
  /** Time of the lines: UTC, ISO 8601. */
  readonly at: string
}

/**
 * Looks up all blocks that are not fully paid, and paid ones for as long as the share log has them. Credits new ones.
 * @throws errors of the share store and the node
 */
export async function assess(options: AssessOptions): Promise<Assessment> {
  const { ledger, reader, node, rules, signal, onProgress, at } = options
  const found = await blockShares(reader, onProgress)
  const credits = [...ledger.credits.values()].filter(({ network }) => network === rules.network)
  const logged = new Set(found.map(({ block }) => block))
  const open = credits.filter(
    (credit) => credit.isOrphaned || logged.has(credit.block) || ledger.claimsOf(credit).length > 0,
  )
  const fresh = found.filter(({ block }) => !ledger.credits.has(block))
  const standings = await standingsOf(node, [...open, ...fresh], rules.confirmations, { signal, onProgress })

  const held = new Set<string>()
  const lines: PayoutLine[] = []
  for (const credit of open) {
    const { block, isOrphaned } = credit
    const fate = standings.get(block)?.fate
    if (fate === 'waiting') held.add(block)
    if (fate === 'orphaned' && !isOrphaned) lines.push({ at, type: 'orphaned', block })
    if (fate === 'deep' && isOrphaned) lines.push({ at, type: 'restored', block })
  }
  const next = ledger.copyWith(lines)
  const states = new Map<string, Pick<FoundBlock, 'state' | 'reward'>>()
  let isQueued = false
  for (const [done, share] of fresh.entries()) {
    onProgress?.({ what: 'dividing rewards', done, total: fresh.length })
    const fate = standings.get(share.block)?.fate ?? 'waiting'
    const judged = fate === 'deep' ? await judge(share, isQueued) : ({ state: fate, reward: null } as const)
    if (fate === 'waiting' && rules.scheme === 'prop') isQueued = true
    states.set(share.block, judged)
  }
  return { lines, ledger: next, blocks: blocksOf(found, { states, standings, ledger: next }), held }

  async function judge(share: BlockShare, waits: boolean): Promise<Pick<FoundBlock, 'state' | 'reward'>> {
    const reward = await rewardOf(node, share, signal)
    if (reward === null) return { state: 'unpaid', reward }
    if (reward.account !== rules.account) return { state: 'foreign', reward }
    if (waits) return { state: 'queued', reward }
    const round = roundUpTo(positionOf(share), next.usedSpans)
    const division = await divide(reader, share, { rules, reward: reward.amount, round })
    const line = creditLine(share, division, { rules, reward: reward.amount, round, at })
    lines.push(line)
    next.add(line)
    return { state: 'credited', reward }
  }
}

const positionOf = ({ timeMs, id }: ShareEntry): Position => ({ timeMs, id })

interface DivisionInput {
  readonly rules: PoolRules
  readonly reward: bigint
  readonly round: readonly Span[]
}

async function divide(
  reader: Pick<ShareReader, 'shares'>,
  share: BlockShare,
  { rules, reward, round }: DivisionInput,
): Promise<RewardSplit> {
  const { scheme, window, fee } = rules
  if (scheme === 'solo') return divideSolo(reward, fee.value, share)
  const end = positionOf(share)
  const untilMs = share.timeMs + 1
  if (scheme === 'pplns') {
    const newest = sharesUpTo(end, reader.shares({ untilMs, newestFirst: true }))
    return await dividePplns(reward, { fee: fee.value, window: window.value }, newest)
  }
  const fromMs = round[0]?.after?.timeMs
  return await divideProp(reward, fee.value, sharesOfRound(end, round, reader.shares({ fromMs, untilMs })))
}

async function* sharesUpTo(end: Position, shares: AsyncIterable<ShareEntry>): AsyncGenerator<ShareEntry, void, void> {
  for await (const share of shares) if (comparePositions(positionOf(share), end) <= 0) yield share
}

/** The shares of the round, and always the share that found the block. */
async function* sharesOfRound(
  end: Position,
  round: readonly Span[],
  shares: AsyncIterable<ShareEntry>,
): AsyncGenerator<ShareEntry, void, void> {
  for await (const share of shares) {
    const position = positionOf(share)
    if (isInside(position, round) || comparePositions(position, end) === 0) yield share
  }
}

function creditLine(
  { block, chain, height, timeMs: foundMs, user: finder }: BlockShare,
  { fee, rest, parts }: RewardSplit,
  { rules, reward, round, at }: DivisionInput & { readonly at: string },
): CreditLine {
  const { network, account, scheme } = rules
  return {
    at,
    type: 'credit',
    network,
    account,
    block,
    chain,
    height,
    foundMs,
    finder,
    scheme,
    window: rules.window.text,
    feePercent: rules.fee.text,
    reward: coinsText(reward),
    fee: coinsText(fee),
    rest: coinsText(rest),
    parts: parts.map(({ payee, amount, shares, worth }) => {
      return { payee, amount: coinsText(amount), shares, worth: worth.toString() }
    }),
    round: [...round],
  }
}

function blocksOf(
  found: readonly BlockShare[],
  {
    states,
    standings,
    ledger,
  }: {
    readonly states: ReadonlyMap<string, Pick<FoundBlock, 'state' | 'reward'>>
    readonly standings: ReadonlyMap<string, { readonly depth: number }>
    readonly ledger: PayoutLedger
  },
): FoundBlock[] {
  return found.map((share) => {
    const { block } = share
    const depth = standings.get(block)?.depth ?? null
    const fresh = states.get(block)
    if (fresh !== undefined) return { share, depth, ...fresh }
    const credit = ledger.credits.get(block)
    return { share, depth, state: credit?.isOrphaned ? 'orphaned' : 'credited', reward: rewardOfCredit(credit) }
  })
}

function rewardOfCredit(credit: Credit | undefined): Reward | null {
  return credit === undefined ? null : { account: credit.account, amount: unitsOf(credit.reward) ?? 0n }
}

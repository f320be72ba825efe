/** Maps all refusals to an HTTP status and a text. */
import { NewcutError } from '#ground/base/errors.ts'
import { withPrefix } from '#ground/base/units.ts'
import { MAX_MADE_BLOCKS } from '#ground/schema/control.ts'
import { MAX_REQUEST_HASHES } from '../control/block-request.ts'
import { ControlError, type ControlProblem } from '../control/control-error.ts'
import { ExecutionUnavailable } from '../execution/errors.ts'
import type { PoolFull } from '../mempool/mempool.ts'
import type { InsertRefusal } from '../mempool/refusals.ts'
import type { InvalidCut } from '../rules/cut-intake.ts'
import type { NoWork, SolutionRefusal } from '../work/coordinator.ts'
import type { UnreadableCommand } from './read-all.ts'

/** A response other than success. */
export interface HttpRefusal {
  readonly status: number
  readonly message: string
}

/** Text of the 503 for a request that the node cannot answer any more. */
export const TURNED = 'the node has turned to another network (POST /devnet/reset): ask again'

/** Thrown inside a route to refuse the request. */
export class RequestRefused extends Error implements HttpRefusal {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** @returns the refusal that an error stands for, or null if it is a failure of the node */
export function refusalOf(error: unknown): HttpRefusal | null {
  if (error instanceof RequestRefused) return error
  if (error instanceof ExecutionUnavailable) return { status: 503, message: error.message }
  // The node whose network was forked.
  if (error instanceof NewcutError && error.code.startsWith('NODE_')) return { status: 502, message: error.message }
  return error instanceof ControlError ? controlRefusal(error.problem) : null
}

/** Maximum characters of an unknown chain id that a refusal repeats. */
const MAX_SHOWN_CHAIN_LENGTH = 20

export const unknownChain = (chain: string, chains: number): HttpRefusal => ({
  status: 404,
  message: `there is no chain ${chain.slice(0, MAX_SHOWN_CHAIN_LENGTH)}: chains are 0 to ${chains - 1}`,
})

export function noWorkRefusal(reason: NoWork): HttpRefusal {
  if ('unauthorized' in reason) return { status: 403, message: `Unauthorized Miner: ${reason.unauthorized}` }
  if ('full' in reason) return { status: 503, message: 'Too many work requests' }
  const { paused, chains } = reason.noOpenChain
  const why = paused.length === chains ? 'all are paused' : `all wait for paused ones (${paused.join(', ')})`
  return { status: 503, message: `No chain can be mined: ${why}` }
}

export function solutionRefusal(reason: SolutionRefusal): HttpRefusal {
  if ('malformed' in reason) return { status: 400, message: `Decoding error: ${reason.malformed}` }
  if ('unsolved' in reason) return { status: 400, message: 'Invalid solved work: Invalid POW hash' }
  return { status: 404, message: 'No associated Payload' }
}

export const cutRefusal = ({ invalid }: InvalidCut): HttpRefusal => ({
  status: 400,
  message: `Invalid cut: ${invalid}`,
})

/** Refuses transactions of a peer. */
export function insertRefusal(reason: UnreadableCommand | InsertRefusal): HttpRefusal {
  if ('full' in reason) return fullPool(reason)
  const { element, fault } = 'unread' in reason ? reason.unread : reason.invalid[0]
  return { status: 400, message: `element ${element}: ${fault}` }
}

/** Refuses commands, in the words of live nodes (PROTOCOL.md E.3). */
export function sendRefusal(reason: UnreadableCommand | InsertRefusal): HttpRefusal {
  if ('full' in reason) return fullPool(reason)
  if ('unread' in reason) {
    const { element, fault } = reason.unread
    return { status: 400, message: `reading JSON for transaction failed: element ${element}: ${fault}` }
  }
  const told = reason.invalid.map(({ element, hash, fault }) => {
    return `Transaction "${hash}" at index ${element} failed with: ${fault}`
  })
  return { status: 400, message: `One or more transactions were invalid: ${told.join(', ')}` }
}

function fullPool({ full: { transactions, bytes } }: PoolFull): HttpRefusal {
  const message = `the pool of this chain is full: at most ${transactions} transactions of ${bytes} bytes together`
  return { status: 400, message }
}

function controlRefusal(problem: ControlProblem): HttpRefusal {
  switch (problem.kind) {
    case 'unknown-chain':
      return { ...unknownChain(String(problem.chain), problem.chains), status: 400 }
    case 'too-many-blocks': {
      const message = `${problem.blocks} blocks with those on adjacent chains: at most ${MAX_MADE_BLOCKS} in one call`
      return { status: 400, message }
    }
    case 'too-many-waiting':
      return { status: 503, message: `${problem.waiting} calls of this kind wait for their turn: try again later` }
    case 'stopping':
      return { status: 503, message: 'the node is stopping' }
    case 'turned':
      return { status: 503, message: TURNED }
    case 'caller-left':
      // Nobody reads this.
      return { status: 503, message: 'the caller has left' }
    default:
      return { status: 409, message: conflictText(problem) }
  }
}

type Conflict = Exclude<
  ControlProblem,
  { readonly kind: 'unknown-chain' | 'too-many-blocks' | 'too-many-waiting' | 'stopping' | 'turned' | 'caller-left' }
>

function conflictText(problem: Conflict): string {
  switch (problem.kind) {
    case 'paused-chain-grows':
      return `chain ${problem.chain} would have to grow by ${problem.blocks}, but it is paused`
    case 'paused-chain-loses':
      return `chain ${problem.chain} would lose ${problem.blocks} blocks, but it is paused`
    case 'all-paused':
      return 'the new branch cannot outweigh the current one: all chains that may grow are paused'
    case 'outgrown':
      return `${problem.blocks} blocks do not outweigh the current branch: it grows too fast`
    case 'too-many-snapshots':
      return `there are ${problem.most} snapshots, and no more are kept: go back to one, which drops it and later ones`
    case 'unknown-snapshot':
      return `there is no snapshot ${problem.id}: each is good for one revert, which drops later ones too`
    case 'clock-only-forwards':
      return 'with proof of work the clock goes forwards only: difficulty follows block times. A revert sets it back'
    case 'needs-work':
      return 'this network has proof of work, so miners make its blocks: `pow: false` starts one without'
    case 'clock-behind-blocks':
      return (
        `the clock can go back by at most ${problem.mostMs} ms: each block must be later than its parent, ` +
        'and the newest was made then'
      )
    case 'below-genesis': {
      const { chain, height, depth } = problem
      return `chain ${chain} has height ${height}: depth ${depth} is below its first block`
    }
    case 'too-difficult': {
      const { made, chain, height } = problem
      const difficulty = withPrefix(Number(problem.difficulty ?? Number.POSITIVE_INFINITY))
      return (
        `${made} blocks were made; chain ${chain} at height ${height} has difficulty ${difficulty}, ` +
        `and one request searches ${withPrefix(MAX_REQUEST_HASHES)} hashes at most. ` +
        'Set a lower difficulty (POST /devnet/difficulty), mine with newcut mine, or start the node with `pow: false`'
      )
    }
  }
}

/** Runs code with privileges: a command of the node's owner, which the next block of its chain holds. */

import { randomUUID } from 'node:crypto'
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { blake2b256 } from '#ground/chain/blake2b.ts'
import type { Network } from '#ground/chain/network.ts'
import type { RunRequest } from '#ground/schema/control-commands.ts'
import type { Command } from '../../command/command.ts'
import { MalformedCommand } from '../../command/parts.ts'
import { readPrivileges } from '../../command/privileges.ts'
import { CommandFault, readCommand } from '../../command/read.ts'
import { type BlockMaker, headOf } from '../../control/block-maker.ts'
import type { FoundResult } from '../../ledger/ledger.ts'
import { transactionOf } from '../../mempool/transaction.ts'
import { RequestRefused } from '../refusal.ts'
import { impersonatedKeys } from './control-commands.ts'

/** Part of the result of a command. */
interface RunOutput {
  readonly gas: number
  readonly result: { readonly status: string; readonly error?: unknown }
  readonly events?: readonly unknown[]
}

/** Outcome of privileged code. */
interface PrivilegedRun extends RunOutput {
  readonly requestKey: string
  readonly height: number
  readonly hash: string
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** Nobody pays it. It puts the command before those that pay. */
const FIRST_PRICE = 1_000_000
/** Time to live in seconds: the command is in the next block, or in one after a reorganisation. */
const TTL_SECONDS = 86_400

/**
 * Puts a privileged command into a block, which it makes.
 * @returns the result, with the block that has it
 * @throws RequestRefused for code that does not parse and for an unknown chain, and ControlError
 */
export async function runPrivileged(
  maker: BlockMaker,
  request: RunRequest,
  nowMs: number,
  signal: AbortSignal,
): Promise<PrivilegedRun> {
  const { chain } = request
  const { pools, ledger } = maker.coordinator
  headOf(maker.chains.cut, chain)
  const command = commandOf(request, maker.chains.network, nowMs)
  pools.impersonation.privilege(command)
  await ledger.warm(chain, transactionOf(command))
  const full = pools.admitPrivileged(chain, command)
  if (full !== null) throw new RequestRefused(409, 'the pool of this chain is full: POST /devnet/drop empties it')
  let found: FoundResult | null = null
  try {
    await maker.make(new Map([[chain, 1]]), signal)
  } finally {
    found = ledger.result(chain, command.key)
    // A later block must not surprise the caller.
    if (found === null) pools.drop([command.key])
  }
  if (found === null) throw new RequestRefused(409, `the block of chain ${chain} did not take the command`)
  const { block, output } = found
  // A failed command has no events.
  const { result, gas, events = [] } = JSON.parse(decoder.decode(output)) as RunOutput
  return { requestKey: command.key, height: block.height, hash: block.id, gas, result, events }
}

function commandOf({ chain, code, ...request }: RunRequest, network: Network, nowMs: number): Command {
  const { data = {}, keys = [], admin = [], caps = [] } = request
  const contents = {
    networkId: network.name,
    payload: { exec: { code, data } },
    signers: impersonatedKeys(keys).map((pubKey) => ({ pubKey })),
    meta: {
      chainId: String(chain),
      sender: '',
      gasLimit: network.blockGas,
      gasPrice: FIRST_PRICE,
      ttl: TTL_SECONDS,
      creationTime: Math.floor(nowMs / 1000),
    },
    nonce: randomUUID(),
    privileged: { admin, caps, areAsked: false },
  }
  const cmd = JSON.stringify(contents)
  const hash = encodeBase64Url(blake2b256(encoder.encode(cmd)))
  const command = readCommand({ cmd, hash, sigs: contents.signers.map(() => null) })
  if (command instanceof CommandFault) throw new RequestRefused(400, command.message)
  const fault = command.payload.kind === 'exec' ? command.payload.code.fault : null
  if (fault !== null) throw new RequestRefused(400, `/code: ${fault}`)
  expectPrivileges(cmd)
  return command
}

/** @throws RequestRefused for capabilities that are none */
function expectPrivileges(cmd: string): void {
  try {
    readPrivileges(cmd)
  } catch (error) {
    if (!(error instanceof MalformedCommand)) throw error
    throw new RequestRefused(400, error.complaint.replace(/^\/privileged/, ''))
  }
}

/** Builds the commands of a simulation, as a wallet would sign them, so that they cost the same gas. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { stringifyJson } from '#ground/base/json.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { blake2b256 } from '#ground/chain/blake2b.ts'
import { developmentAccounts } from '#ground/chain/development-accounts.ts'
import type { CommandToSimulate } from '#ground/schema/control.ts'
import { impersonatedKey } from '#ground/schema/control-commands.ts'
import type { Command } from '../command/command.ts'
import { MalformedCommand } from '../command/parts.ts'
import { readPrivileges } from '../command/privileges.ts'
import { CommandFault, readCommand } from '../command/read.ts'
import { isSealed } from '../mempool/checks.ts'
import { InvalidSimulation } from './invalid-simulation.ts'

/** A command, and how it runs. */
export interface BuiltCommand {
  readonly command: Command
  /** Whether it runs without gas, with the privileges in its text. */
  readonly isPrivileged: boolean
  /** Public keys that sign too. */
  readonly keys: readonly string[]
}

/** Step of a pact to run. */
export interface StepToRun {
  readonly pactId: string
  readonly step: number
  readonly rollback: boolean
  readonly proof: string | null
}

/** Where a command runs. */
interface CommandPlace {
  /** Place in the request. */
  readonly at: string
  readonly network: string
  readonly chain: number
  /** Block time in seconds since the UNIX epoch. */
  readonly seconds: number
  /** Gas limit of a command that names none. */
  readonly gasLimit: number
  /** Keys of an account, which sign if the command names no signers. */
  readonly keysOf: (account: string) => readonly string[]
  readonly stepOf: (pact: NonNullable<CommandToSimulate['continue']>) => StepToRun
  /** Fields of the proof of an earlier command. @param at place in the request */
  readonly proofOf: (name: string, at: string) => object
}

const encoder = new TextEncoder()

/** The time to live in seconds, as wallets set it. */
const TTL_SECONDS = 28_800
const GAS_PRICE = 0.00000001
/** Stands for a signature by Ed25519, whose size costs gas. */
const UNCHECKED = { sig: '0'.repeat(128) }

/** @throws InvalidSimulation */
export function commandFrom(given: CommandToSimulate, place: CommandPlace): BuiltCommand {
  expectFields(given, place.at)
  if (given.cmd !== undefined) return completeCommand(given.cmd, given.keys ?? [], place.at)
  const isPrivileged = given.sender === undefined
  const cmd = stringifyJson(contentsOf(given, place))
  const command = readSigned(cmd, place.at, isPrivileged)
  if (isPrivileged) expectPrivileges(cmd, place.at)
  return { command, isPrivileged, keys: [] }
}

/** @throws InvalidSimulation for fields that exclude each other */
function expectFields(given: CommandToSimulate, at: string): void {
  const kinds = (['code', 'continue', 'cmd'] as const).filter((field) => given[field] !== undefined)
  if (kinds.length !== 1) {
    const got = kinds.length === 0 ? 'none of them' : kinds.join(' and ')
    throw new InvalidSimulation(`${at}: expected one of code, continue and cmd, got ${got}`)
  }
  const expectNone = (fields: readonly (keyof CommandToSimulate)[], why: string) => {
    const wrong = fields.find((field) => given[field] !== undefined)
    if (wrong !== undefined) throw new InvalidSimulation(`${at}/${wrong}: ${why}`)
  }
  if (given.cmd === undefined) expectNone(['keys'], 'it goes with cmd; signers are those of code and continue')
  else {
    const inside = ['data', 'proofs', 'sender', 'signers', 'gasLimit', 'gasPrice', 'admin', 'caps'] as const
    expectNone(inside, 'a complete command has its own')
  }
  if (given.sender === undefined) expectNone(['gasPrice'], 'nobody pays without a sender')
  else expectNone(['admin', 'caps'], 'privileges go without a sender: nobody pays for them')
}

function contentsOf(given: CommandToSimulate, place: CommandPlace): object {
  const { code, continue: pact, sender, gasLimit = place.gasLimit, gasPrice = GAS_PRICE } = given
  const data = messageDataOf(given, place)
  return {
    networkId: place.network,
    payload: pact === undefined ? { exec: { code, data } } : { cont: { ...place.stepOf(pact), data } },
    signers: signersOf(given, place),
    meta: {
      chainId: String(place.chain),
      sender: sender ?? '',
      gasLimit,
      gasPrice: sender === undefined ? 0 : gasPrice,
      ttl: TTL_SECONDS,
      creationTime: place.seconds,
    },
    nonce: `simulate ${place.at}`,
    ...(sender === undefined && { privileged: { admin: given.admin ?? [], caps: given.caps ?? [], areAsked: false } }),
  }
}

/** Message data, proofs included. @throws InvalidSimulation */
function messageDataOf({ data = {}, proofs = {} }: CommandToSimulate, { at, proofOf }: CommandPlace): object {
  const proven = Object.entries(proofs).map(([field, name]) => {
    const place = `${at}/proofs/${field}`
    if (Object.hasOwn(data, field)) throw new InvalidSimulation(`${place}: data has this field too`)
    return [field, proofOf(name, place)] as const
  })
  return proven.length === 0 ? data : { ...data, ...Object.fromEntries(proven) }
}

function signersOf({ signers, sender }: CommandToSimulate, { at, keysOf }: CommandPlace): object[] {
  if (signers === undefined) return sender === undefined ? [] : keysOf(sender).map((pubKey) => ({ pubKey }))
  return signers.map((signer, i) => {
    const { key, caps } = typeof signer === 'string' ? { key: signer, caps: undefined } : signer
    const pubKey = publicKeyOf(key, `${at}/signers/${i}`)
    return caps === undefined ? { pubKey } : { pubKey, clist: caps }
  })
}

/** Maximum characters of a wrong key that a refusal repeats. */
const MAX_SHOWN = 80

/** @throws InvalidSimulation */
function publicKeyOf(text: string, at: string): string {
  const known = developmentAccounts.find(({ account }) => account === text)
  const key = known?.publicKey ?? impersonatedKey(text)
  if (key !== null && key !== '*') return key
  const names = developmentAccounts.map(({ account }) => account)
  const expected = 'expected a public key (64 hex digits in lower case), an account k:KEY, or one such as sender00'
  throw new InvalidSimulation(
    `${at}: ${JSON.stringify(text.slice(0, MAX_SHOWN))}: ${expected}${suggestName(text, names)}`,
  )
}

/** @throws InvalidSimulation for a command that does not parse, or whose hash is another */
function completeCommand(
  given: NonNullable<CommandToSimulate['cmd']>,
  keys: readonly string[],
  at: string,
): BuiltCommand {
  if (typeof given === 'string') return { command: readSigned(given, `${at}/cmd`, false), isPrivileged: false, keys }
  const command = expectCommand(given, `${at}/cmd`)
  if (!isSealed(command)) throw new InvalidSimulation(`${at}/cmd: its hash is not that of its text`)
  return { command: addSignatures(command, given.sigs), isPrivileged: false, keys }
}

/** Reads the text of a command, with a signature of each signer. */
function readSigned(cmd: string, at: string, isPrivileged: boolean): Command {
  const command = expectCommand({ cmd, hash: encodeBase64Url(blake2b256(encoder.encode(cmd))), sigs: [] }, at)
  const fault = command.payload.kind === 'exec' ? command.payload.code.fault : null
  if (fault !== null && isPrivileged) throw new InvalidSimulation(`${at}/code: ${fault}`)
  return addSignatures(command, [])
}

/** The command with signatures where it lacks them. */
function addSignatures(command: Command, given: Command['sigs']): Command {
  const sigs = command.signers.map((_, i) => given[i] ?? UNCHECKED)
  return expectCommand({ cmd: command.cmd, hash: command.key, sigs }, '')
}

function expectCommand(given: Parameters<typeof readCommand>[0], at: string): Command {
  const command = readCommand(given)
  if (command instanceof CommandFault) throw new InvalidSimulation(`${at}: ${command.message}`)
  return command
}

/** @throws InvalidSimulation for capabilities that are none */
function expectPrivileges(cmd: string, at: string): void {
  try {
    readPrivileges(cmd)
  } catch (error) {
    if (!(error instanceof MalformedCommand)) throw error
    throw new InvalidSimulation(at + error.complaint.replace(/^\/privileged/, ''))
  }
}

/** Rules for signed commands, and for the order in which a client sends them and asks for them. */
import { createPublicKey, verify } from 'node:crypto'
import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import { isCommandHash } from '#ground/chain/command-hash.ts'
import { type CommandInRequest, commandsOf, type JsonParts } from './aims.ts'
import type { ServedNetwork } from './client-history.ts'
import { type ClientRequest, keysOf, RESULT_OPERATIONS } from './client-request.ts'
import type { ClientRule } from './http-rules.ts'

/** Maximum lifetime of a command (PROTOCOL.md E.3, check 4). */
const MAX_TTL_S = 172_800
/** Nodes take creation times up to this far in the future (PROTOCOL.md E.3, check 10). */
const MAX_AHEAD_S = 10
/** Maximum decimal places of a gas price (PROTOCOL.md E.3, check 2). */
const MAX_PLACES = 12

/** Whether the node checks this request as it checks a command of a block. */
const isChecked = ({ operation, query }: ClientRequest) => operation?.id === 'send' || query.get('preflight') === 'true'

/** A rule about each command of a request. */
function ruleOfCommands(
  name: string,
  source: string,
  fault: (command: CommandInRequest, request: ClientRequest, served: ServedNetwork) => string | null,
  concerns: (request: ClientRequest) => boolean = () => true,
): ClientRule {
  return {
    name,
    source,
    judge: (request, { served }) => {
      const commands = concerns(request) ? commandsOf(request) : []
      if (commands.length === 0) return undefined
      for (const command of commands) {
        const problem = fault(command, request, served)
        if (problem !== null) return problem
      }
      return null
    },
  }
}

const metaOf = ({ content }: CommandInRequest) => (content?.meta ?? {}) as JsonParts

export const commandRules: readonly ClientRule[] = [
  ruleOfCommands('the content of a command is JSON', 'PROTOCOL.md E.2', ({ content }) =>
    content !== undefined && (content.payload as JsonParts | undefined) !== undefined
      ? null
      : 'cmd is not JSON with a payload',
  ),
  ruleOfCommands('a command has the hash of its content', 'PROTOCOL.md E.2', ({ cmd, hash }) =>
    isCommandHash(decodeBase64Url(hash, 'hash'), Buffer.from(cmd)) ? null : `${hash} is not the hash of cmd`,
  ),
  ruleOfCommands(
    'every signer has signed the hash',
    'PROTOCOL.md E.2',
    findSignatureFault,
    (request) => isChecked(request) && request.query.get('signatureVerification') !== 'false',
  ),
  ruleOfCommands(
    'a command names the network and the chain of its path',
    'PROTOCOL.md E.3, check 7',
    ({ content }, { params }) => {
      const [network, chain] = [content?.networkId, (content?.meta as JsonParts | undefined)?.chainId]
      if (network !== params.network) return `networkId ${network}, sent to ${params.network}`
      return chain === params.chain ? null : `chainId ${chain}, sent to chain ${params.chain}`
    },
    isChecked,
  ),
  ruleOfCommands(
    'times of a command are those that nodes take',
    'PROTOCOL.md E.3, checks 4 and 10',
    findTimeFault,
    isChecked,
  ),
  ruleOfCommands(
    'gas limit and gas price are those that nodes take',
    'PROTOCOL.md E.3, checks 1 to 3',
    findGasFault,
    isChecked,
  ),
  {
    name: 'a client asks the chain that it sent the command to',
    source: 'PROTOCOL.md E.3',
    judge: (request, { sent }) => {
      if (
        request.operation === null ||
        !(RESULT_OPERATIONS.has(request.operation.id) || request.operation.id === 'spv')
      ) {
        return undefined
      }
      return keysOf(request).some((key) => sent.has(key)) ? null : undefined
    },
    // A client may search all chains for a command, as explorers do.
    atEnd: ({ sent, requestedElsewhere }) =>
      [...requestedElsewhere].map(([key, request]) => ({
        request,
        fault: `${key} was sent to chain ${sent.get(key)}, and no request went to that chain`,
      })),
  },
  {
    name: 'a command is sent to one chain only',
    source: 'PROTOCOL.md E.3, check 7',
    judge: (request, { sent }) => {
      if (request.operation?.id !== 'send') return undefined
      const wrong = keysOf(request).find((key) => (sent.get(key) ?? request.params.chain) !== request.params.chain)
      return wrong === undefined ? null : `${wrong} was sent to chain ${sent.get(wrong)} before`
    },
  },
  {
    name: 'a proof is asked for another chain',
    source: 'PROTOCOL.md E.3',
    judge: ({ operation, json, params }, { served }) => {
      if (operation?.id !== 'spv') return undefined
      const target = String((json as JsonParts | undefined)?.targetChainId)
      if (target === params.chain) return `chain ${target} is the one of the command itself`
      return /^\d+$/.test(target) && Number(target) < served.chains ? null : `there is no chain ${target}`
    },
  },
  {
    name: 'a proof goes to its chain, with the pact that it proves',
    source: 'PROTOCOL.md B.8, E.3',
    judge: (request, { proofs }) => {
      const parts = commandsOf(request).map(
        ({ content }) => ((content?.payload ?? {}) as JsonParts).cont as JsonParts | undefined,
      )
      const proven = parts.flatMap((cont) => {
        const known = typeof cont?.proof === 'string' ? proofs.get(cont.proof) : undefined
        return known === undefined ? [] : [{ known, pact: cont?.pactId }]
      })
      if (proven.length === 0) return undefined
      const wrong = proven.find(({ known, pact }) => known.target !== request.params.chain || known.key !== pact)
      return wrong === undefined ? null : `the proof is for pact ${wrong.known.key} on chain ${wrong.known.target}`
    },
  },
]

function findSignatureFault({ hash, sigs, content }: CommandInRequest): string | null {
  const signers = Array.isArray(content?.signers) ? (content.signers as readonly JsonParts[]) : []
  if (signers.length !== sigs.length) return `${signers.length} signers and ${sigs.length} signatures`
  for (const [i, { pubKey, scheme }] of signers.entries()) {
    if ((scheme ?? 'ED25519') !== 'ED25519') continue
    const sig = sigs[i]?.sig
    const isText = typeof sig === 'string' && /^[0-9a-fA-F]{128}$/.test(sig)
    if (!isText || !/^[0-9a-fA-F]{64}$/.test(String(pubKey))) return `signature ${i} is not 128 hex digits`
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: encodeBase64Url(Buffer.from(String(pubKey), 'hex')) },
      format: 'jwk',
    })
    if (!verify(null, decodeBase64Url(hash, 'hash'), key, Buffer.from(sig, 'hex'))) return `signature ${i} is wrong`
  }
  return null
}

/** @returns a whole number in any of its spellings, or NaN for another value */
const wholeOf = (value: unknown) => {
  const plain = (value as { readonly int?: unknown } | null | undefined)?.int ?? value
  return plain === null || plain === undefined ? Number.NaN : Number(String(plain))
}

function findTimeFault(command: CommandInRequest, { wallMs }: ClientRequest): string | null {
  const { ttl, creationTime } = metaOf(command)
  const [ttlS, createdS, nowS] = [wholeOf(ttl), wholeOf(creationTime), Math.floor(wallMs / 1000)]
  if (!(ttlS >= 1 && ttlS <= MAX_TTL_S)) return `ttl ${ttl}, where 1 to ${MAX_TTL_S} s are allowed`
  if (!(createdS < nowS + MAX_AHEAD_S)) return `creationTime ${creationTime} is in the future: it is ${nowS}`
  return createdS + ttlS > nowS ? null : `creationTime ${creationTime} with ttl ${ttl} is over: it is ${nowS}`
}

function findGasFault(command: CommandInRequest, _: ClientRequest, { blockGas }: ServedNetwork): string | null {
  const { gasLimit, gasPrice } = metaOf(command)
  const limit = wholeOf(gasLimit)
  if (!(limit >= 1 && limit <= blockGas)) return `gasLimit ${gasLimit}, where a block has ${blockGas}`
  const price = String((gasPrice as { readonly decimal?: unknown } | null)?.decimal ?? gasPrice)
  if (!(Number(price) >= 1e-8)) return `gasPrice ${price} is below 0.00000001`
  const [digits, exponent = '0'] = price.toLowerCase().split('e')
  const places = (digits.split('.')[1] ?? '').replace(/0+$/, '').length - Number(exponent)
  return places <= MAX_PLACES ? null : `gasPrice ${price} has ${places} decimal places`
}

/** Wraps a rule: it reports malformed hashes as faults, where it would throw FormatError. */
export function reportFormatErrors(rule: ClientRule): ClientRule {
  return {
    ...rule,
    judge: (request, history) => {
      try {
        return rule.judge(request, history)
      } catch (error) {
        if (!(error instanceof FormatError)) throw error
        return error.message
      }
    },
  }
}

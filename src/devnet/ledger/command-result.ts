/** Command results as JSON text, with keys in the order of live nodes (PROTOCOL.md E.1). */
import type { ContractError } from '#language/contracts/errors.ts'
import type { PactRun, PactState, Yield } from '#language/contracts/machine/ast.ts'
import type { EmittedEvent } from '#language/contracts/machine/environment.ts'
import type { LayerEntry } from '#language/contracts/machine/state.ts'
import { hashText } from '#language/contracts/values/hash.ts'
import type { Value } from '#language/contracts/values/value.ts'
import {
  decimalText,
  TextWriter,
  writeEach,
  writeModule,
  writeValue,
  writeValues,
} from '#language/contracts/values/wire.ts'
import type { PublicMeta } from '../command/command.ts'
import type { BlockContext } from './block-context.ts'
import { writeEntry } from './entry-text.ts'

export interface ExecutionResult {
  readonly gas: number
  readonly result: { readonly value: Value } | { readonly error: ContractError }
  readonly key: string
  /** Writes of the command; null leaves them out of the result. */
  readonly writes: Iterable<LayerEntry> | null
  readonly events: readonly EmittedEvent[]
  /** JSON text; `null` in blocks. */
  readonly metaData: string | null
  readonly pact: PactRun | null
  readonly txId: number | null
}

/** Maximum bytes that a command may print. */
export interface OutputLimits {
  /** Its whole result: value, events and continuation. */
  readonly resultBytes: number
  /** The text of all its writes. */
  readonly writtenBytes: number
}

/** Limits of live execution. All nodes of a network must have the same. */
export const OUTPUT_LIMITS: OutputLimits = { resultBytes: 2 * 1024 * 1024, writtenBytes: 16 * 1024 * 1024 }
/** For blocks of this node that earlier versions made without limits. */
export const NO_OUTPUT_LIMITS: OutputLimits = {
  resultBytes: Number.POSITIVE_INFINITY,
  writtenBytes: Number.POSITIVE_INFINITY,
}

const MAX_MESSAGE_CHARACTERS = 256

/** Prints a result. @throws EvalError `Result too large` over a limit, so call it while the command can still fail */
export function resultText(
  { gas, result, key, writes, events, metaData, pact, txId }: ExecutionResult,
  { resultBytes, writtenBytes }: OutputLimits = OUTPUT_LIMITS,
): string {
  const to = new TextWriter(resultBytes)
  to.put(`{"gas":${gas},"result":`)
  if ('value' in result) {
    to.put('{"status":"success","data":')
    writeValue(to, result.value)
    to.put('}')
  } else to.put(`{"status":"failure","error":${errorText(result.error)}}`)
  to.put(`,"reqKey":"${key}","logs":${writes === null ? 'null' : `"${logOf(writes, writtenBytes)}"`},`)
  if (events.length > 0) {
    to.put('"events":[')
    writeEach(to, events, writeEvent)
    to.put('],')
  }
  to.put(`"metaData":${metaData},"continuation":`)
  if (pact === null) to.put('null')
  else writeContinuation(to, pact)
  to.put(`,"txId":${txId}}`)
  return to.text
}

function errorText({ kind, wireMessage, within, place }: ContractError): string {
  const shown = wireMessage.slice(0, MAX_MESSAGE_CHARACTERS)
  const info = `${within ?? '<toplevel>'}:${place?.line ?? 0}`
  return `{"callStack":[],"type":"${kind}","message":${JSON.stringify(shown)},"info":${JSON.stringify(info)}}`
}

function writeEvent(to: TextWriter, { params, name, module, moduleHash }: EmittedEvent): void {
  to.put('{"params":')
  writeValues(to, params)
  to.put(',"name":')
  to.quote(name)
  to.put(',"module":')
  writeModule(to, module)
  to.put(`,"moduleHash":"${moduleHash}"}`)
}

/** Hashes all writes to tables, each as `D` table `K` key `V` row, in one text. All other writes count bytes too. */
function logOf(writes: Iterable<LayerEntry>, writtenBytes: number): string {
  const tables = new TextWriter(writtenBytes)
  const others = new TextWriter(writtenBytes)
  for (const entry of writes) {
    const isRow = entry.domain.startsWith('table:')
    const to = isRow ? tables : others
    to.put(`D${isRow ? entry.domain.slice(6) : entry.domain}K`)
    to.put(entry.key)
    to.put('V')
    writeEntry(to, entry)
  }
  return hashText(tables.text)
}

function writeContinuation(to: TextWriter, pact: PactRun): void {
  to.put('{')
  writeNested(to, pact.nested)
  writeStep(to, pact, `"stepHasRollback":${pact.fun.steps[pact.step].rollback !== null},`)
  to.put('}')
}

type PactStepResult = Pick<PactRun, 'id' | 'fun' | 'args' | 'step' | 'yielded'>

/** A nested pact does not say whether its step has a rollback: it has one if the step around has one. */
function writeNested(to: TextWriter, nested: ReadonlyMap<string, PactState>): void {
  if (nested.size === 0) return
  to.put('"nested":{')
  writeEach(to, nested.values(), (_, each) => {
    to.quote(each.id)
    to.put(':{')
    writeNested(to, each.nested)
    writeStep(to, each)
    to.put('}')
  })
  to.put('},')
}

/** @param rollback field that goes before the step, or nothing */
function writeStep(to: TextWriter, { id, fun, args, step, yielded }: PactStepResult, rollback = ''): void {
  to.put('"executed":null,"pactId":')
  to.quote(id)
  to.put(`,${rollback}"step":${step},"yield":`)
  writeYield(to, yielded)
  to.put(',"continuation":{"args":')
  writeValues(to, args)
  to.put(',"def":')
  to.quote(fun.qualified)
  to.put(`},"stepCount":${fun.steps.length}`)
}

function writeYield(to: TextWriter, yielded: Yield | null): void {
  if (yielded === null) {
    to.put('null')
    return
  }
  const { data, provenance, source } = yielded
  to.put('{"data":')
  writeValue(to, data)
  to.put(',"provenance":')
  if (provenance === null) to.put('null')
  else {
    to.put('{"targetChainId":')
    to.quote(provenance.chain)
    to.put(`,"moduleHash":"${provenance.moduleHash}"}`)
  }
  if (source !== null) {
    to.put(',"source":')
    to.quote(source)
  }
  to.put('}')
}

/** Metadata in results of /local and preflight, about the block that would be made. */
export function localMetaData(context: BlockContext, meta: PublicMeta): string {
  const { creationTime, ttl, gasLimit, chainId, gasPrice, sender } = meta
  const quoted = JSON.stringify
  const publicMeta =
    `{"creationTime":${creationTime},"ttl":${ttl},"gasLimit":${gasLimit},"chainId":${quoted(chainId)},` +
    `"gasPrice":${decimalText(gasPrice)},"sender":${quoted(sender)}}`
  const { parentTime, parentHash, height } = context
  return `{"publicMeta":${publicMeta},"blockTime":${parentTime},"prevBlockHash":"${parentHash}","blockHeight":${height}}`
}

/** Command results as JSON text, with keys in the order of live nodes (PROTOCOL.md E.1). */
import type { ContractError } from '../../contracts/errors.ts'
import type { PactRun, PactState, Yield } from '../../contracts/machine/ast.ts'
import type { EmittedEvent } from '../../contracts/machine/environment.ts'
import type { LayerEntry } from '../../contracts/machine/state.ts'
import { hashText } from '../../contracts/values/hash.ts'
import type { Value } from '../../contracts/values/value.ts'
import { decimalText, moduleText, valueToJson } from '../../contracts/values/wire.ts'
import type { PublicMeta } from '../command/command.ts'
import type { BlockContext } from './block-context.ts'
import { entryText } from './entry-text.ts'

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

const MAX_MESSAGE_CHARACTERS = 256

export function resultText({ gas, result, key, writes, events, metaData, pact, txId }: ExecutionResult): string {
  const outcome =
    'value' in result
      ? `{"status":"success","data":${valueToJson(result.value)}}`
      : `{"status":"failure","error":${errorText(result.error)}}`
  const logs = writes === null ? 'null' : `"${logOf(writes)}"`
  const told = events.length === 0 ? '' : `"events":[${events.map(eventText).join(',')}],`
  const continuation = pact === null ? 'null' : continuationText(pact)
  const rest = `"metaData":${metaData},"continuation":${continuation},"txId":${txId}`
  return `{"gas":${gas},"result":${outcome},"reqKey":"${key}","logs":${logs},${told}${rest}}`
}

function errorText({ kind, wireMessage, within, place }: ContractError): string {
  const shown = wireMessage.slice(0, MAX_MESSAGE_CHARACTERS)
  const info = `${within ?? '<toplevel>'}:${place?.line ?? 0}`
  return `{"callStack":[],"type":"${kind}","message":${JSON.stringify(shown)},"info":${JSON.stringify(info)}}`
}

function eventText({ params, name, module, moduleHash }: EmittedEvent): string {
  const texts = params.map(valueToJson).join(',')
  return `{"params":[${texts}],"name":${JSON.stringify(name)},"module":${moduleText(module)},"moduleHash":"${moduleHash}"}`
}

/** Hashes all writes to tables, each as `D` table `K` key `V` row, in one text. */
function logOf(writes: Iterable<LayerEntry>): string {
  let text = ''
  for (const entry of writes) {
    if (entry.domain.startsWith('table:')) text += `D${entry.domain.slice(6)}K${entry.key}V${entryText(entry)}`
  }
  return hashText(text)
}

function continuationText(pact: PactRun): string {
  const { id, fun, args, step, yielded, nested } = pact
  const hasRollback = fun.steps[step].rollback !== null
  return `{${nestedText(nested)}${stepText({ id, fun, args, step, yielded }, `"stepHasRollback":${hasRollback},`)}}`
}

type PactStepResult = Pick<PactRun, 'id' | 'fun' | 'args' | 'step' | 'yielded'>

/** A nested pact does not say whether its step has a rollback: it has one if the step around has one. */
function stateText({ nested, ...state }: PactState): string {
  return `{${nestedText(nested)}${stepText(state)}}`
}

function nestedText(nested: ReadonlyMap<string, PactState>): string {
  if (nested.size === 0) return ''
  return `"nested":{${[...nested.values()].map((each) => `${JSON.stringify(each.id)}:${stateText(each)}`).join(',')}},`
}

/** @param rollback field that goes before the step, or nothing */
function stepText({ id, fun, args, step, yielded }: PactStepResult, rollback = ''): string {
  const call = `{"args":${valueToJson(args)},"def":${JSON.stringify(fun.qualified)}}`
  const about = `"executed":null,"pactId":${JSON.stringify(id)},${rollback}"step":${step}`
  return `${about},"yield":${yieldText(yielded)},"continuation":${call},"stepCount":${fun.steps.length}`
}

function yieldText(yielded: Yield | null): string {
  if (yielded === null) return 'null'
  const { data, provenance, source } = yielded
  const from =
    provenance === null
      ? 'null'
      : `{"targetChainId":${JSON.stringify(provenance.chain)},"moduleHash":"${provenance.moduleHash}"}`
  const told = source === null ? '' : `,"source":${JSON.stringify(source)}`
  return `{"data":${valueToJson(data)},"provenance":${from}${told}}`
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

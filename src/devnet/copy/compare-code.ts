/** Runs the same plain code at a node and here, on the state of the same block, and compares results and gas. */
import { type ExactJson, exactJsonText, fieldsOf, type JsonFields, parseExactJson } from '#ground/base/json.ts'
import type { Header } from '#ground/chain/header.ts'
import { ContractError, evalError } from '#language/contracts/errors.ts'
import { FunctionDefinition, type Module } from '#language/contracts/machine/ast.ts'
import type { ChainCopy } from '#language/copy/chain-copy.ts'
import { CommandFault, readCommand } from '../command/read.ts'
import { contextOn } from '../ledger/block-context.ts'
import { runLocally } from '../ledger/local.ts'
import type { NetworkRules } from '../rules/network-rules.ts'

/** The parts of an answer that must be equal. */
export interface CodeOutcome {
  readonly gas: string
  readonly status: string
  /** JSON text of the value or of the error. */
  readonly result: string
  /** JSON text of the events. */
  readonly events: string
}

export interface CodeDifference {
  readonly code: string
  readonly here: CodeOutcome
  readonly there: CodeOutcome
}

export interface CodeComparison {
  readonly cases: number
  readonly equal: number
  readonly differences: readonly CodeDifference[]
  /** Modules that do not load here, and why. */
  readonly unloaded: readonly string[]
}

export interface CompareOptions {
  readonly rules: NetworkRules
  /** Maximum pieces of code that are made from the modules of the chain. */
  readonly most: number
  /** Called after each piece of code. */
  readonly onDone?: (done: number, all: number) => void
}

/** Pieces of code that run at a time. */
const CONCURRENT_CASES = 4

/**
 * Makes code from the modules of a chain: their constants, their functions without parameters, and what describes them.
 * Modules that do not load here are listed.
 */
export async function casesOf(chain: ChainCopy, most: number): Promise<{ cases: string[]; unloaded: string[] }> {
  const names = await chain.complete(() => chain.state.keys('modules'))
  const cases: string[] = []
  const unloaded: string[] = []
  for (const name of names) {
    if (cases.length >= most) break
    try {
      const module = await chain.complete(() => chain.state.get<Module>('modules', name))
      cases.push(`(at "hash" (describe-module "${name}"))`, ...(module === undefined ? [] : membersOf(module)))
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      unloaded.push(error.message)
    }
  }
  return { cases: cases.slice(0, most), unloaded }
}

function membersOf({ name, isInterface, definitions }: Module): string[] {
  return [...definitions.values()].flatMap((definition) => {
    if (definition.kind === 'defconst') return [`${name}.${definition.name}`]
    const isCallable =
      definition instanceof FunctionDefinition && definition.kind === 'defun' && definition.params.length === 0
    return isCallable && !isInterface ? [`(${name}.${definition.name})`] : []
  })
}

/** Runs these pieces of code at both. Rejects with NewcutError if the node does not answer. */
export async function compareCode(
  { chain, header }: { readonly chain: ChainCopy; readonly header: Header },
  cases: readonly string[],
  { rules, onDone }: CompareOptions,
): Promise<Omit<CodeComparison, 'unloaded'>> {
  const context = contextOn(chain.block.chain, header, rules.on(header))
  const found: (CodeDifference | null)[] = []
  let [next, done] = [0, 0]
  const worker = async () => {
    for (let i = next++; i < cases.length; i = next++) {
      const code = cases[i]
      const signed = chain.fetcher.caller.command({ exec: { data: {}, code } }, rules.network.blockGas)
      const there = outcomeOf(await chain.fetcher.caller.localAtPin(signed))
      const command = readCommand(signed)
      const here = outcomeOf(command instanceof CommandFault ? { fault: command.message } : await local(command, code))
      found[i] = JSON.stringify(here) === JSON.stringify(there) ? null : { code, here, there }
      onDone?.(++done, cases.length)
    }
  }
  const local = async (command: Exclude<ReturnType<typeof readCommand>, CommandFault>, code: string) => {
    const run = () => runLocally(chain.state, context, command, noProof)
    return fieldsOf(parseExactJson(await chain.complete(run, () => chain.hints([code]))))
  }
  await Promise.all(Array.from({ length: CONCURRENT_CASES }, worker))
  const differences = found.filter((each) => each !== null)
  return { cases: cases.length, equal: cases.length - differences.length, differences }
}

function noProof(): never {
  throw evalError('Continuation error: plain code has no proofs')
}

function outcomeOf(answer: JsonFields): CodeOutcome {
  const { status, data, error } = fieldsOf(answer.result)
  const text = (json: ExactJson | undefined) => exactJsonText(json ?? null)
  const { message = null, info = null, type = null } = fieldsOf(error)
  return {
    gas: text(answer.gas),
    status: String(status),
    result: status === 'success' ? canonicalText(data ?? null) : text({ type, message, info }),
    events: canonicalText(answer.events ?? []),
  }
}

/** JSON text with the fields of objects in order: nodes differ in theirs. */
function canonicalText(json: ExactJson): string {
  if (Array.isArray(json)) return `[${(json as readonly ExactJson[]).map(canonicalText).join(',')}]`
  const fields = Object.entries(fieldsOf(json))
  if (fields.length === 0 || json?.constructor !== Object) return exactJsonText(json)
  const parts = fields
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalText(item)}`)
  return `{${parts.join(',')}}`
}

/** Reads the texts of contracts from a node, with read-only calls. */
import { operatingError } from '#ground/base/errors.ts'
import { printable } from '#ground/base/printable.ts'
import { findSimilarName } from '#ground/base/similar-names.ts'
import type { Value } from '#language/contracts/values/value.ts'
import { type AskOptions, ask } from '../wallet/ask.ts'
import { quoteForCode } from '../wallet/capability.ts'
import type { WalletNode } from '../wallet/wallet-node.ts'
import { declarationErrors } from './errors.ts'
import type { ContractSource } from './gather.ts'

/** The list of modules and their descriptions cost gas, which a read-only call does not pay. */
const GAS_LIMIT = 1_000_000
/** Modules in one call: their texts have to fit its gas and its response. */
const BATCH = 20
/** Names in a hint. */
const MAX_NAMES = 5

/** The contracts of a chain. */
interface NodeContracts extends ContractSource {
  readonly names: ReadonlySet<string>
  /** @throws NewcutError BAD_INPUT if the chain has no module or interface of this name */
  readonly requireModule: (name: string) => void
}

/** Lists the modules of a chain. @throws the errors of `ask`, NODE_MISBEHAVED for an answer of another form */
export async function listNodeContracts(node: WalletNode, chain: number, call: AskOptions): Promise<NodeContracts> {
  const question = (code: string) => ask(node, chain, { code, gasLimit: GAS_LIMIT }, call)
  const listed = await question('(list-modules)')
  if (!Array.isArray(listed)) throw operatingError(declarationErrors.badList, { chain })
  const names = new Set(listed.filter((name) => typeof name === 'string'))
  return {
    names,
    has: (name) => names.has(name),
    requireModule: (name) => {
      if (names.has(name)) return
      const advice = adviceOn(name, [...names])
      const network = node.info.nodeVersion
      throw operatingError(declarationErrors.noModule, { chain, network, name: printable(name), advice })
    },
    texts: async (wanted) => {
      const found = new Map<string, string>()
      for (let from = 0; from < wanted.length; from += BATCH) {
        const batch = wanted.slice(from, from + BATCH)
        const answer = await question(`[${batch.map((name) => `(describe-module ${quoteForCode(name)})`).join(' ')}]`)
        batch.forEach((name, i) => {
          found.set(name, textOf(chain, name, Array.isArray(answer) ? answer[i] : undefined))
        })
      }
      return found
    },
  }
}

function textOf(chain: number, name: string, described: Value | undefined): string {
  const code = described instanceof Map ? described.get('code') : undefined
  if (typeof code === 'string') return code
  throw operatingError(declarationErrors.badDescription, { chain, name })
}

/** @returns advice on a name that no module has */
function adviceOn(name: string, names: readonly string[]): string {
  const bare = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const alike = names.filter((each) => each.toLowerCase().includes(bare)).sort()
  if (alike.length > 0) return `did you mean ${alike.slice(0, MAX_NAMES).join(', or ')}?`
  const similar = findSimilarName(name, names)
  if (similar !== null) return `did you mean ${similar}?`
  return "names have their namespace, such as free.token; --chain names another chain; newcut local '(list-modules)' lists all"
}

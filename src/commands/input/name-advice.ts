/** Nodes refuse an unknown name in code without a guess at the right one. newcut asks them for the similar names. */
import { listNodeContracts } from '#client/declarations/node-source.ts'
import type { AskOptions } from '#client/wallet/ask.ts'
import { CommandFailed } from '#client/wallet/failure.ts'
import type { WalletNode } from '#client/wallet/wallet-node.ts'
import { withHint } from '#ground/base/errors.ts'
import { findSimilarName } from '#ground/base/similar-names.ts'
import { suggestFile } from '#ground/base/user-file.ts'
import { vocabulary } from '#language/contracts/repl/vocabulary.ts'
import { outlinesOf } from '#language/contracts/syntax/outline.ts'

const NO_MEMBER = /^Module (\S+) has no such member: (\S+)$/
const NO_MODULE = /^Cannot find module: {1,2}(\S+)$/

/** Code, and the chain of a node that refused it. */
export interface RefusedCode {
  readonly code: string
  readonly client: WalletNode
  readonly chain: number
  readonly call: AskOptions
}

/** Suggests the similar name, if a command failed because of an unknown one. @returns the error itself otherwise */
export async function withNameAdvice(error: unknown, refused: RefusedCode): Promise<unknown> {
  if (!(error instanceof CommandFailed) || error.hint !== undefined) return error
  const { message } = error.error
  const [, owner = null, member = ''] = NO_MEMBER.exec(message) ?? []
  const [, name = null] = NO_MODULE.exec(message) ?? []
  if (owner === null && name === null) return error
  // The failure of the code is what counts, whatever the node answers here.
  const similar = await (name === null
    ? similarMember(owner ?? '', member, refused)
    : similarWord(name, refused)
  ).catch(() => null)
  const guess = similar === null ? suggestFileOf(refused.code) : `did you mean ${similar}?`
  return guess === '' ? error : withHint(error, guess)
}

/** A word without brackets may be the misspelled name of a file. */
function suggestFileOf(code: string): string {
  return /^[\w./\\-]+$/.test(code) ? suggestFile(code).replace('; ', '') : ''
}

/** The similar member of the module, or the same member of a module with a similar name. */
async function similarMember(owner: string, member: string, { client, chain, call }: RefusedCode) {
  const source = await listNodeContracts(client, chain, call)
  if (!source.has(owner)) {
    const similar = findSimilarName(owner, source.names)
    return similar === null ? null : `${similar}.${member}`
  }
  const text = (await source.texts([owner])).get(owner) ?? ''
  const namespace = owner.includes('.') ? owner.slice(0, owner.indexOf('.')) : null
  const names = outlinesOf(text, namespace).flatMap(membersOf)
  const similar = findSimilarName(member, names)
  return similar === null ? null : `${owner}.${similar}`
}

/** A native or a module of a similar name. */
async function similarWord(name: string, { client, chain, call }: RefusedCode): Promise<string | null> {
  const { names } = await listNodeContracts(client, chain, call)
  const natives = [...vocabulary.values()].filter(({ isOfTests }) => !isOfTests).map((word) => word.name)
  return findSimilarName(name, [...natives, ...names])
}

function membersOf(outline: ReturnType<typeof outlinesOf>[number]): string[] {
  const { functions, pacts, capabilities, schemas, tables, constants } = outline
  return [functions, pacts, capabilities, schemas, tables, constants].flat().map(({ name }) => name)
}

/** `newcut types CONTRACT...`: declares contracts for TypeScript, with the contracts that they depend on. */
import { existsSync, writeFileSync } from 'node:fs'
import { HEADER, writeDeclarations } from '#client/declarations/declare.ts'
import { type ContractSource, gather, readContract } from '#client/declarations/gather.ts'
import { listNodeContracts } from '#client/declarations/node-source.ts'
import type { Config } from '#faces/cli/config.ts'
import type { typesOptions } from '#faces/cli/options/wallet.ts'
import { outputProblem } from '#faces/cli/output-file.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { readUserText } from '#ground/base/user-file.ts'
import { type Outline, outlinesOf, UnknownNamespace } from '#language/contracts/syntax/outline.ts'
import { systemContracts } from '#language/contracts/system/system.ts'
import { fileText } from './input/code-argument.ts'
import { commandErrors } from './input/errors.ts'
import { checkChain, withNode } from './input/with-node.ts'

/** @throws NewcutError BAD_INPUT for contracts that do not exist or cannot be read, BAD_OUTPUT for the file */
export async function runTypes(
  given: readonly string[],
  config: Config<typeof typesOptions>,
  context: CommandContext,
): Promise<number> {
  if (given.length === 0) {
    throw operatingError(commandErrors.noContract)
  }
  const { out: file, chain } = config.values
  if (file !== undefined) refuseForeign(file)
  const files = given.filter(isFile)
  const names = given.filter((each) => !isFile(each))
  const own = files.flatMap(fileOutlines)
  const write = (outlines: readonly Outline[], origin: string) => finish(outlines, origin, file, context)
  // Beside files, the name of a contract of every chain needs no node either.
  const isLocal = files.length > 0 && names.every(systemSource.has)
  const asked = !isLocal || ['node', 'chain'].some((name) => config.origins.get(name) === 'flag')
  if (!asked) return write(await gather(own, names, systemSource), given.join(', '))
  return withNode(config, context, async (client, stopped) => {
    checkChain(client, chain, '--chain')
    const source = await listNodeContracts(client, chain, { signal: stopped, nowMs: context.nowMs() })
    for (const name of names) source.requireModule(name)
    const origin = [...given, `chain ${chain} of ${client.info.nodeVersion}`].join(', ')
    return write(await gather(own, names, source), origin)
  })
}

/** The contracts of every chain, for files that are read without a node. */
const systemSource: ContractSource = {
  has: (name) => systemContracts.some((each) => each.name === name),
  texts: async () => new Map(systemContracts.map(({ name, text }) => [name, text])),
}

/** `a/token.pact` is a file, and `free.token` a contract, unless there is a file or folder of this name. */
function isFile(given: string): boolean {
  return /[/\\]|\.(pact|repl)$/.test(given) || existsSync(given)
}

function fileOutlines(file: string): Outline[] {
  const text = fileText(file)
  let outlines: Outline[]
  try {
    outlines = readContract(file, () => outlinesOf(text, null))
  } catch (error) {
    if (!(error instanceof UnknownNamespace)) throw error
    throw operatingError(commandErrors.dynamicNamespace, { file, text: error.text })
  }
  if (outlines.length > 0) return outlines
  throw operatingError(commandErrors.noContractInFile, { file })
}

/** @throws NewcutError BAD_OUTPUT for a file that newcut types has not made */
function refuseForeign(file: string): void {
  if (!existsSync(file)) return
  let text: string
  try {
    text = readUserText(file)
  } catch (error) {
    throw outputError(file, error as NodeJS.ErrnoException)
  }
  if (text === '' || text.startsWith(HEADER)) return
  throw operatingError(commandErrors.foreignOutput, { file })
}

function finish(
  outlines: readonly Outline[],
  origin: string,
  file: string | undefined,
  { out }: CommandContext,
): number {
  const print = printerTo(out)
  const text = writeDeclarations(outlines, origin)
  if (file === undefined) {
    print(text.trimEnd())
    return 0
  }
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw outputError(file, error as NodeJS.ErrnoException)
  }
  print(`${file}: ${outlines.map(({ name }) => name).join(', ')}`)
  return 0
}

function outputError(file: string, cause: NodeJS.ErrnoException): NewcutError {
  const { problem, hint } = outputProblem(file, cause)
  return operatingError(commandErrors.unwritableOutput, { file, problem, advice: hint }, cause)
}

/** The file of `newcut fork --verify --report`: whoever gets it can run its differences again. */
import { writeFileSync } from 'node:fs'
import type { CodeComparison } from '#devnet/copy/compare-code.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { parseJson } from '#ground/base/json.ts'
import type { NodeRelease } from '#ground/schema/devnet-modes.ts'
import { ContractError } from '#language/contracts/errors.ts'
import { readProgram } from '#language/contracts/syntax/program.ts'
import { type Pin, pinText } from '#language/copy/pin.ts'
import type { RemoteNode } from '#language/copy/remote-node.ts'
import { fileText } from './code-argument.ts'
import { commandErrors } from './errors.ts'

/** Node, block and rules of a comparison. */
interface ReportContext {
  readonly remote: RemoteNode
  readonly pin: Pin
  readonly chain: number
  readonly release: NodeRelease
}

/** Code to compare, and the cut at which a report found its differences. */
export interface CaseFilesArgument {
  readonly cases: readonly string[]
  /** Text of the cut; null if no file is a report. */
  readonly cut: string | null
  /** Chain of the report; null if no file is one. */
  readonly chain: number | null
}

/**
 * The top-level forms of a text, each of which is plain code of its own.
 * @throws NewcutError BAD_INPUT
 */
function piecesOf(text: string, where: string): string[] {
  try {
    return readProgram(text).map(({ from, to }) => text.slice(from, to))
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    throw operatingError(commandErrors.unreadableCode, { place: where, why: error.message }, error)
  }
}

/**
 * Reads files of code, and reports of earlier comparisons.
 * @throws NewcutError BAD_INPUT
 */
export function readCodeCases(files: readonly string[]): CaseFilesArgument {
  const read = files.map((file) => reportIn(file) ?? { cases: piecesOf(fileText(file), file), cut: null, chain: null })
  const reports = read.filter(({ cut }) => cut !== null)
  if (reports.some(({ cut, chain }) => cut !== reports[0].cut || chain !== reports[0].chain)) {
    throw operatingError(commandErrors.differentReports)
  }
  const { cut = null, chain = null } = reports[0] ?? {}
  return { cases: read.flatMap(({ cases }) => cases), cut, chain }
}

/** @returns null for a file that is not a report */
function reportIn(file: string): CaseFilesArgument | null {
  if (!file.endsWith('.json')) return null
  try {
    const { pin, chain, differences } = parseJson(fileText(file)) as Record<string, unknown>
    if (Array.isArray(differences) && typeof pin === 'object' && typeof chain === 'number') {
      const cases = differences.map(({ code }: { readonly code: unknown }) => String(code))
      return { cases, cut: JSON.stringify(pin), chain }
    }
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
  }
  throw operatingError(commandErrors.notReport, { file })
}

/**
 * Writes a report. It has no address of the node, and nothing about this machine.
 * @throws NewcutError BAD_OUTPUT
 */
export async function writeReport(
  file: string,
  { version }: Pick<CommandContext, 'version'>,
  { remote, pin, chain, release }: ReportContext,
  report: CodeComparison,
): Promise<void> {
  const about = {
    newcut: version,
    node: await packageVersionOf(remote),
    again: 'newcut fork https://NODE THIS_FILE.json --verify',
    pin: JSON.parse(pinText(pin)),
    chain,
    release,
  }
  try {
    writeFileSync(file, `${JSON.stringify({ ...about, ...report }, null, 2)}\n`)
  } catch (error) {
    throw operatingError(commandErrors.unwritableReport, { file, why: describeError(error) }, error)
  }
}

/** Version of the software of a node. @returns null if the node does not report it */
async function packageVersionOf(remote: RemoteNode): Promise<string | null> {
  const { status, text } = await remote.get('/info')
  const { nodePackageVersion } = (status === 200 ? parseJson(text) : {}) as { readonly nodePackageVersion?: unknown }
  return typeof nodePackageVersion === 'string' ? nodePackageVersion : null
}

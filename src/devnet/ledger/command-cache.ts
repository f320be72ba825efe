/** Commands that were read lately: most are read when they come, and again when they are executed. */
import { type ExactJson, parseExactJson } from '../../core/json.ts'
import { Recent } from '../store/recent.ts'
import { type ContractCommand, readContractCommand } from './command.ts'

/** Commands that are kept, at least. */
const KEPT = 2048

export class CommandCache {
  /** Request key -> text and what it says. */
  readonly #read = new Recent<{ readonly cmd: string; readonly command: ContractCommand }>(KEPT)

  /** Reads `cmd`, which may have been parsed before. Throws FormatError or SyntaxError. */
  read(hash: string, cmd: string, json?: ExactJson): ContractCommand {
    const known = this.#read.get(hash)
    // Local calls may come with a hash that is another command's.
    if (known?.cmd === cmd) return known.command
    const command = readContractCommand(hash, cmd, json ?? parseExactJson(cmd))
    if (hash !== '') this.#read.set(hash, { cmd, command })
    return command
  }
}

/** Commands that were read lately: most are read when they come, and again when they are executed. */
import type { GasModel } from '../../core/gas.ts'
import { type ExactJson, parseExactJson } from '../../core/json.ts'
import type { SignedCommand } from '../command/signed-command.ts'
import { Recent } from '../store/recent.ts'
import { type ContractCommand, readContractCommand } from './command.ts'

/** Commands that are kept, at least. */
const KEPT = 2048

export class CommandCache {
  readonly #gasModel: GasModel
  /** Request key -> the command as it came and what it says. */
  readonly #read = new Recent<{ readonly signed: SignedCommand; readonly command: ContractCommand }>(KEPT)

  /** `gasModel`: what the size of a command costs. */
  constructor(gasModel: GasModel) {
    this.#gasModel = gasModel
  }

  /** Reads a command; `json`: its `cmd`, where that was parsed before. Throws FormatError or SyntaxError. */
  read(signed: SignedCommand, json?: ExactJson): ContractCommand {
    const { hash, cmd } = signed
    const known = this.#read.get(hash)
    // Local calls may come with a hash that is another command's, and each call with other signatures.
    if (known?.signed.cmd === cmd && haveSameSignatures(known.signed, signed)) return known.command
    const command = readContractCommand(signed, this.#gasModel, json ?? parseExactJson(cmd))
    if (hash !== '') this.#read.set(hash, { signed, command })
    return command
  }
}

const haveSameSignatures = ({ sigs: a }: SignedCommand, { sigs: b }: SignedCommand) =>
  a.length === b.length && a.every((each, i) => each?.sig === b[i]?.sig)

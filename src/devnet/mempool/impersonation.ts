/** Public keys whose signatures the node does not check, and the commands that are exempt for them. */
import type { Command, CommandSigner } from '../command/command.ts'
import { Exemptions, type ReadonlyExemptions } from '../store/exemptions.ts'
import { type SignatureRules, signaturesFault } from './signatures.ts'

/** Stands for every public key. */
const EVERY_KEY = '*'

/** Parts of a command on which its signatures depend. */
type SignatureParts = Pick<Command, 'sigs' | 'signers' | 'hash'>

export class Impersonation {
  readonly #keys = new Set<string>()
  /** Keys to begin with. */
  readonly #first: readonly string[]
  readonly #exemptions: Exemptions
  readonly #rules: SignatureRules | undefined
  /** Commands that passed, but are not pending yet. */
  readonly #passed = new WeakSet<SignatureParts>()

  /**
   * @param exemptions gets the commands that became pending without valid signatures; it has those of
   *   earlier runs
   * @param keys public keys to begin with, or `*`
   * @param rules default: without SLH-DSA
   */
  constructor(exemptions = new Exemptions(), keys: Iterable<string> = [], rules?: SignatureRules) {
    this.#rules = rules
    this.#exemptions = exemptions
    this.#first = [...keys]
    this.reset()
  }

  /** Public keys whose signatures are not checked, or `*`. */
  get keys(): readonly string[] {
    return [...this.#keys]
  }

  /** Begins or ends the impersonation of these keys. Ending `*` ends all. */
  set(keys: Iterable<string>, on: boolean): void {
    for (const key of keys) {
      if (on) this.#keys.add(key)
      else if (key === EVERY_KEY) this.#keys.clear()
      else this.#keys.delete(key)
    }
  }

  /** Goes back to the keys of the start. */
  reset(): void {
    this.#keys.clear()
    this.set(this.#first, true)
  }

  /** @returns what is wrong with the signatures that are checked now, in the words of live nodes, or null */
  readonly fault = (command: SignatureParts): string | null => {
    const fault = signaturesFault(command, undefined, this.#rules)
    if (fault === null || this.#keys.size === 0) return fault
    const isUnchecked = ({ pubKey }: CommandSigner) => this.#keys.has(EVERY_KEY) || this.#keys.has(pubKey)
    const remaining = signaturesFault(command, isUnchecked, this.#rules)
    if (remaining === null) this.#passed.add(command)
    return remaining
  }

  /** Notes that a command became pending, so that blocks may hold it for good. */
  noteEntry(command: Command): void {
    if (this.#passed.has(command)) this.#exemptions.exemptCommand(command.key, 'unsigned')
  }

  /** Exempts a command of the node's owner, which runs with privileges. */
  privilege(command: Command): void {
    this.#exemptions.exemptCommand(command.key, 'privileged')
  }

  /** Like `fault`, for a command that was pending before: what was exempt once needs no signatures. */
  readonly faultInBlock = (command: Command): string | null =>
    signaturesFaultUnless(this.#exemptions, this.#rules)(command)
}

/** @returns a check of signatures that passes exempt commands */
export function signaturesFaultUnless(
  exemptions: ReadonlyExemptions,
  rules: SignatureRules | undefined,
): (command: Command) => string | null {
  return (command) => (exemptions.isExempt(command.key) ? null : signaturesFault(command, undefined, rules))
}

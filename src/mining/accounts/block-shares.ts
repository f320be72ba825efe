/**
 * Shares that are blocks, until the share log has them. A block is submitted at once, while its share may still wait
 * for the log. If the process died then, the block would pay no one. Therefore a file stores each of these shares
 * before its block is submitted, and the next start adds the remaining ones to the log.
 */
import { appendFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describeError } from '#ground/base/errors.ts'
import { parsePlainJson, tryParse } from '#ground/base/json.ts'
import { makeFolders } from '#ground/base/replace-file.ts'
import { isUnfinishedLine, machineDisk, readSealedLine, sealedLine } from '#ground/base/sealed-log.ts'
import { literals } from '#ground/schema/literals.ts'
import { type Static, Type } from '#ground/schema/typebox.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import { refusedVerdicts } from './account.ts'
import type { PendingBlocks, PendingShare } from './rig-ledger.ts'

const FILE = 'block-shares.jsonl'
const NEWLINE = 0x0a
/** Maximum number of pending shares. Beyond it the oldest are dropped. */
const MAX_PENDING = 10_000

const Text = Type.String({ maxLength: 1_000 })
const Amount = Type.Number({ minimum: 0 })
/** A share with the Unix time at which it was found. */
const BlockShareLine = Type.Object({
  id: Text,
  foundMs: Amount,
  user: Text,
  worker: Text,
  agent: Text,
  address: Text,
  chain: Amount,
  height: Amount,
  difficulty: Amount,
  blockDifficulty: Amount,
  block: Text,
  refusedAs: Type.Optional(literals(refusedVerdicts)),
})

export class BlockShares implements PendingBlocks {
  /** Path of the file, or null to keep shares in memory only. */
  readonly #path: string | null
  readonly #pending = new Map<string, PendingShare>()
  readonly #onWarning: (message: string) => void
  #isFailing = false
  /** Whether the last line of the file may be incomplete. */
  #isTorn = false

  /**
   * Reads the shares that an earlier run left.
   * @param folder null keeps shares in memory only
   */
  constructor(folder: string | null, onWarning: (message: string) => void) {
    this.#onWarning = onWarning
    this.#path = folder && join(folder, FILE)
    if (folder !== null) this.#attempt(() => this.#read(folder))
  }

  /** Shares that are not in the log yet. */
  get pending(): Iterable<PendingShare> {
    return this.#pending.values()
  }

  /** Writes the share to the file before it returns. If that fails, warns and keeps it in memory. */
  add(share: PendingShare): void {
    if (this.#pending.has(share.id)) return
    this.#pending.set(share.id, share)
    const [oldest] = this.#pending.keys()
    if (this.#pending.size > MAX_PENDING) this.#pending.delete(oldest)
    this.#attempt((path) => {
      const start = this.#isTorn ? '\n' : ''
      this.#isTorn = true
      appendFileSync(path, start + sealedLine(JSON.stringify(share)), { mode: 0o600 })
      this.#isTorn = false
    })
  }

  /** Removes a share that the log has. Truncates the file after the last one. */
  remove(id: string): void {
    if (this.#pending.delete(id) && this.#pending.size === 0) this.#attempt((path) => truncateSync(path, 0))
  }

  #read(folder: string): void {
    makeFolders(folder, 0o700)
    const path = join(folder, FILE)
    const lines = linesOf(path)
    const last = lines.pop() ?? Buffer.alloc(0)
    this.#isTorn = last.length > 0
    let damaged = lines.filter((line) => line.length > 0 && !this.#take(line)).length
    // A process killed in the middle of a line had not submitted that block.
    if (this.#isTorn && !this.#take(last) && !isUnfinishedLine(last)) damaged++
    if (damaged > 0) this.#onWarning(`${path}: ${damaged} damaged lines are left out`)
  }

  #take(line: Buffer): boolean {
    const text = readSealedLine(line)
    const share: unknown = text === null ? null : tryParse(text, parsePlainJson)
    if (!validatorOf(BlockShareLine).accepts(share)) return false
    const { id, ...rest } = share as Static<typeof BlockShareLine>
    this.#pending.set(id, { id, ...rest })
    return true
  }

  #attempt(write: (path: string) => void): void {
    if (this.#path === null) return
    try {
      write(this.#path)
      this.#isFailing = false
    } catch (error) {
      const what = 'a block that is found now is paid to nobody if newcut dies before the share log has its share'
      if (!this.#isFailing) this.#onWarning(`${this.#path}: ${describeError(error)}: ${what}`)
      this.#isFailing = true
    }
  }
}

/** The lines of a file, without newlines; the last one is empty if the file ends with a newline. */
function linesOf(path: string): Buffer[] {
  const bytes = machineDisk.read(path)
  const lines: Buffer[] = []
  let from = 0
  for (let to = bytes.indexOf(NEWLINE); to >= 0; to = bytes.indexOf(NEWLINE, from)) {
    lines.push(bytes.subarray(from, to))
    from = to + 1
  }
  return [...lines, bytes.subarray(from)]
}

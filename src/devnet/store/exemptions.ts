/** Commands and blocks that are valid only because the owner of this node exempted them from a rule of live nodes. */

/**
 * The rule that an exemption lifts. `unsigned`: a signer is impersonated. `privileged`: a control request runs with
 * privileges. `prints`: the code of a block names or calls `print`.
 */
export type Exemption = 'unsigned' | 'privileged' | 'prints'

/** An exemption as records keep it: a request key, or the mark of a block. */
export type ExemptionRecord = readonly [key: string, exemption: Exemption]

/** No request key has a colon. */
const blockKey = (blockId: string) => `prints:${blockId}`

/** Exemptions, for readers. */
export type ReadonlyExemptions = Pick<
  Exemptions,
  'isExempt' | 'isPrivileged' | 'blockPrints' | 'hasPrintingBlocks' | 'size' | 'since'
>

/** The exemptions of a network. They only grow. */
export class Exemptions {
  readonly #records = new Map<string, Exemption>()

  add(records: Iterable<ExemptionRecord>): void {
    for (const [key, exemption] of records) this.#records.set(key, exemption)
  }

  exemptCommand(requestKey: string, exemption: Exclude<Exemption, 'prints'>): void {
    this.#records.set(requestKey, exemption)
  }

  /** Notes a block whose code names or calls `print`. */
  exemptBlock(blockId: string): void {
    this.#records.set(blockKey(blockId), 'prints')
  }

  /** Whether the signatures of a command are not checked. */
  isExempt(requestKey: string): boolean {
    return this.#records.has(requestKey)
  }

  isPrivileged(requestKey: string): boolean {
    return this.#records.get(requestKey) === 'privileged'
  }

  /** Whether the code of a block names or calls `print`. */
  blockPrints(blockId: string): boolean {
    return this.#records.has(blockKey(blockId))
  }

  get hasPrintingBlocks(): boolean {
    return [...this.#records.values()].includes('prints')
  }

  get size(): number {
    return this.#records.size
  }

  /** Records in the order of their addition, without the first `count`. */
  since(count: number): ExemptionRecord[] {
    return [...this.#records].slice(count)
  }
}

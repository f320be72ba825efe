/** Who may sign in this page: accounts of the node, keys that the node does not check, and keys that a person added. */
import { developmentAccounts } from '#ground/chain/development-accounts.ts'
import type { KnownAccounts } from '#ground/schema/pacts.ts'
import { keyPairOf } from './ed25519.ts'
import { FieldFault } from './field-fault.ts'
import type { PageSigner } from './signing.ts'

/** Groups of signers, in words. */
const [OF_NETWORK, UNCHECKED, ADDED] = [
  'accounts of this network',
  'keys that the node does not check',
  'keys added here',
]
/** Stands for all public keys, in the list of those that the node does not check. */
const EVERY_KEY = '*'
const SECRET_KEY = /^[0-9a-f]{64}$/i
/** A secret key followed by its public key, as some tools export them. */
const KEY_PAIR = /^[0-9a-f]{128}$/i

type PublishedAccount = KnownAccounts['accounts'][number]

export class Keyring {
  #published: readonly PublishedAccount[] = developmentAccounts
  #impersonated: readonly string[] = []
  #added: readonly PageSigner[] = []
  readonly #onChange: () => void

  /** @param onChange called when there are other signers */
  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /** Takes the accounts that the node funded. */
  publish({ accounts }: KnownAccounts): void {
    this.#published = accounts
    this.#onChange()
  }

  /** Takes the public keys whose signatures the node does not check. */
  impersonate(keys: readonly string[]): void {
    if (keys.join() === this.#impersonated.join()) return
    this.#impersonated = keys
    this.#onChange()
  }

  /** Whether the node checks no signatures at all. */
  get isUnchecked(): boolean {
    return this.#impersonated.includes(EVERY_KEY)
  }

  get signers(): readonly PageSigner[] {
    const published = this.#published.map(({ account: name, publicKey, secretKey }): PageSigner => {
      const sign = async (bytes: Uint8Array<ArrayBuffer>) => (await keyPairOf(secretKey)).sign(bytes)
      return { name, publicKey, group: OF_NETWORK, sign }
    })
    const signing = [...published, ...this.#added]
    const names = new Set(signing.map(({ name }) => name))
    const unchecked = this.#impersonated
      .filter((key) => key !== EVERY_KEY && !names.has(`k:${key}`))
      .map((key) => uncheckedSigner(key))
    return [...signing, ...unchecked]
  }

  get added(): readonly PageSigner[] {
    return this.#added
  }

  find(name: string): PageSigner | undefined {
    return this.signers.find((each) => each.name === name)
  }

  /**
   * Takes a secret key for as long as the page is open.
   * @throws FieldFault for a text that is none; no message contains the text
   */
  async add(text: string): Promise<PageSigner> {
    const secret = text.trim()
    const isPair = KEY_PAIR.test(secret)
    if (!isPair && !SECRET_KEY.test(secret)) {
      throw new FieldFault(`expected a secret Ed25519 key of 64 hex digits, not ${secret.length} characters`)
    }
    const { publicKey, sign } = await keyPairOf(secret.slice(0, 64))
    if (isPair && secret.slice(64).toLowerCase() !== publicKey) {
      throw new FieldFault('the last 64 of these 128 digits are not the public key of the first 64')
    }
    const signer: PageSigner = { name: `k:${publicKey}`, publicKey, group: ADDED, sign }
    if (this.find(signer.name)?.sign) throw new FieldFault(`the page can sign with ${signer.name} already`)
    this.#added = [...this.#added, signer]
    this.#onChange()
    return signer
  }

  forget(name: string): void {
    this.#added = this.#added.filter((each) => each.name !== name)
    this.#onChange()
  }
}

/** A signer without a signature. @param publicKey whose signatures the node does not check */
export function uncheckedSigner(publicKey: string): PageSigner {
  return { name: `k:${publicKey}`, publicKey, group: UNCHECKED, sign: null }
}

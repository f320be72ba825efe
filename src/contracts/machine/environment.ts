/** What is around the code of a command: what it may see, what it tells of itself, and what it may use. */
import { Decimal } from '../values/decimal.ts'
import { type CapabilityToken, Time, UNIT, type Value } from '../values/value.ts'

/** What the command and its block say. */
export interface Environment {
  readonly block: BlockScope
  readonly message: Message
}

/** What the commands of one block have in common. */
export interface BlockScope {
  readonly chain: BlockData
  readonly rules: LanguageRules
}

/** The place of a block in its chain. */
export interface BlockData {
  readonly chainId: string
  readonly blockHeight: bigint
  readonly blockTime: Time
  readonly prevBlockHash: string
}

/** What a command says of itself. */
export interface Message {
  /** Data of the message. */
  readonly data: Value
  /** Public key -> capabilities that its signature is limited to; none: it signs everything. */
  readonly signers: ReadonlyMap<string, readonly CapabilityToken[]>
  /** Name of a verifier -> capabilities it vouches for. */
  readonly verifiers: ReadonlyMap<string, readonly CapabilityToken[]>
  /** Request key, base64url. */
  readonly hash: string
  readonly sender: string
  readonly gasLimit: bigint
  readonly gasPrice: Decimal
}

/** What differs from use to use. */
export interface LanguageRules {
  /** Modules and keysets may be defined outside of all namespaces. */
  readonly isRootOpen: boolean
  /** Keysets need a namespace. */
  readonly areKeysetsInNamespaces: boolean
  /** Function (qualified) that decides whether a namespace may be defined; null: anybody may. */
  readonly namespacePolicy: string | null
  /** Tables may be read from outside of their module, as in plain `local` calls. */
  readonly isLocal: boolean
  /** Keys of keysets must look like keys. */
  readonly areKeysChecked: boolean
  /** Values must be of the types that are declared for them. */
  readonly areTypesChecked: boolean
  /**
   * The language is of release 5.4.1 or later: only the administrator of another module composes its capabilities.
   * False: release 5.4 of the language.
   */
  readonly isLanguage541: boolean
}

export interface EmittedEvent {
  /** Qualified name of the module. */
  readonly module: string
  readonly name: string
  readonly params: readonly Value[]
  readonly moduleHash: string
}

export interface GasMeter {
  /** Thousandths of gas used. */
  used: number
  readonly limit: number
}

/** Of code that belongs to no command and to no block: everything may be defined. */
export const emptyEnvironment: Environment = {
  block: {
    chain: { chainId: '', blockHeight: 0n, blockTime: new Time(0n), prevBlockHash: '' },
    rules: {
      isRootOpen: true,
      areKeysetsInNamespaces: false,
      namespacePolicy: null,
      isLocal: false,
      areKeysChecked: true,
      areTypesChecked: true,
      isLanguage541: true,
    },
  },
  message: {
    data: UNIT,
    signers: new Map(),
    verifiers: new Map(),
    hash: '',
    sender: '',
    gasLimit: 0n,
    gasPrice: Decimal.of(0n),
  },
}

/** Gas without a limit, for code that nobody pays for. */
export function freeGas(): GasMeter {
  return { used: 0, limit: Number.POSITIVE_INFINITY }
}

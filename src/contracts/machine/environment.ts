/** Environment of contract code: the block, the command's message, language rules, events, gas. */
import { Decimal } from '../values/decimal.ts'
import { type CapabilityToken, Time, UNIT, type Value } from '../values/value.ts'

/** The command's message and its block. */
export interface Environment {
  readonly block: BlockScope
  readonly message: Message
}

/** Data shared by all commands of a block. */
export interface BlockScope {
  readonly chain: BlockData
  readonly rules: LanguageRules
}

/** Position of a block in its chain. */
export interface BlockData {
  readonly chainId: string
  readonly blockHeight: bigint
  readonly blockTime: Time
  readonly prevBlockHash: string
}

/** Contents of a command as code sees them. */
export interface Message {
  /** `env-data`. */
  readonly data: Value
  /** Public key -> capabilities that scope its signature; an empty list signs everything. */
  readonly signers: ReadonlyMap<string, readonly CapabilityToken[]>
  /** Name of a verifier -> capabilities that it verifies. */
  readonly verifiers: ReadonlyMap<string, readonly CapabilityToken[]>
  /** Request key, base64url. */
  readonly hash: string
  readonly sender: string
  readonly gasLimit: bigint
  readonly gasPrice: Decimal
}

/** Language rules that depend on network, block height and use. */
export interface LanguageRules {
  /** Modules may be installed in the root namespace. */
  readonly isRootOpen: boolean
  /** Keysets must be in a namespace. */
  readonly areKeysetsInNamespaces: boolean
  /** Qualified name of the function that decides who may define a namespace; null allows everybody. */
  readonly namespacePolicy: string | null
  /** Code outside a module may read its tables, as in plain `local` calls. */
  readonly isLocal: boolean
  /** Keys of keysets must have a valid key format. */
  readonly areKeysChecked: boolean
  /** Declared types are checked at run time. */
  readonly areTypesChecked: boolean
  /**
   * Language release 5.4.1 or later: composing a capability of another module needs admin rights. False for release
   * 5.4.
   */
  readonly isLanguage541: boolean
  /**
   * Modules are hashed by namespace and text, as in data directories of newcut 0.9 and earlier. False for the hashes of
   * the network.
   */
  readonly areHashesOfText: boolean
  /** Sizes of modules are those of the network's test runner, which keeps longer places than a node. */
  readonly areSizesOfRunner: boolean
}

export interface EmittedEvent {
  /** Qualified name of the module. */
  readonly module: string
  readonly name: string
  readonly params: readonly Value[]
  readonly moduleHash: string
}

export interface GasMeter {
  /** Gas used, in milligas. `limit` has the same unit. */
  used: number
  readonly limit: number
}

/** Environment without command or block; all definitions are allowed. */
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
      areHashesOfText: false,
      areSizesOfRunner: false,
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

/** Unlimited gas, for code that runs free of charge. */
export function freeGas(): GasMeter {
  return { used: 0, limit: Number.POSITIVE_INFINITY }
}

/** Environment of contract code: the block, the command's message, language rules, events, gas. */
import type { TextPlace } from '../errors.ts'
import { Decimal } from '../values/decimal.ts'
import { type CapabilityToken, type ObjectValue, Time, UNIT, type Value } from '../values/value.ts'
import type { CostName } from './gas/cost-names.ts'
import type { Term } from './term.ts'

/** The command's message and its block. */
export interface Environment {
  readonly block: BlockScope
  readonly message: Message
}

/** Data shared by all commands of a block. */
export interface BlockScope {
  readonly chain: BlockData
  readonly rules: LanguageRules
  /** Verifies proofs of other chains. Undefined where there are none, as in tests and in private commands. */
  readonly spv?: SpvSupport
  /** Name of the test file that runs. The places in its modules have it, so it is part of their sizes. */
  readonly file?: string
  /** Takes what code prints. Without it, printed texts go nowhere. */
  readonly print?: PrintSink
}

/**
 * Verifies that another chain has executed a command.
 * @param type kind of the proof
 * @param proof fields of the proof
 * @returns the result of the command, or the reason for a refusal in the words of live nodes
 */
export type SpvSupport = (
  type: string,
  proof: ObjectValue,
) => { readonly value: ObjectValue } | { readonly fault: string }

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
  /** Declared types of results are checked. Nodes do not; types of arguments are always checked. */
  readonly areResultsChecked: boolean
  /** Language release 5.4 or later: pairing checks refuse points outside of the group. */
  readonly isLanguage54: boolean
  /**
   * Language release 5.4.1 or later: composing a capability of another module needs admin rights. False for release
   * 5.4.
   */
  readonly isLanguage541: boolean
  /** Keysets may have keys of SLH-DSA, and accounts may be named after them. A preview: no release has this. */
  readonly hasSlhDsa: boolean
  /**
   * Modules are hashed by namespace and text, as in data directories of newcut 0.9 and earlier. False for the hashes of
   * the network.
   */
  readonly areHashesOfText: boolean
  /** Sizes of modules are those of the network's test runner, which keeps longer places than a node. */
  readonly areSizesOfRunner: boolean
  /** Modules can be listed and described in `local` calls only. */
  readonly isHistoryLocal: boolean
  /** Capabilities emit events. */
  readonly areEventsEmitted: boolean
  /** Events carry the hash of the current version of the module, not of the version that emits. */
  readonly areEventHashesCurrent: boolean
  /** Functions of a module that called this code through a module reference run read-only. */
  readonly isReentrancyChecked: boolean
  /** Release 5.2 or later: the language grants capabilities while it asks for keysets and namespaces. */
  readonly isLanguage52: boolean
  /** Release 5.3 or later: tests of `enforce` and user guards may read tables; `pure` and `error` exist. */
  readonly isLanguage53: boolean
  /** Code may call `print`, which live networks refuse. Default: it may not. */
  readonly isPrintAllowed?: boolean
}

export interface EmittedEvent {
  /** Qualified name of the module. */
  readonly module: string
  readonly name: string
  readonly params: readonly Value[]
  readonly moduleHash: string
}

export interface GasMeter {
  /** Gas used, in milligas: the prices of the public network. `limit` has the same unit. */
  used: number
  readonly limit: number
  /**
   * Work that the prices of the network do not cover, counted in a way that no clock influences. It has the same limit
   * and a little more, so that it takes about a second for each 150,000 gas. The gas of a command does not include it. Default: none.
   */
  work?: number
  /** Notes a charge, for a log of gas. Default: none. */
  readonly note?: (charge: GasCharge) => void
}

export interface GasCharge {
  readonly milligas: number
  /** Default: a constant. */
  readonly name: CostName | undefined
  readonly place: TextPlace | null
  /** Module of the code that is charged; null at the top level. */
  readonly module: { readonly file: string | null } | null
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
      areResultsChecked: true,
      isLanguage54: true,
      isLanguage541: true,
      hasSlhDsa: false,
      areHashesOfText: false,
      isPrintAllowed: false,
      areSizesOfRunner: false,
      isHistoryLocal: false,
      areEventsEmitted: true,
      areEventHashesCurrent: false,
      isReentrancyChecked: true,
      isLanguage52: true,
      isLanguage53: true,
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

/** Name of the native. Definitions, variables and modules of this name come before it. */
export const PRINT = 'print'

/** Takes what the code of a command prints. */
export interface PrintSink {
  /**
   * @param module name of the module whose code prints; null for code at the top level
   * @param line line of the call in the text of the command, or of the one that deployed the module; it counts from 1
   */
  put(term: Term, module: string | null, line: number): void
  /** Notes that code which is being loaded names `print`. @param module its module; null for code at the top level */
  noteUse(module: string | null): void
}

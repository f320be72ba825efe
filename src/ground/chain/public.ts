/**
 * Bytes in, bytes out: reads and verifies headers, work, cuts and payloads, without a node, a clock or a file.
 *
 * | task | start with |
 * |---|---|
 * | search or check a nonce | {@link decodeWorkResponse}, {@link Work}, {@link withNonce}, {@link powHash}, {@link meets} |
 * | read and write headers | {@link Header}, {@link decodeHeader}, {@link encodeHeader}, {@link headerFromJson} |
 * | convert targets, difficulties and hashrates | {@link difficultyOf}, {@link targetOfDifficulty}, {@link formatHashrate} |
 * | know a network | {@link Network}, {@link mainnet01}, {@link development}, {@link graphAt}, {@link genesisHeader} |
 * | verify a header | {@link brokenRules}, {@link Ancestry}, {@link expectedFor} |
 * | find chains that can be extended | {@link Cut}, {@link extensionOf}, {@link extendsCut} |
 * | hash payloads, check proofs | {@link payloadHashes}, {@link decodeProof}, {@link proofRoot} |
 *
 * Hashes and works are `Uint8Array`s; targets, difficulties, weights and nonces are bigints; times are microseconds
 * since 1970. Malformed bytes and texts throw {@link FormatError}, a {@link NewcutError} with the code `BAD_FORMAT`,
 * and arguments out of range throw a `RangeError`.
 *
 * @example Search the work of the first block of chain 0.
 * ```ts
 * import { development, encodeWork, genesisHeader, levelOf, powHash, solves, withNonce } from 'newcut/core'
 *
 * const header = genesisHeader(development, 0, new Uint8Array(32))
 * let work = encodeWork({ ...header, target: 2n ** 250n })
 * for (let nonce = 0n; !solves(work); nonce++) work = withNonce(work, nonce)
 * const hash = BigInt(`0x${Buffer.from(powHash(work).toReversed()).toString('hex')}`)
 * console.log(`${work.length} bytes, ${levelOf(hash)} leading zero bits`)
 * ```
 * @module newcut/core
 */
// Public exports are listed here; code of this package imports the files directly.

export { decodeBase64Url, decodeHash, decodeHex, encodeBase64Url, encodeHex, equalBytes } from '../base/bytes.ts'
export type { Clock } from '../base/clock.ts'
export { describeError, type ErrorCode, errorCodes, FormatError, NewcutError } from '../base/errors.ts'
export { type Json, parseJson, stringifyJson } from '../base/json.ts'
export { MAX_LINE_CHARACTERS, printable } from '../base/printable.ts'
export { formatDuration, formatHashrate, withPrefix } from '../base/units.ts'
export { blockHash } from './block-hash.ts'
export type { CoinbaseGrant, CoinbaseModel, PaymentModel, RewardCall, RewardForecast } from './coinbase.ts'
export { isCommandHash } from './command-hash.ts'
export { type Cut, cutHeight, cutWeight, type Extension, extendsCut, extensionOf } from './cut.ts'
export {
  type ExpectedFields as Expected,
  effectiveWindow,
  expectedFieldsOf as expectedFor,
  startsEpoch,
} from './difficulty.ts'
export {
  brokenForkRules,
  type Condition,
  type ForkChoices,
  type ForkPhase,
  type ForkRule,
  type ForkRules,
  type ForkState,
  featureFlagsOf,
  forkChoices,
  forkPhase,
  forkStateOf,
  passesVote,
  votedForkState,
} from './fork.ts'
export type { GasModel } from './gas.ts'
export { genesisHeader, genesisParentHash } from './genesis.ts'
export { type Graph, type GraphName, graphNames, graphs, MAX_CHAINS } from './graph.ts'
export {
  decodeHeader,
  decodeWork,
  encodeHeader,
  encodeWork,
  type Header,
  type HeaderLayout,
  headerLayout,
  MAX_DEGREE,
  MAX_WORK_BYTES,
  sameParents,
  type WorkFields,
  withCreationTime,
  withNonce,
  workLayout,
} from './header.ts'
export { type HeaderNames, headerFromJson, headerToJson, type ProductWord, workToJson } from './header-json.ts'
export { knownNetwork, type NetworkCode, versionCode, versionText } from './known-networks.ts'
export type { Digest } from './merkle.ts'
export type { MerklePath, MerkleStep as Step } from './merkle-path.ts'
export { genesisHeight, graphAt, type HeaderRules, type Network, type NetworkDefinition } from './network.ts'
export { development, mainnet01, recapDevelopment, stoa, testnet04, testnet06 } from './network-data.ts'
export {
  type ConditionForm,
  definitionOf,
  type GenesisTransaction,
  type NetworkForm,
  NetworkFormError,
} from './network-form.ts'
export {
  type MinerAccount,
  minerDataJson,
  outputsHash,
  type PayloadHashes,
  payloadHash,
  payloadHashes,
  transactionsHash,
} from './payload.ts'
export { meets, powHash, solves } from './pow.ts'
export { decodeProof, encodeProof, type OutputProof, proofRoot } from './spv.ts'
export { difficultyOf, levelOf, MAX_TARGET, targetOfDifficulty, targetOfLevel } from './target.ts'
export { type Ancestry, brokenRules, type HeaderRule } from './validate.ts'
export { chainBytes, decodeWorkResponse, encodeWorkResponse, type Work, workFromBytes } from './work.ts'

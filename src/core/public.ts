/**
 * The package `newcut/core`: pure functions on bytes, for programs that read work, headers, targets and payloads.
 *
 * ```ts
 * const work = decodeWorkResponse(bytes) // the body of GET /mining/work
 * console.log(work.fields.chainId, work.fields.height, difficultyOf(work.fields.target))
 * console.log(solves(withNonce(work.bytes, 42n)))
 * ```
 *
 * @packageDocumentation
 */
// Public exports are listed here; code of this package imports the files directly.
export { blockHash } from './block-hash.ts'
export { decodeBase64Url, decodeHash, decodeHex, encodeBase64Url, encodeHex, equalBytes } from './bytes.ts'
export type { Clock } from './clock.ts'
export { isCommandHash } from './command-hash.ts'
export { type Cut, cutHeight, cutWeight, type Extension, extendsCut, extensionOf } from './cut.ts'
export { type Expected, effectiveWindow, expectedFor, startsEpoch } from './difficulty.ts'
export { describeError, type ErrorCode, errorCodes, FormatError, NewcutError } from './errors.ts'
export {
  brokenForkRules,
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
export { headerFromJson, headerToJson, type ProductWord, workToJson } from './header-json.ts'
export { type Json, parseJson, stringifyJson } from './json.ts'
export type { Digest } from './merkle.ts'
export type { MerklePath, Step } from './merkle-path.ts'
export {
  development,
  genesisHeight,
  graphAt,
  mainnet01,
  type Network,
  type RuleHeights,
  recapDevelopment,
  testnet04,
  testnet06,
  versionCode,
  versionName,
} from './network.ts'
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
export { MAX_LINE_CHARACTERS, printable } from './printable.ts'
export { decodeProof, encodeProof, type OutputProof, proofRoot } from './spv.ts'
export { difficultyOf, levelOf, MAX_TARGET, targetOfDifficulty, targetOfLevel } from './target.ts'
export { formatDuration, formatHashrate, withPrefix } from './units.ts'
export { type Ancestry, brokenRules, type HeaderRule } from './validate.ts'
export { chainBytes, decodeWorkResponse, encodeWorkResponse, type Work, workFromBytes } from './work.ts'

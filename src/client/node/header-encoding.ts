/** Encodings of headers on the wire (PROTOCOL.md B.1, B.7), and their results in calls. */
import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import type { Json } from '#ground/base/json.ts'
import { decodeHeader, type Header } from '#ground/chain/header.ts'
import { headerFromJson } from '#ground/chain/header-json.ts'
import type { NetworkCode } from '#ground/chain/known-networks.ts'
import type { HeaderObject } from '#ground/schema/bodies.ts'
import { BINARY, JSON_TYPE, OBJECT_JSON_TYPE } from '#ground/schema/operation.ts'

/** Types of a header by the name of its encoding. */
export interface HeaderEncodings {
  /** core Header: numbers as bigint, hashes as bytes. The default; uses the shortest form on the wire. */
  readonly decoded: Header
  /** The object that the node writes; integers beyond 2^53 are bigint. */
  readonly object: HeaderObject
  /** The bytes in unpadded base64url: 424 characters for a graph of degree 3. */
  readonly text: string
  /** The bytes: 210 + 36 x degree. */
  readonly binary: Uint8Array
}

/** `decoded`, `object`, `text` or `binary`. */
export type HeaderEncoding = keyof HeaderEncodings

/** Encoding in which a call returns headers; it determines the type of the result. */
export interface EncodingOption<E extends HeaderEncoding> {
  /** Default `decoded`. */
  readonly encoding?: E
}

/** Requests and reads one encoding. Reading throws FormatError. */
export interface HeaderCodec<T> {
  /** Media type of pages. */
  readonly pageType: typeof JSON_TYPE | typeof OBJECT_JSON_TYPE
  /** Accept header of the request for a single header. */
  readonly accept: string
  readonly fromText: (text: string) => T
  readonly fromBytes: (bytes: Uint8Array) => T
  /** Name and code of the node's network: objects have the name only. */
  readonly fromObject: (object: HeaderObject, network: NetworkCode | undefined) => T
  readonly toHeader: (value: T, network: NetworkCode | undefined) => Header
  /** Chain of a header, and its block hash in base64url. */
  readonly placeOf: (value: T) => { readonly chain: number; readonly hash: string }
}

// Binary is the shortest; a node that does not offer it for this endpoint sends text.
const BINARY_OR_TEXT = `${BINARY}, application/json;q=0.5`

/** Refuses a form in which no node sends this encoding. The caller adds the address of the node. */
function refuseForm(): never {
  throw new FormatError('header', 0, 'another encoding than requested')
}

function placeOf({ chainId, hash }: Header): { chain: number; hash: string } {
  return { chain: chainId, hash: encodeBase64Url(hash) }
}

const codecs: { readonly [E in HeaderEncoding]: HeaderCodec<HeaderEncodings[E]> } = {
  decoded: {
    pageType: JSON_TYPE,
    accept: BINARY_OR_TEXT,
    fromText: (text) => decodeHeader(decodeBase64Url(text, 'header')),
    fromBytes: decodeHeader,
    fromObject: (object, network) => headerFromJson(object as Json, network),
    toHeader: (header) => header,
    placeOf,
  },
  object: {
    pageType: OBJECT_JSON_TYPE,
    accept: OBJECT_JSON_TYPE,
    fromText: refuseForm,
    fromBytes: refuseForm,
    fromObject: (object) => object,
    toHeader: (object, network) => headerFromJson(object as Json, network),
    placeOf: ({ chainId, hash }) => ({ chain: chainId, hash }),
  },
  text: {
    pageType: JSON_TYPE,
    accept: 'application/json',
    fromText: (text) => text,
    fromBytes: encodeBase64Url,
    fromObject: refuseForm,
    toHeader: (text) => decodeHeader(decodeBase64Url(text, 'header')),
    placeOf: (text) => placeOf(decodeHeader(decodeBase64Url(text, 'header'))),
  },
  binary: {
    pageType: JSON_TYPE,
    accept: BINARY_OR_TEXT,
    fromText: (text) => decodeBase64Url(text, 'header'),
    fromBytes: (bytes) => bytes,
    fromObject: refuseForm,
    toHeader: (bytes) => decodeHeader(bytes),
    placeOf: (bytes) => placeOf(decodeHeader(bytes)),
  },
}

/** @returns the codec of an encoding; default `decoded` */
export function codecOf<E extends HeaderEncoding>(encoding: E | undefined): HeaderCodec<HeaderEncodings[E]> {
  return codecs[encoding ?? ('decoded' as E)]
}

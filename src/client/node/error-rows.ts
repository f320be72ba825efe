/** Texts of the node client that are not classes of errors.ts. */
import { errorRows } from '#ground/base/errors.ts'

export const nodeErrors = errorRows({
  answerTooLong: {
    code: 'NODE_MISBEHAVED',
    text: '{url}: the answer is longer than {maxBytes} bytes',
    hint: 'is that address a node at all?',
  },
  eventTooLong: {
    code: 'NODE_MISBEHAVED',
    text: 'an event of the stream is longer than {maxBytes} bytes',
    hint: 'is that address the update stream of a node?',
  },
  badArgument: {
    code: 'BAD_OPTION',
    text: '{operation}: {part} {complaint}',
    noHint: 'the complaint of the schema says what the field takes',
  },
  badChain: {
    code: 'BAD_OPTION',
    text: '{operation}: chain {chain} is not a whole number of at least 0',
    hint: 'chains count from 0: `info.nodeChains` of the client lists them',
  },
  badTimeout: {
    code: 'BAD_OPTION',
    text: '`{option}` {valueMs} is not a time from 0 to {maxMs} ms',
    hint: '0 sets no limit',
  },
  badAddress: {
    code: 'BAD_OPTION',
    text: '{address} is not the address of a node',
    hint: 'write it as http://HOST:PORT or https://HOST:PORT',
  },
  addressWithParts: {
    code: 'BAD_OPTION',
    text: '{host}: the address of a node has a user, a query or a fragment',
    hint: 'leave them out: http://HOST:PORT or https://HOST:PORT/PATH',
  },
  badBufferSize: {
    code: 'BAD_OPTION',
    text: '`mostBuffered` {size} is not a whole number of at least 1',
    hint: 'leave it out for 1,000 updates',
  },
  unequalHeights: {
    code: 'BAD_OPTION',
    text: '{heights} heights for {hashes} payload hashes',
    hint: 'pass one height for each hash, or no heights: they are hints only',
  },
  emptyPages: {
    code: 'BAD_OPTION',
    text: '{operation}: pages of limit 0 never come to an end',
    hint: 'pass a `limit` of at least 1, or read one page with page()',
  },
  fingerprintWithoutTls: {
    code: 'BAD_OPTION',
    text: '`fingerprint` needs an https:// address, not {origin}',
    hint: 'write https://, or leave the fingerprint out: plain HTTP has no certificate',
  },
  badFingerprint: {
    code: 'BAD_OPTION',
    text: '`fingerprint` is not a SHA-256: {why}',
    hint: 'openssl x509 -in CERTIFICATE -noout -fingerprint -sha256 prints it',
  },
  authoritiesWithoutTls: {
    code: 'BAD_OPTION',
    text: '`ca` needs an https:// address, not {origin}',
    hint: 'write https://, or leave the authorities out: plain HTTP has no certificate',
  },
  authoritiesInsecure: {
    code: 'BAD_OPTION',
    text: '`ca` and `insecure` exclude each other',
    hint: '`ca` checks certificates and `insecure` does not: leave one of them out',
  },
  noCertificate: {
    code: 'BAD_OPTION',
    text: '{place} has no certificate in PEM form',
    hint: 'expected -----BEGIN CERTIFICATE-----; openssl x509 -inform der -in FILE converts a DER file',
  },
  damagedCertificate: {
    code: 'BAD_OPTION',
    text: '{place}: certificate {number} is damaged: {why}',
    hint: 'get the file from its authority again; openssl x509 -in FILE -noout checks it',
  },
  noResult: {
    code: 'NO_RESULT',
    text: 'no result of {requestKey} on chain {chain} after {limit}',
    hint: 'the command may still get into a block: newcut result {requestKey} waits for it again',
  },
  noProof: {
    code: 'NO_RESULT',
    text: 'no proof of {requestKey} on chain {chain} for chain {targetChain} after {limit}',
    hint: 'the target chain has to learn of the block first: try again once its height has grown',
  },
})

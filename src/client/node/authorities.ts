/** Certificate authorities that a user trusts to sign the certificate of a node. */
import { X509Certificate } from 'node:crypto'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { nodeErrors } from './error-rows.ts'

const BEGIN = '-----BEGIN CERTIFICATE-----'

/**
 * Checks certificates in PEM form: node:tls silently ignores unusable ones, and would then trust no server.
 * @param place source of the text, for errors
 * @throws NewcutError BAD_OPTION for text without a certificate, or with a damaged one
 */
export function checkAuthorities(pem: string, place: string): void {
  const certificates = pem.split(BEGIN).slice(1)
  if (certificates.length === 0) {
    throw operatingError(nodeErrors.noCertificate, { place })
  }
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(BEGIN + certificate)
    } catch (cause) {
      throw operatingError(
        nodeErrors.damagedCertificate,
        { place, number: index + 1, why: describeError(cause) },
        cause,
      )
    }
  }
}

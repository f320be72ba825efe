/** The authorities that a user trusts to sign the certificate of a node. */
import { X509Certificate } from 'node:crypto'
import { describeError, NewcutError } from '../core/errors.ts'

const BEGIN = '-----BEGIN CERTIFICATE-----'

/**
 * Throws NewcutError BAD_OPTION for text without certificates in PEM form, or with one that cannot be read: node:tls
 * would trust nobody, and not say why. `place` says where the text is from.
 */
export function checkAuthorities(pem: string, place: string): void {
  const certificates = pem.split(BEGIN).slice(1)
  if (certificates.length === 0) {
    throw new NewcutError('BAD_OPTION', `${place}: it has no certificate in PEM form`, {
      hint: 'expected -----BEGIN CERTIFICATE-----; openssl x509 -inform der -in FILE converts a DER file',
    })
  }
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(BEGIN + certificate)
    } catch (cause) {
      throw new NewcutError('BAD_OPTION', `${place}: certificate ${index + 1} in it is damaged`, {
        hint: describeError(cause),
        cause,
      })
    }
  }
}

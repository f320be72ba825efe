/** Certificate authorities that a user trusts to sign the certificate of a node. */
import { X509Certificate } from 'node:crypto'
import { describeError, NewcutError } from '#ground/base/errors.ts'

const BEGIN = '-----BEGIN CERTIFICATE-----'

/**
 * Throws NewcutError BAD_OPTION for text without certificates in PEM form, or with an unreadable one: node:tls would
 * silently trust nobody.
 * @param place source of the text, for errors
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

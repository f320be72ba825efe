/** Errors of the check of stratum servers. `{name}` stands for what the throwing place passes. */
import { errorRows } from '#ground/base/errors.ts'

export const checkErrors = errorRows({
  badAddress: {
    code: 'BAD_OPTION',
    text: '{text}: expected HOST:PORT or stratum+tcp://HOST:PORT',
    hint: '{advice}',
  },
  badPort: {
    code: 'BAD_OPTION',
    text: '{url}: {port} is not a port from 1 to 65535',
    hint: 'such as 10.0.0.5:1917',
  },
  noConnection: {
    code: 'NODE_UNREACHABLE',
    text: '{url}: {why}',
    hint: 'is the server started, and the port open?',
  },
  noTlsConnection: {
    code: 'NODE_UNREACHABLE',
    text: '{url}: {why}',
    hint: 'does it speak TLS? stratum+tcp:// is without',
  },
})

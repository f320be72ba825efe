/** Errors of the HTTP server of a miner. */
import { errorRows } from '#ground/base/errors.ts'

/** Its type is not a literal, because the braces in it are not names of values. */
const OPTIONS_EXAMPLE: string = 'such as {"threads":2}'

export const apiErrors = errorRows({
  addressUnusable: {
    code: 'PORT_BUSY',
    text: 'cannot serve metrics on {address}: {why}',
    hint: 'choose another address with `http: HOST:PORT`, or `http: off`',
  },
  notOptions: { code: 'BAD_OPTION', text: 'expected a JSON object of options', hint: OPTIONS_EXAMPLE },
})

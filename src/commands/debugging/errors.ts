/** Errors of `newcut debug`. */
import { errorRows } from '#ground/base/errors.ts'

export const debugErrors = errorRows({
  noDebugTarget: {
    code: 'BAD_OPTION',
    text: 'debug {target}: neither a file nor a request key{guess}',
    hint: 'name a .repl file, or the 43 characters that newcut send prints',
  },
  noProgram: {
    code: 'BAD_OPTION',
    text: 'no program is given',
    hint: 'give "program", the path of a .repl file, or "requestKey" of a transaction',
  },
  noProgramFile: { code: 'BAD_OPTION', text: 'there is no file {file}', hint: 'a path is relative to "cwd"' },
})

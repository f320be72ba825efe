import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeError, errorCodes, FormatError, NewcutError } from '../src/core/errors.ts'

it('the README lists every error code', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const listed = [...readme.matchAll(/^\| `([A-Z_]+)` *\|/gm)].map(([, code]) => code)
  expect(listed.sort()).toEqual(Object.keys(errorCodes).sort())
})

it('an error is described with its causes, on one line, each once', () => {
  const root = new Error('connect ECONNREFUSED')
  const error = new NewcutError('NODE_UNREACHABLE', 'no answer\nfrom the node', {
    cause: new Error('fetch', { cause: root }),
  })
  expect(describeError(error)).toBe('no answer from the node: fetch: connect ECONNREFUSED')
  expect(describeError('plain')).toBe('plain')
})

it('a cause whose code is named already is not described again', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  const error = new NewcutError('NODE_UNREACHABLE', 'node: connection refused (ECONNREFUSED)', { cause })
  expect(describeError(error)).toBe('node: connection refused (ECONNREFUSED)')
})

it('a format error names field and offset', () => {
  const error = new FormatError('target', 158, 'too short')
  expect(error).toMatchObject({ code: 'BAD_FORMAT', field: 'target', offset: 158 })
  expect(error.message).toBe('target at offset 158: too short')
})

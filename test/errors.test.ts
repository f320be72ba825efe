import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeError, errorCodes, FormatError, NewcutError } from '../src/core/errors.ts'

it('ERRORS.md lists every error code with its meaning', () => {
  const text = readFileSync(new URL('../docs/ERRORS.md', import.meta.url), 'utf8')
  const listed = [...text.matchAll(/^\| `([A-Z_]+)` \| (.+) \|$/gm)].map(([, code, meaning]) => [code, meaning])
  expect(Object.fromEntries(listed)).toEqual(errorCodes)
})

it('describeError joins an error and its causes in one line, each once', () => {
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

it('FormatError names the field and its offset', () => {
  const error = new FormatError('target', 158, 'too short')
  expect(error).toMatchObject({ code: 'BAD_FORMAT', field: 'target', offset: 158 })
  expect(error.message).toBe('target at offset 158: too short')
})

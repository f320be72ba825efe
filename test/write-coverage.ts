/** For `npm run test:coverage`: writes the coverage of a test file's process before vitest kills it. */
import { takeCoverage } from 'node:v8'
import { afterAll } from 'vitest'

afterAll(() => takeCoverage())

/** Under `npm run test:coverage`: the process of a test file writes what it has reached before vitest kills it. */
import { takeCoverage } from 'node:v8'
import { afterAll } from 'vitest'

afterAll(() => takeCoverage())

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('.', import.meta.url))

// Tests run what ships: an import of src/, bench/ or scripts/ is answered by the compiled file in dist/, so that worker
// threads and child processes, which need real JavaScript files, run the very same code as the test.
export default defineConfig({
  resolve: {
    alias: [{ find: /^(?:\.\.\/)+(src|bench|scripts)\/(.*)\.ts$/, replacement: `${root}dist/$1/$2.js` }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Timing-sensitive tests use all cores: one test file at a time.
    fileParallelism: false,
    pool: 'forks',
  },
})

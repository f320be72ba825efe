import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { projects } from './scripts/test/parts.ts'
import { PartReporter } from './scripts/test/reporter.ts'

const root = fileURLToPath(new URL('.', import.meta.url))

// Tests run what ships: an import of src/, bench/ or scripts/ is answered by the compiled file in dist/, so that worker
// threads and child processes, which need real JavaScript files, run the very same code as the test.
export default defineConfig({
  resolve: {
    alias: [{ find: /^(?:\.\.\/)+(src|bench|scripts)\/(.*)\.ts$/, replacement: `${root}dist/$1/$2.js` }],
  },
  test: {
    // For what hangs. No test waits for time to pass, and a machine may be as slow as it likes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 600_000, interval: 20 } },
    // By itself vitest shows what it always does.
    ...(process.env.TEST_PART !== undefined && { reporters: [new PartReporter()] }),
    pool: 'forks',
    setupFiles: [
      './test/measure-cost.ts',
      ...(process.env.NODE_V8_COVERAGE === undefined ? [] : ['./test/write-coverage.ts']),
    ],
    // Node loads the compiled files itself, as users' machines do.
    server: { deps: { external: [/\/dist\//] } },
    projects: projects.map(({ name, isolate, include, exclude, workers, order }) => ({
      extends: true,
      test: {
        name,
        isolate,
        include: [...include],
        exclude: [...exclude],
        maxWorkers: workers,
        // Of several parts in one run, each has the machine to itself.
        sequence: { groupOrder: order },
      },
    })),
  },
})

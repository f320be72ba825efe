import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = fileURLToPath(new URL('.', import.meta.url))

const filesOf = (folders: readonly string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`)

/** They wait more than they work, for something that is to happen soon: nothing but another one of them runs beside them. */
const CALM = [
  ...filesOf(['attack', 'compose', 'fleet', 'mine', 'source']),
  'test/cli/pausing.test.ts',
  'test/rounds/soak.test.ts',
]

/** They measure how soon something happens, or use all cores by themselves: nothing else runs while they do. */
const QUIET = [...filesOf(['engine', 'gpu', 'sensors']), 'test/rounds/fleet.test.ts', 'test/rounds/kill.test.ts']

/** The simulation takes minutes: it begins first, so that no core waits for it at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => moduleId.endsWith('/test/sim/sim.test.ts')
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

// Tests run what ships: an import of src/, bench/ or scripts/ is answered by the compiled file in dist/, so that worker
// threads and child processes, which need real JavaScript files, run the very same code as the test.
export default defineConfig({
  resolve: {
    alias: [{ find: /^(?:\.\.\/)+(src|bench|scripts)\/(.*)\.ts$/, replacement: `${root}dist/$1/$2.js` }],
  },
  test: {
    // For what hangs. Some take 20 s on a machine that others keep busy; what has to be fast is measured by its test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Node loads the compiled files itself, as users' machines do.
    server: { deps: { external: [/\/dist\//] } },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...CALM, ...QUIET],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'calm', include: CALM, maxWorkers: 2, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: 'quiet', include: QUIET, maxWorkers: 1, sequence: { groupOrder: 2 } },
      },
    ],
  },
})

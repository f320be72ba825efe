/** Options of the CPU engine, and of `newcut solve`. */
import { availableParallelism } from 'node:os'
import { kernelPreferences } from '#mining/engine/cpu/names.ts'
import { priorities } from '#mining/engine/cpu/priority.ts'
import { oneOf, wholeNumber } from '../values.ts'
import { changeable, option } from './row.ts'

const ofThreads = { group: 'search', needs: ['ownSearch', 'threads'], ...changeable } as const

/** The default of `--threads`, which is a number of this machine. */
export const threadsDefaultText = 'one per CPU core'

export const cpuOptions = {
  kernel: option(oneOf(kernelPreferences), 'auto', 'NAME', 'CPU kernel', {
    ...ofThreads,
    more: `One of ${kernelPreferences.join(', ')}; auto picks the fastest.`,
  }),
  priority: option(oneOf(priorities), 'low', 'NAME', 'thread priority: low or normal', ofThreads),
}

/** Options of `newcut solve`. */
export const solveOptions = {
  threads: option(wholeNumber(1, 1024), availableParallelism(), 'N', 'CPU search threads', {
    group: 'search',
    defaultText: threadsDefaultText,
  }),
  ...cpuOptions,
}

/**
 * Preloaded into a process: writes the paths of all modules that its threads load to the file LOADED, and the size
 * of its young generation at the end.
 */
import { appendFileSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { getHeapSpaceStatistics } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  const file = JSON.stringify(process.env.LOADED)
  const hooks = `import { appendFileSync } from 'node:fs'
    export async function load(url, context, next) {
      appendFileSync(${file}, url + '\\n')
      return next(url, context)
    }`
  register(`data:text/javascript,${encodeURIComponent(hooks)}`)
  process.on('exit', () => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
    const { cache } = createRequire(import.meta.url)
    appendFileSync(process.env.LOADED, `${Object.keys(cache).join('\n')}\nyoung ${young.space_size}\n`)
  })
}

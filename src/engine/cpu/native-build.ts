/**
 * Compiles the native kernel at first use, into the user's cache, where the package brings none for this machine and
 * npm did not run install scripts.
 * native/build.js does it in a process of its own, so that nothing here waits for a compiler.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chooseNative, type NativeChoice } from './native-choice.ts'
import { BUILD_SCRIPT, findNative, type NativeFiles } from './native-files.ts'

/** When the compiler takes longer, mining begins with WebAssembly, and the next start uses the compiled kernel. */
const MAX_BUILD_MS = 10_000
/** Output beyond this is dropped: build.js prints one short line. */
const MAX_OUTPUT_CHARACTERS = 2000

export interface NativeBuildOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted when the kernel is no longer wanted. */
  readonly signal: AbortSignal
  /** Where to look for a kernel, and put one. */
  readonly places?: NativeFiles | undefined
  readonly limitMs?: number | undefined
}

export interface Provided {
  readonly choice: NativeChoice
  /** What people should know of it, a sentence each. */
  readonly news: readonly string[]
}

/**
 * Makes sure that there is a native kernel: the package's own, one that was compiled before, or one that is compiled
 * now. What is in the cache already is not compiled again, even if it does not work.
 */
export async function provideNativeKernel(options: NativeBuildOptions): Promise<Provided> {
  const { env, signal, places = findNative(env), limitMs = MAX_BUILD_MS } = options
  const present = chooseNative(places)
  if (present.file !== null || existsSync(places.cached)) return { choice: present, news: present.passedOver }
  const startMs = performance.now()
  const said = await build(places.cached, env, signal, limitMs)
  if (signal.aborted) return { choice: present, news: [] }
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  const { passedOver } = present
  if (said === null) {
    const late = `the native kernel is still being compiled after ${seconds} s: the next start uses it`
    return { choice: present, news: [...passedOver, late] }
  }
  if (!existsSync(places.cached)) {
    return { choice: present, news: [...passedOver, `${said || 'no native kernel'}; WebAssembly is used instead`] }
  }
  const choice = chooseNative(places)
  return { choice, news: [...choice.passedOver, `${said} in ${seconds} s, kept in ${dirname(places.cached)}`] }
}

/** What build.js prints. null when it takes too long or is no longer wanted: it then finishes in the background. */
function build(
  file: string,
  env: NativeBuildOptions['env'],
  signal: AbortSignal,
  limitMs: number,
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [fileURLToPath(BUILD_SCRIPT), file], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
      // Ctrl-C, which reaches the whole process group, must not leave half a build.
      detached: true,
      windowsHide: true,
    })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, MAX_OUTPUT_CHARACTERS)
    })
    const end = (result: string | null) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
      resolve(result)
    }
    const leave = () => {
      child.unref()
      child.stdout.destroy()
      end(null)
    }
    const timer = setTimeout(leave, limitMs)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    child.on('error', (error) => end(`no native kernel: ${error.message}`))
    child.on('close', () => end(said.trim().replace(/^newcut: /, '')))
  })
}

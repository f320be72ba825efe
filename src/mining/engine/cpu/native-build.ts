/**
 * Compiles the native kernel at first use into the user's cache, if the package has none for this machine and npm did
 * not run install scripts. The compiler runs below a process of its own, so newcut does not wait for a slow one.
 */
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { INSTALL_SCRIPT, lookUp } from '../native/part.ts'
import { chooseNative, type NativeChoice } from './native-choice.ts'
import { findNative, type NativeFiles } from './native-files.ts'

/** Timeout of the compiler. After it, mining begins with WebAssembly, and the next start uses the compiled kernel. */
const MAX_BUILD_MS = 10_000
/** Limit of the output, which is one short line. */
const MAX_OUTPUT_CHARACTERS = 2000

interface NativeBuildOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborts when the kernel is not needed any more. */
  readonly signal: AbortSignal
  /** Where to look for a kernel, and to store one. */
  readonly places?: NativeFiles | undefined
  readonly limitMs?: number | undefined
}

interface ProvidedKernel {
  readonly choice: NativeChoice
  /** Messages for people, a sentence each. */
  readonly news: readonly string[]
}

/**
 * Provides a native kernel: that of the package, one compiled earlier, or one compiled now. A kernel in the cache is
 * not compiled again, even if it does not work.
 */
export async function provideNativeKernel(options: NativeBuildOptions): Promise<ProvidedKernel> {
  const { env, signal, places = findNative(env), limitMs = MAX_BUILD_MS } = options
  const present = chooseNative(places)
  if (present.file !== null || lookUp(places.cached) !== 'absent') return { choice: present, news: present.passedOver }
  const startMs = performance.now()
  const said = await build(places.cached, env, signal, limitMs)
  if (signal.aborted) return { choice: present, news: [] }
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  const { passedOver } = present
  if (said === null) {
    const late = `the native kernel is still being compiled after ${seconds} s: the next start uses it`
    return { choice: present, news: [...passedOver, late] }
  }
  if (lookUp(places.cached) === 'absent') {
    return { choice: present, news: [...passedOver, `${said || 'no native kernel'}; WebAssembly is used instead`] }
  }
  const choice = chooseNative(places)
  return { choice, news: [...choice.passedOver, `${said} in ${seconds} s, kept in ${dirname(places.cached)}`] }
}

/**
 * Runs the compiler.
 * @returns its output, or null if it takes too long or is aborted; it then finishes in the background
 */
function build(
  file: string,
  env: NativeBuildOptions['env'],
  signal: AbortSignal,
  limitMs: number,
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [INSTALL_SCRIPT, 'kernel', file], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
      // A process group of its own: Ctrl-C, which reaches the whole group, must not interrupt a build.
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

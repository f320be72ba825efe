/** Where newcut keeps what it worked out once: tuned values of GPUs, the compiled native kernel. */
import { homedir } from 'node:os'
import { join } from 'node:path'

/** A folder of newcut's own, in the user's folder for such things. It need not exist. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): string {
  const folder =
    platform === 'win32'
      ? env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local')
      : env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(folder, 'newcut')
}

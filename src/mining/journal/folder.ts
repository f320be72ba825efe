/** Location of newcut's persistent state. */
import { homedir } from 'node:os'
import { join } from 'node:path'

/** newcut's folder in the user's state folder; it may not exist. */
export function stateFolder(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): string {
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'newcut', 'state')
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'newcut')
}

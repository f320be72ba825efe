/** Re-exports the used parts of undici. The build bundles its 110 files into one (scripts/build/bundle.js). */
export type { buildConnector as Connector, Dispatcher } from 'undici'
export { buildConnector, Client, Pool } from 'undici'

/** Re-exports the used parts of undici. The build bundles its 110 files into one (platform/bundle.js). */
export type { buildConnector as Connector, Dispatcher } from 'undici'
export { buildConnector, Client, Pool } from 'undici'

/**
 * Re-exports the used parts of undici. The build bundles them into one file (platform/bundle.js), without HTTP/2 and
 * the other parts of its 110 files.
 */
export type { buildConnector as Connector, Dispatcher } from 'undici'
export { buildConnector, Client, Pool } from 'undici'

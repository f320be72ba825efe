/** Re-exports the used parts of prom-client, which the build bundles into one file (platform/bundle.js). */
export { Counter, Gauge, Histogram, Registry } from 'prom-client'

import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { facts } from './build/facts.ts';
import { precompress } from './build/precompress.ts';

/** Where `vite` in development sends API calls. */
const API = process.env.QUOTAPLANE_API_URL ?? 'http://localhost:3000';

// The API refuses requests whose origin is not its own.
const TO_API = { target: API, changeOrigin: true, headers: { origin: API } };

export default defineConfig({
  plugins: [facts(), react(), precompress()],
  build: {
    target: 'es2022',
    // A strict Content-Security-Policy allows neither data: fonts nor inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      // A module of the contract only declares: without this the first schema that is used brings them all.
      treeshake: { moduleSideEffects: [{ test: /[\\/]libs[\\/]contracts[\\/]src[\\/]/, sideEffects: false }] },
      output: {
        codeSplitting: {
          // What every page needs, and changes only with a dependency; the rest goes with the page that needs it.
          groups: [{ name: 'vendor', test: /node_modules[\\/](react|react-dom|scheduler|@tanstack[\\/](react-router|router-core|history|react-query|query-core|react-store|store))[\\/]/ }],
        },
      },
    },
  },
  server: { proxy: { '/v1': TO_API, '/health': TO_API } },
});

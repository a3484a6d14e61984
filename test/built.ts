import { fileURLToPath } from 'node:url';

// Uses the build that users install. Sources, which every process would compile anew, start ten times slower.
// test/generate.ts rebuilds it before the first test if sources changed.

export const builtProgram = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

export const builtLibrary = new URL('../dist/index.js', import.meta.url).href;

/** Node's compile cache, shared because each test file has its own TMPDIR. */
export const compileCache = fileURLToPath(new URL('../node_modules/.cache/signalbox', import.meta.url));

import { fileURLToPath } from 'node:url';

// What users install; the sources, which every process would compile anew, take ten times as long to start. test/generate.ts
// makes it anew before the first test where the sources have changed.

/** The command line as it is shipped, to be started by Node. */
export const builtProgram = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/** The library as it is shipped, to be imported by a process that a test starts. */
export const builtLibrary = new URL('../dist/index.js', import.meta.url).href;

/** Where Node keeps compiled code from one process to the next; each test file has a TMPDIR of its own. */
export const compileCache = fileURLToPath(new URL('../node_modules/.cache/signalbox', import.meta.url));

import { builtLibrary } from '../built.ts';

const { openRuntime }: typeof import('../../src/index.ts') = await import(builtLibrary);

// Runs a pipeline or resumes a run in a process that may be killed: node runner.ts CONFIG PIPELINE|RUN
const [, , config = '', what = ''] = process.argv;
const runtime = await openRuntime(config, { log: false });
const { status } = await (what.startsWith('run_') ? runtime.runs.resume(what) : runtime.run(what, {}));
await runtime.close();
process.exitCode = status === 'completed' ? 0 : 1;

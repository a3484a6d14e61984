import { openRuntime } from '../../src/index.ts';

// Runs a pipeline in a process that may be killed: node runner.ts CONFIG PIPELINE
const [, , config = '', pipeline = ''] = process.argv;
const runtime = await openRuntime(config, { log: false });
const { status } = await runtime.run(pipeline, {});
await runtime.close();
process.exitCode = status === 'completed' ? 0 : 1;

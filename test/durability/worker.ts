/**
 * Works on the one run of a pipeline until it ends or waits: starts it if the store has none, else resumes it.
 * Usage: worker.ts RUNTIME.yaml PIPELINE.yaml. Prints `ready` before it begins, `event` whenever something
 * happens, and the run's document at the end.
 */
import { builtLibrary } from '../built.ts';

const { openRuntime, stringifyJson }: typeof import('../../src/index.ts') = await import(builtLibrary);

const [config = '', pipeline = ''] = process.argv.slice(2);
const onEvent = () => process.stdout.write('event\n');
const runtime = await openRuntime(config, { log: false, onEvent });
const [known] = await runtime.runs.list();
process.stdout.write('ready\n');
const document = known === undefined ? await runtime.run(pipeline) : await runtime.runs.resume(known.run_id);
process.stdout.write(`${stringifyJson(document)}\n`);
await runtime.close();

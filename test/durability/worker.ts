/**
 * Starts or resumes the only run of a pipeline, and works until it ends or waits. Usage: worker.ts RUNTIME.yaml
 * PIPELINE.yaml. Prints `ready`, `event` for each event, then the run's document.
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

/**
 * Continues a run: retries it if it failed, else resumes it. Usage: retry-worker.ts RUNTIME.yaml RUN. Prints `event`
 * for each event, then the run's document.
 */
import { builtLibrary } from '../built.ts';

const { openRuntime, stringifyJson }: typeof import('../../src/index.ts') = await import(builtLibrary);

const [config = '', id = ''] = process.argv.slice(2);
const onEvent = () => process.stdout.write('event\n');
const runtime = await openRuntime(config, { log: false, onEvent });
const { status } = await runtime.runs.show(id);
const document = status === 'failed' ? await runtime.runs.retry(id) : await runtime.runs.resume(id);
process.stdout.write(`${stringifyJson(document)}\n`);
await runtime.close();

// A process that makes one call on a runtime: actor.ts CONFIG METHOD ARGUMENT…, each argument as JSON or as @FILE. Prints
// the ID of a started call as soon as it is stored, then the outcome or the code of the error.
import { readFileSync } from 'node:fs';
import { openRuntime } from '../../src/index.ts';

const [, , file = '', method = '', ...given] = process.argv;
const args = given.map((text) =>
  JSON.parse(text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text),
);
const runtime = await openRuntime(file, { log: false });
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

try {
  if (method === 'start') {
    const { id, done } = runtime.tools.start(args[0], args[1], args[2]);
    print(await id);
    print(await done);
  } else if (method === 'call') print(await runtime.tools.call(args[0], args[1], args[2]));
  else if (method === 'outcome') print(await runtime.tools.outcome(args[0], args[1]));
  else print(await runtime.pending.outcome(args[0], args[1]));
} catch (error) {
  print({ thrown: error instanceof Error && 'code' in error ? error.code : error });
}
await runtime.close();

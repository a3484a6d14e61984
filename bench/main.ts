import { benchJson } from './json.ts';
import { benchOneshot } from './oneshot.ts';
import { benchPii } from './pii.ts';
import { benchServer } from './server.ts';
import { benchSuite } from './suite.ts';

const benches: Readonly<Record<string, () => Promise<string>>> = {
  oneshot: benchOneshot,
  server: benchServer,
  suite: benchSuite,
  pii: benchPii,
  json: benchJson,
};

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(name in benches));
if (unknown !== undefined) {
  process.stderr.write(`there is no bench "${unknown}"; there are ${Object.keys(benches).join(', ')}\n`);
  process.exitCode = 2;
} else {
  for (const name of asked.length === 0 ? Object.keys(benches) : asked) {
    process.stdout.write(`${await benches[name]?.()}\n\n`);
  }
}

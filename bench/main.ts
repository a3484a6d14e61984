import { benchGsm8k } from './gsm8k.ts';
import { benchOneshot } from './oneshot.ts';
import { benchPii } from './pii.ts';
import { benchServer } from './server.ts';

const benches: Readonly<Record<string, () => Promise<string>>> = {
  oneshot: benchOneshot,
  server: benchServer,
  gsm8k: benchGsm8k,
  pii: benchPii,
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

import { Json } from '../../src/base/json/json.ts';
import { requireConfig } from '../../src/config/load.ts';
import type { DecisionMade } from '../../src/contract/event.ts';
import { openShadowRecorder } from '../../src/runtime/shadow-recorder.ts';
import { openResultStore } from '../../src/store/open-result-store.ts';

// Has a shadow decide COUNT times in a separate process: `node shadow-writer.ts CONFIG SHADOW PREFIX COUNT`.

const [file = '', hook = '', prefix = '', count = ''] = process.argv.slice(2);
const config = requireConfig(file, '');
const store = await openResultStore(config.stateStore);
const book = openShadowRecorder(
  config,
  async () => store,
  (event) => {
    throw new Error(JSON.stringify(event));
  },
);
const decision: Omit<DecisionMade, 'call'> = {
  type: 'decision',
  hook,
  dialect: 'promptkit',
  kind: 'tool',
  phase: 'before_execution',
  mode: 'shadow',
  verdict: 'allow',
  reason: '',
  metadata: new Json('{}'),
  durationMs: 1,
  queueMs: 0,
};
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.pause();
for (let index = 0; index < Number(count); index++) {
  book.listen({ ...decision, call: `${prefix}-${index}` });
  await new Promise((resolve) => setImmediate(resolve));
}
await book.close();
await store.close();

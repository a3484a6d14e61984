import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openKeys } from '../../../src/runtime/gateway/keys.ts';
import { canary } from '../../canary.ts';
import { openaiProvider, openTestGateway } from '../open-gateway.ts';
import { answerJson, chatAnswer, startUpstream } from '../upstream-server.ts';

const path = '/v1/chat/completions';
const deny = (word: string) =>
  `#!/bin/sh\nif grep -q ${word}; then echo '{"allow": false, "reason": "no ${word}"}'; else echo '{"allow": true}'; fi\n`;

test('a key uses only the hooks of its set and only its models, whatever a request contains', async () => {
  await using upstream = await startUpstream(answerJson(chatAnswer('hi')));
  const spec = `
providers: [${openaiProvider(upstream.url)}]
hooks:
  one: {command: ./one.sh, hook: provider}
  two: {command: ./two.sh, hook: provider}
gateway:
  models: {m: {provider: main}, elsewhere: {provider: main}}
  hooks: {first: [one]}
  keys: {required: true}
`;
  await using opened = await openTestGateway(spec, { 'one.sh': deny('apple'), 'two.sh': deny('pear') });
  const keys = await openKeys(join(opened.folder, 'runtime.yaml'));
  const limited = await keys.create({ name: 'limited', hooks: 'first' });
  const whole = await keys.create({ name: 'whole' });
  const other = await keys.create({ name: 'other', models: ['elsewhere'] });
  await keys.close();
  const ask = async (key: string | undefined, content: string, more: object = {}) => {
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const body = { model: 'm', messages: [{ role: 'user', content }], ...more };
    return (await opened.post(path, body, headers)).status;
  };
  expect([
    await ask(limited.key, 'apple'),
    await ask(limited.key, 'pear'),
    await ask(whole.key, 'apple'),
    await ask(whole.key, 'pear', { hooks: [], metadata: { hooks: 'first' } }),
    await ask(other.key, 'plum'),
    await ask(undefined, 'plum'),
    await ask('sbx_wrong', 'plum'),
  ]).toEqual([400, 200, 400, 400, 403, 401, 401]);
  const [seen] = upstream.seen;
  expect([upstream.seen.length, seen?.headers.authorization]).toEqual([1, `Bearer ${canary}`]);
});

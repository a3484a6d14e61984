import { expect, test } from 'vitest';
import { serve } from './serving.ts';

test('without a key, the address has a token, which is the user of this machine', async () => {
  const { ask, folder } = await serve('decisions: {content: true}');
  expect(await ask('GET /me')).toMatchObject({
    status: 200,
    body: {
      id: 'local',
      name: 'ada',
      sections: ['inbox', 'runs', 'evals', 'guard'],
      runtime: { name: 'desk', config: `${folder}/runtime.yaml` },
      version: '1.2.3',
      records: { decisions: true, content: true, audit: false },
    },
  });
});

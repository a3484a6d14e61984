import { describe, expect, test } from 'vitest';
import { scenarios } from './scenarios.ts';

describe.each(scenarios)('$title', ({ client, play }) => {
  test.skipIf(client.program === '')('offline, with a scripted model', async () => {
    await expect(play(() => {})).resolves.toBeUndefined();
  });
});

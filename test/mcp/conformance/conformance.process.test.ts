import { expect, test } from 'vitest';
import { revisions, runConformance } from './main.ts';

test.each(revisions)('the conformance suite of %s fails in exactly the expected checks', async (revision) => {
  const { code, output } = await runConformance(revision);
  const summary = output.slice(output.indexOf('=== SUMMARY ==='));
  expect({ code, summary }).toMatchObject({ code: 0, summary: expect.stringContaining('✓ tools-list: ') });
});

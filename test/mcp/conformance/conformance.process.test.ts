import { expect, test } from 'vitest';
import { revisions, runBehindProxy, runClientConformance, runConformance } from './main.ts';

test.each(revisions)('the conformance suite of %s fails in exactly the expected checks', async (revision) => {
  const { code, output } = await runConformance(revision);
  const summary = output.slice(output.indexOf('=== SUMMARY ==='));
  expect({ code, summary }).toMatchObject({ code: 0, summary: expect.stringContaining('✓ tools-list: ') });
});

/** The suite does not compare the scenarios of an extension with the expected failures. */
const tasks = `
✗ tasks-lifecycle: 8 passed, 1 failed
✓ tasks-capability-negotiation: 5 passed, 0 failed
✓ tasks-wire-fields: 4 passed, 0 failed
✓ tasks-request-state-removal: 3 passed, 0 failed
✗ tasks-mrtr-input: 2 passed, 2 failed
✓ tasks-request-headers: 5 passed, 0 failed
✓ tasks-dispatch-and-envelope: 9 passed, 0 failed
✓ tasks-status-notifications: 0 passed, 0 failed
✓ tasks-required-task-error: 3 passed, 0 failed
✗ tasks-mrtr-composition: 1 passed, 1 failed
`;

test('the scenarios of tasks pass, except for what no tool of a config does', async () => {
  const { output } = await runConformance('2026-07-28');
  const lines = output.split('\n').filter((line) => /^. tasks-[\w-]+: \d+ passed/.test(line));
  expect(lines).toEqual(tasks.trim().split('\n'));
});

const required = { '2026-07-28': 37, '2025-11-25': 30 } as const;

test.each(revisions)(
  'a server that passes the suite of %s gives the same lines behind the proxy',
  async (revision) => {
    const { direct, proxied } = await runBehindProxy(revision);
    expect(proxied).toEqual(direct);
    const passed = proxied.slice(0, required[revision]).filter((line) => line.startsWith('✓'));
    expect(passed).toHaveLength(required[revision]);
  },
);

test.each(revisions)(
  'upstreams pass the scenarios of clients of %s',
  { timeout: 300_000 },
  async (revision) => {
    const lines = await runClientConformance(revision);
    const failed = lines
      .filter((line) => !line.startsWith('✓'))
      .map((line) => line.split(/[ :]/)[1])
      // It measures how long the client waits, which a busy machine changes; test/upstreams/http.test.ts has the rest.
      .filter((scenario) => scenario !== 'sse-retry');
    expect({ failed, count: lines.length }).toEqual({
      failed: [],
      count: revision === '2026-07-28' ? 35 : 18,
    });
  },
);

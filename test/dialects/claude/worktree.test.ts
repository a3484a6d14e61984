import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { left, posted, readAt, sayAt, specific } from './handler.ts';

test.each([
  ['/w/a.b', 'respond {"path":"/w/a.b"}'],
  ['/w/..b/a..', 'respond {"path":"/w/..b/a.."}'],
  ['  /w/a \n \n', 'respond {"path":"/w/a"}'],
  ['/w/a\n\u001b[0m\n', 'respond {"path":"/w/a"}'],
  ['made:\n  /w/a  \n', 'respond {"path":"/w/a"}'],
  ['/w/a\n \u001b[0m', 'respond {"path":"/w/a"}'],
  ['../a', 'respond {"path":"../a"}'],
  ['/w/./a', 'deny "its path has \\".\\" or \\"..\\": /w/./a"'],
  ['/w/..', 'deny "its path has \\".\\" or \\"..\\": /w/.."'],
  [' \n', 'deny "it named no path"'],
  ['\u001b[0m', 'deny "it named no path"'],
  ['{"a":1} is made\n/w/a', 'respond {"path":"/w/a"}'],
  ['{made}', 'deny "it named no path"'],
  ['{}', 'deny "it named no path"'],
  ['{"continue":false,"stopReason":"enough"}', 'abort "enough"'],
  ['{"continue":true}', 'deny "it named no path"'],
  [specific('WorktreeCreate', { worktreePath: '/w/a' }), 'respond {"path":"/w/a"}'],
])('the handler of a worktree answers %j: %s [CC-7-15]', (says, means) => {
  expect(sayAt('WorktreeCreate', left(says))).toBe(means);
});

test('a worktree hook that ends the turn ends no session [CC-7-15]', () => {
  const { output } = readAt('WorktreeCreate', left('{"continue":false}'));
  expect(output).toMatchObject({ verdict: 'abort', scope: 'turn' });
});

test.each([
  ['', 'deny "it exited with code 3"'],
  [' \n', 'deny "it exited with code 3"'],
  [' no room\n', 'deny "no room"'],
])('a worktree fails on another exit code, with stderr %j: %s [CC-7-15]', (stderr, means) => {
  expect(sayAt('WorktreeCreate', left('/w/a', { exitCode: 3, stderr }))).toBe(means);
});

test('an answer that breaks the schema, a text over HTTP and a fault name no path [CC-7-15]', () => {
  const nameless = '{"hookSpecificOutput":{"worktreePath":"/w/a"}}';
  const late = new RuntimeError('PROCESS_TIMEOUT', 'late');
  const said = [left(nameless), posted(200, '/w/a'), late].map((reply) => sayAt('WorktreeCreate', reply));
  expect(said).toEqual([
    'deny "it answered with a `hookSpecificOutput` whose `hookEventName` is not WorktreeCreate"',
    'deny "it named no path"',
    'deny PROCESS_TIMEOUT',
  ]);
});

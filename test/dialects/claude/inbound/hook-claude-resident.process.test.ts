import { afterAll, expect, test } from 'vitest';
import { endResidents, leftToCommand, throughResident } from '../../inbound/resident.ts';

process.env[throughResident] = 'yes';
await import('./hook-claude.process.test.ts');
afterAll(endResidents);

test('leaves only events to the command that no resident may answer', () => {
  // Four events of a config with mistakes, and the one that its own config runs.
  expect(leftToCommand).toHaveLength(5);
});

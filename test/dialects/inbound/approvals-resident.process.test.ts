import { afterAll, expect, test } from 'vitest';
import { endResidents, leftToCommand, throughResident } from './resident.ts';

process.env[throughResident] = 'yes';
await import('./approvals.process.test.ts');
afterAll(endResidents);

test('leaves only events to the command that no resident may answer', () => {
  // Two events each for a store that is no database, and one that cannot be made.
  expect(leftToCommand).toHaveLength(4);
});

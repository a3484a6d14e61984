import { afterAll, expect, test } from 'vitest';
import { endResidents, leftToCommand, throughResident } from './resident.ts';

process.env[throughResident] = 'yes';
await import('./approvals.process.test.ts');
afterAll(endResidents);

test('leaves only events to the command that no resident may answer', () => {
  expect(leftToCommand).toHaveLength(0);
});

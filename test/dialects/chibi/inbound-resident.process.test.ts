import { afterAll, expect, test } from 'vitest';
import { endResidents, leftToCommand, throughResident } from '../inbound/resident.ts';

process.env[throughResident] = 'yes';
await import('./inbound.process.test.ts');
afterAll(endResidents);

test('leaves only events to the command that no resident may answer', () => {
  // Three requests for the schema.
  expect(leftToCommand).toHaveLength(3);
});

import { expect, test } from 'vitest';
import { linesOf, runGroups } from './group.ts';
import { allGroups } from './groups.ts';

test.each(allGroups.map((group) => ({ group, name: group.name })))(
  '$name: a slice of the cells gives what the rules say',
  async ({ group, name }) => {
    const tally = await runGroups([group], { every: group.every * 3 });
    process.stdout.write(
      `${name}: ${linesOf(tally).at(group.missing === undefined ? -1 - tally.problems.length : -1)}\n`,
    );
    expect(tally.problems).toEqual([]);
    expect(tally.cells > 0 || group.missing !== undefined).toBe(true);
  },
);
